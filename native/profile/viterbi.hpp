// HMMER's Viterbi filter: the best path of a target through a model, in 16-bit scores.
//
// With xB the score of beginning a domain at a residue x, all sums saturating, and ' for the row before,
//
//     M(k) = max(xB + BM(k), M'(k-1) + MM(k), I'(k-1) + IM(k), D'(k-1) + DM(k)) + match(x, k)
//     I(k) = max(M'(k) + MI(k), I'(k) + II(k))
//     D(k) = max(M(k-1) + MD(k-1), D(k-1) + DD(k-1))
//     xE = max over k of M(k),    xC = max(xC', xE - 1 bit),    xB of the next row = max(xC, base) + move
//
// J, from where a target begins another domain, has the scores of C: E loses a bit to both, and neither loses any per
// residue. HMMER leaves D -> D out of rows where it cannot change the score; here it is never left out.
#pragma once
#include "search_model.hpp"
#include "targets.hpp"

namespace tropalign {

/// nats[j]: the score of targets[j]. Infinity where it is beyond 16 bits, minus infinity for an empty target.
void viterbi_scores(const SearchModel &model, const TargetBlock &block, Targets targets, float *nats);

/// viterbi_scores by one arrangement of lanes (viterbi_kernels.hpp), by number; for tests.
void viterbi_scores(const SearchModel &model, const TargetBlock &block, Targets targets, int arrangement, float *nats);
int n_viterbi_arrangements();

/// The score of a target of length L whose highest M of all rows is this; 32767: beyond 16 bits.
float viterbi_nats(int32_t highest_M, int32_t L);

}  // namespace tropalign
