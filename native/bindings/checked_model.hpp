// Tables of models as Python gives them, checked.
#pragma once
#include <algorithm>
#include <string>

#include "check.hpp"

namespace tropalign {

/// Far more than any protein has; tables of this size still count their bytes in 32 bits.
inline constexpr size_t kMostNodes = 1'000'000;

/// Above 1 a probability may be by rounding alone: scores of larger ones leave the range in which the float stages
/// hold.
inline constexpr float kMostProbability = 1.001f;
/// The probability of a residue by chance: ratios to it stay in that range, too.
inline constexpr float kLeastBackground = 1e-6f;

inline void require_probabilities(const float *values, size_t count, const char *name) {
    const bool good = std::all_of(values, values + count, [](float p) { return p >= 0 && p <= kMostProbability; });
    if (!good) refuse(std::string(name) + ": a number that is no probability");
}

inline void require_background(const Column<float> &background) {
    require_probabilities(background.data(), background.size(), "background");
    require(*std::min_element(background.data(), background.data() + background.size()) >= kLeastBackground,
            "background: a residue of less than 0.000001");
}

}  // namespace tropalign
