// Checks of the tables of models.
#pragma once
#include <algorithm>
#include <string>

#include "check.hpp"

namespace tropalign {

/// Far more than any protein has; sizes in bytes of such tables still fit into 32 bits.
inline constexpr size_t kMostNodes = 1'000'000;

/// A probability may exceed 1 only by rounding: scores of larger ones leave the range in which the float stages
/// are valid.
inline constexpr float kMostProbability = 1.001f;
/// The lowest background probability of a residue: ratios to it also stay in that range.
inline constexpr float kLeastBackground = 1e-6f;

inline void require_probabilities(const float *values, size_t count, const char *name) {
    const bool good = std::all_of(values, values + count, [](float p) { return p >= 0 && p <= kMostProbability; });
    if (!good) refuse(std::string(name) + ": a number is not a probability");
}

inline void require_background(const Column<float> &background) {
    require_probabilities(background.data(), background.size(), "background");
    require(*std::min_element(background.data(), background.data() + background.size()) >= kLeastBackground,
            "background: a residue of less than 0.000001");
}

}  // namespace tropalign
