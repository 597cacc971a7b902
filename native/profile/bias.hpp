// The biased-composition filter: the null score of a target by a model of two states, of which one emits residues as in
// all proteins, the other as in the profile's mean composition. It takes the place of null1 where a target is as
// strange as the profile.
#pragma once
#include "search_model.hpp"
#include "targets.hpp"

namespace tropalign {

/// nats[j]: the null score of targets[j]; NaN for an empty target, which has none.
void bias_scores(const SearchModel &model, const TargetBlock &block, Targets targets, float *nats);

/// The same by one arrangement of lanes (bias_kernels.hpp), by number; for tests.
void bias_scores(const SearchModel &model, const TargetBlock &block, Targets targets, int arrangement, float *nats);
int n_bias_arrangements();

/// The logarithms that bias_scores takes, in place; for tests.
void bias_logarithms(float *values, size_t n);

}  // namespace tropalign
