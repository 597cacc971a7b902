// Local scores of pairs with the matrix adjusted to the composition of both sequences (Yu and Altschul 2005).
//
// A matrix of lambda s_ij nats belongs to pairs of related residues with frequencies b_i b_j exp(lambda s_ij). For
// other compositions P and Q of the two sequences we want the frequencies x_ij that are closest to these (minimal
// sum x ln(x / (b_i b_j exp(lambda s_ij)))), have the row sums P and the column sums Q, and keep the information
// per pair of residues: sum x ln(x / (P_i Q_j)) = entropy. By Lagrange's multipliers
//
//     x_ij = u_i v_j exp(gamma lambda s_ij)
//     score_ij = ln(x_ij / (P_i Q_j)) / lambda = gamma s_ij + ln(u_i / P_i) / lambda + ln(v_j / Q_j) / lambda
//
// so that the matrix is scaled by gamma, and each residue of either sequence gets an additive term. For a given
// gamma, u and v follow from the sums by alternating updates (Sinkhorn and Knopp 1967); gamma follows by the rule
// of false position, since the entropy grows with it.
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "tile.hpp"

namespace tropalign {

/// Codes of the residues of random sequences, and the share of each.
struct AverageResidues {
    std::vector<uint8_t> codes;
    std::vector<double> shares;
};

/// Parameters of the adjustment.
struct Adjustment {
    const int32_t *matrix;  // kLetters x kLetters, [query's residue][target's residue]
    int32_t open, extend;
    double lambda;        // nats per unit of score
    double entropy;       // nats per pair of residues
    double pseudocounts;  // residues of average composition added to each sequence
    int32_t parts;        // adjusted scores are integers in units of 1 / parts
};

/// Limit of an adjusted score: this multiple of the matrix's largest absolute value.
inline constexpr int32_t kMostStretch = 4;

struct AdjustedScores {
    std::vector<int32_t> score;        // in parts of a unit
    std::vector<uint8_t> is_adjusted;  // 0: no matrix has this entropy for the compositions; the score is 0
    bool finished = true;
};

/// Compute the scores; depth and indices come from the request; poll(started pairs) returns false to stop.
AdjustedScores adjusted_scores(const Kernels &, const AverageResidues &, const Adjustment &, const TileRequest &,
                               const Poll &poll);

struct AdjustedMatrices {
    std::vector<int32_t> matrix;  // kLetters x kLetters per pair, [query residue][target residue], in parts of a unit
    std::vector<uint8_t> is_adjusted;
};

/// Compute the matrices themselves, for a few pairs.
AdjustedMatrices adjusted_matrices(const AverageResidues &, const Adjustment &, const TileRequest &);

}  // namespace tropalign
