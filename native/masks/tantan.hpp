// tantan (Frith 2011): the probability of each residue to be in a tandem repeat, by a hidden Markov model.
//
// Besides the background there is a state per period k, in which a residue is a copy of the one k before it:
//
//     background --repeat * share of k--> state k --end--> background
//
// The weight of a state's residue relative to the background's is the ratio of the probability of a copy to that
// of the residue alone.
#pragma once
#include <array>
#include <string>

#include "intervals.hpp"

namespace tropalign {

constexpr int kTantanCodes = 32, kMostPeriod = 1 << 10;
/// Sums over periods use this many lanes, on every processor.
constexpr int kTantanLanes = 8;

struct TantanRule {
    const double *ratios;  ///< 32 x 32: of a residue (row) as a copy of another one (column)
    int periods;           ///< the longest one, the width of the model
    double repeat, end;    ///< probabilities that a repeat starts and that it ends, per residue
    double decay;          ///< ratio of a period's share to that of the previous period
    double least;          ///< minimum probability of a masked residue
};

/// The model of a rule in the form for the kernels. Periods are ordered from the longest to 1, padded to whole
/// lanes in front:
///
///     residues  . . . a b c d e f g|x      the residue x may be a copy of an earlier one
///     states    [- - k=6 . . . k=1]
struct TantanModel {
    explicit TantanModel(const TantanRule &rule);

    TantanRule rule;
    int width;                   ///< number of states, including padding
    std::vector<double> starts;  ///< probability of a step from the background to each state; shape (width,)
};

/// Writes probabilities of the residues of a sequence to be in a repeat. `width` codes before the first one are
/// padding: their code is one whose ratios are 0.
struct TantanKernels {
    const char *isa;
    void (*chances)(const TantanModel &model, const uint8_t *codes, int64_t n, double *chances);
};

/// Return the masked parts of a sequence of codes (below 31).
Intervals tantan(const TantanModel &model, const uint8_t *codes, int64_t n);

}  // namespace tropalign
