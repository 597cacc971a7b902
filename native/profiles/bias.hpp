// The biased-composition filter: the null score of a target by a model of two states. One emits residues as in all
// proteins, the other as in the profile's mean composition. It replaces null1 for targets whose composition is biased
// like the profile's.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "search_model.hpp"
#include "targets.hpp"

namespace tropalign {

/// Write the null score of targets[j] to nats[j]; NaN for an empty target.
void bias_scores(const SearchModel &model, const TargetBlock &block, Targets targets, float *nats);

/// Score with the given arrangement of lanes; for tests.
void bias_scores(const SearchModel &model, const TargetBlock &block, Targets targets, int arrangement, float *nats);
int n_bias_arrangements();

/// Compute the logarithms that bias_scores uses, in place; for tests.
void bias_logarithms(float *values, size_t n);

// The biased-composition filter in the kernels: the forward algorithm of two states, background b and foreground
// f, a lane per target.
//
//     b = b' stay + f' to_background
//     f = (b' leave + f' stay_foreground) odds(residue)
//     highest = max(b, f);  b, f divided by it;  nats += log(highest)
//
// Each target's sums, products and quotients are HMMER's, in its order. So is the logarithm, which is computed in
// double precision and rounded to float, for every residue.

/// Initial values at the start of a target: HMMER's probabilities of the two states.
inline constexpr float kFirstBackground = 0.999F, kFirstForeground = 0.001F;

struct BiasModel {
    const float *odds;  ///< By code: of the foreground to the background.
    float to_background, stay_foreground;
};

struct BiasTarget {
    const uint8_t *codes;
    int32_t length;     ///< 1 or more.
    float stay, leave;  ///< Transitions of the background; its mean length is the target's.
    float nats, end;    ///< Results: the sum of logarithms, and b + f after the last residue.
};

struct BiasArrangement {
    int n_slots;  ///< Targets side by side.
    void (*sweep)(const BiasModel &model, std::span<BiasTarget> targets);
};

struct BiasKernels {
    const char *isa;
    BiasArrangement few, many;  ///< For few targets, and for many.
    /// Replace each value by (float)log((double)value); values are positive normal floats.
    void (*logarithms)(float *values, size_t n);
};

/// Return the table of the chosen instruction set.
const BiasKernels *selected_bias_kernels();

}  // namespace tropalign
