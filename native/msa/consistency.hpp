// Stage III: a pair's posteriors made consistent with those of third sequences (Do et al. 2005; with weights Liu,
// Schmidt and Maskell 2010, formula 2 of Gudys and Deorowicz 2014; Gudys and Deorowicz 2017).
//
//     S'xy = (Wxy Sxy + sum over z of vz Sxz Szy) / (Wxy + sum over z of vz),   Wxy = (wx + wy) (1 + gain a)
//
// with the a sequences of the pair's group that have posteriors with both. Either all of them are the z, and v = w; or
// some of them represent all, with weights v of their own. MSAProbs and QuickProbs 1 have no gain.
#pragma once
#include <functional>
#include <vector>

#include "../compute/poll.hpp"
#include "store.hpp"

namespace tropalign {

struct ConsistencyRule {
    const double *weights;  // [n_sequences]
    const int32_t *groups;  // [n_sequences]: a pair uses the z of its own group; a pair of two groups stays unchanged
    double gain;            // of the pair's own weight, per third sequence
    uint16_t least;         // elements that become smaller are dropped
    const double *third_weights;  // [n_sequences]: v, 0 for sequences that are not used; null: w of all
};

/// Run one pass over all pairs. poll receives the approximate number of started pairs. Returns false, and leaves
/// the store unchanged, if stopped.
bool relax(PosteriorStore &store, const ConsistencyRule &rule, int n_threads, const Poll &poll);

/// Request to another device: sums over z of wz Sxz Szy at elements of some pairs, in integers (the highest weight
/// is 2048): each product is ((wz Sxz + 2^14) >> 15) Szy, and the sum of each `at_once` consecutive members is
/// shifted right.
struct ProductRequest {
    const std::vector<int32_t> &members, &weights;  // the z, of one group; of all sequences
    size_t at_once;
    int shift;
    std::vector<int32_t> pairs, sizes;  // [pairs][2]; elements of each
    std::vector<uint16_t> places;       // [elements][2]: row and column
};
/// Computes the sums, one per element.
using ProductSource = std::function<std::vector<int32_t>(const ProductRequest &)>;

/// Run the pass with products from elsewhere, with the same result. If `products` throws, the store stays
/// unchanged.
bool relax_by(PosteriorStore &store, const ConsistencyRule &rule, int n_threads, const ProductSource &products,
              const Poll &poll);

}  // namespace tropalign
