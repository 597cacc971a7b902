// The pair-HMM and the partition function as computed by the kernels.
//
// Pair-HMM (ProbCons; M, two insert states per sequence): every alignment emits every residue once, so posteriors
// do not change if all emissions of a residue are divided by the same number. The number used here is its background
// q times the larger extension e: an insert state emits g = 1 / e, so that a long gap does not become ever less likely
// (numbers stay in range even if lengths differ by hundreds), and a match emits the odds e(a, b) / (q(a) q(b))
// times g^2. With t = t_MM, odds that include t, and insert states in units of d_k g:
//
//     M(i,j)     = odds(x_i, y_j) S(i-1,j-1)
//     X_k(i+1,j) = M(i,j) + e_k g X_k(i,j)        Y_k(i,j+1) = M(i,j) + e_k g Y_k(i,j)
//     S(i,j)     = M(i,j) + sum over k of a_k (X_k + Y_k)(i,j),     a_k = d_k g (1 - e_k) / t
//
// Overhangs (an own model of tropalign) of any length have one weight; with them g is 1, since nothing else
// decays:
//
//     S(i,0), S(0,j) += free / t  for i, j > 0,        total += free (M(m,j) + M(i,n))  for i < m, j < n
//
// Partition function (Probalign), gaps at either end free:
//
//     M(i,j)   = boltzmann(x_i, y_j) S(i-1,j-1)
//     F(i+1,j) = M(i,j) + extend F(i,j)           E(i,j+1) = M(i,j) + extend E(i,j)
//     S(i,j)   = M(i,j) + open (E + F)(i,j),      S(i,0) = S(0,j) = 1
#pragma once
#include <cstdint>

namespace tropalign {

/// Padding; codes are below it.
inline constexpr int kPosteriorPad = 31;

struct PosteriorModel {
    double odds[32][32];       // [code of x][code of y]; 0 for kPosteriorPad
    double extend[2], add[2];  // e_k g, a_k
    double start_match;        // S(0,0)
    double start_insert[2];    // X_k(1,0), Y_k(0,1)
    double end_match;          // total = end_match M(m,n) + sum over k of end_insert_k (X_k + Y_k)(m,n)
    double end_insert[2];
    double start_free,
        end_free;  // of an overhang of either sequence, at either end: added to S, and per M to the total
    double boltzmann[32][32];
    double gap_open, gap_extend;  // weights
    double hmm_share;             // s: P = sqrt(s P_hmm^2 + (1 - s) P_partition^2)
    double growth[32];            // log2 of the largest factor by which a row of this residue multiplies numbers
};

/// Build the model. `transitions`: initial M, X1, X2; open d1, d2; extend e1, e2; the weight of an overhang.
/// `match` and `boltzmann` are [n_letters][n_letters], `gap` the weights of a gap's first and every further
/// residue.
PosteriorModel posterior_model(int n_letters, const double *transitions, const double *match, const double *insert,
                               const double *boltzmann, const double *gap, double hmm_share);

}  // namespace tropalign
