// HMMER's Viterbi filter: the best path of a target through a model, in 16-bit scores.
//
// With xB the score of beginning a domain at a residue, all sums saturating,
//
//     M(k) = max(xB + BM(k), M'(k-1) + MM(k), I'(k-1) + IM(k), D'(k-1) + DM(k)) + match(x, k)     ' the residue before
//     I(k) = max(M'(k) + MI(k), I'(k) + II(k))
//     D(k) = max(M(k-1) + MD(k-1), D(k-1) + DD(k-1))
//     xE = max over k of M(k);  xC = max(xC', xE - 1 bit);  xB = max(xC, base) + move
//
// J, from where a target begins another domain, has the scores of C, since both cost E a bit and nothing per residue
// (those of N are `base`). HMMER leaves D -> D out where it cannot matter, which changes no score.
#pragma once
#include "search_model.hpp"
#include "targets.hpp"

namespace tropalign {

/// nats[j]: the score of targets[j]. Infinity where it is beyond 16 bits, minus infinity for an empty target.
void viterbi_scores(const SearchModel &model, const TargetBlock &block, Targets targets, float *nats);

}  // namespace tropalign
