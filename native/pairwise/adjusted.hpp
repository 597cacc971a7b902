// Local scores of pairs by the matrix that is right for the composition of both sequences (Yu and Altschul 2005).
//
// A matrix of lambda s_ij nats belongs to pairs of related residues whose frequencies are b_i b_j exp(lambda s_ij).
// With other compositions P and Q of the two sequences the frequencies x_ij are wanted that are as near to these as can
// be (the least sum x ln(x / (b_i b_j exp(lambda s_ij)))) and have the sums P of rows and Q of columns, and that say as
// much about a pair of residues: sum x ln(x / (P_i Q_j)) = entropy. By Lagrange's multipliers
//
//     x_ij = u_i v_j exp(gamma lambda s_ij)
//     score_ij = ln(x_ij / (P_i Q_j)) / lambda = gamma s_ij + ln(u_i / P_i) / lambda + ln(v_j / Q_j) / lambda
//
// so that the matrix is stretched, and each residue of either sequence gains or loses a number of its own. For a given
// gamma u and v follow from the sums by turns (Sinkhorn and Knopp 1967); gamma by the rule of false position, since the
// entropy grows with it.
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "tile.hpp"

namespace tropalign {

/// AverageResidues of random sequences: their codes, and the share of each.
struct AverageResidues {
    std::vector<uint8_t> codes;
    std::vector<double> shares;
};

/// How matrices are adjusted.
struct Adjustment {
    const int32_t *matrix;  // kLetters x kLetters, [query's letter][target's letter]
    int32_t open, extend;
    double lambda;        // nats per unit of score
    double entropy;       // nats per pair of residues
    double pseudocounts;  // residues of average composition that are added to each sequence
    int32_t parts;        // adjusted scores are whole numbers of so many parts of a unit
};

/// No adjusted score is further from 0 than so many times the furthest of the matrix.
inline constexpr int32_t kMostStretch = 4;

struct AdjustedScores {
    std::vector<int32_t> score;        // in parts of a unit
    std::vector<uint8_t> is_adjusted;  // 0: compositions too poor for such an entropy; the score is 0
    bool finished = true;
};

/// Depth and indices are the request's; poll(pairs begun) returns false to stop.
AdjustedScores adjusted_scores(const Kernels &, const AverageResidues &, const Adjustment &, const TileRequest &,
                               const Poll &poll);

struct AdjustedMatrices {
    std::vector<int32_t> matrix;  // per pair kLetters x kLetters, [query's letter][target's letter], in parts of a unit
    std::vector<uint8_t> is_adjusted;
};

/// The matrices themselves, of a few pairs.
AdjustedMatrices adjusted_matrices(const AverageResidues &, const Adjustment &, const TileRequest &);

}  // namespace tropalign
