// tantan (Frith 2011): how likely each letter is to be in a tandem repeat, by a hidden Markov model.
//
// Beside the background there is a state per period k, in which a letter is a copy of the one k before it:
//
//     background --repeat * share of k--> state k --end--> background
//
// A state's letter weighs as much more than the background's as a copy is likelier than the letter by itself.
#pragma once
#include <array>
#include <string>

#include "intervals.hpp"

namespace tropalign {

constexpr int kTantanCodes = 32, kMostPeriod = 1 << 10;
/// Sums over periods go by so many lanes, on every processor.
constexpr int kTantanLanes = 8;

struct TantanRule {
    const double *ratios;  ///< 32 x 32: of a letter (row) as a copy of another (column)
    int periods;           ///< the longest one, the width of the model
    double repeat, end;    ///< the chance of a repeat to begin and to end, per letter
    double decay;          ///< of the share of a period to that of the one before
    double least;          ///< the chance at which a letter is masked
};

/// The model of a rule as kernels take it. Periods lie from the longest to 1, filled to whole lanes in front:
///
///     letters   . . . a b c d e f g|x      the letter x may be a copy of one of those before it
///     states    [- - k=6 . . . k=1]
struct TantanModel {
    explicit TantanModel(const TantanRule &rule);

    TantanRule rule;
    int width;                   ///< states, the fillers among them
    std::vector<double> starts;  ///< the chance to go from the background to each state; shape (width,)
};

/// Chances of the letters of a sequence to be in a repeat. `before` letters before the first one, as many as states,
/// are no letters: their code is one whose ratios are 0.
struct TantanKernels {
    const char *isa;
    void (*chances)(const TantanModel &model, const uint8_t *codes, int64_t n, double *chances);
};

/// Parts of a sequence of codes (below 31) that are masked.
Intervals tantan(const TantanModel &model, const uint8_t *codes, int64_t n);

}  // namespace tropalign
