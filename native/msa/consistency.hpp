// Stage III: a pair's posteriors made consistent with what third sequences say of it (Do et al. 2005; with weights Liu,
// Schmidt and Maskell 2010, formula 2 of Gudys and Deorowicz 2014; Gudys and Deorowicz 2017).
//
//     S'xy = (Wxy Sxy + sum over z of vz Sxz Szy) / (Wxy + sum over z of vz),   Wxy = (wx + wy) (1 + gain a)
//
// with the a sequences of the pair's group that have posteriors with both. They are the z and v = w; or some stand for
// all, with weights v of their own. MSAProbs and QuickProbs 1 have no gain.
#pragma once
#include <functional>
#include <vector>

#include "../compute/poll.hpp"
#include "store.hpp"

namespace tropalign {

struct ConsistencyRule {
    const double *weights;  // [n_sequences]
    const int32_t *groups;  // [n_sequences]: a pair takes the z of its own group; a pair of two groups stays as it is
    double gain;            // of the pair's own weight, per sequence between
    uint16_t least;         // elements that become less go
    const double *third_weights;  // [n_sequences]: v, 0 of those that are not taken; null: w of all
};

/// One pass over all pairs. Polled with the pairs begun, of all (about). Returns false, and leaves the store as it was,
/// when stopped.
bool relax(PosteriorStore &store, const ConsistencyRule &rule, int n_threads, const Poll &poll);

/// What another device is asked for: sums over z of wz Sxz Szy at elements of some pairs, in integers (the weights'
/// highest is 2048): of each product ((wz Sxz + 2^14) >> 15) Szy, of `at_once` members after each other shifted right.
struct ProductRequest {
    const std::vector<int32_t> &members, &weights;  // the z, of one group; of all sequences
    size_t at_once;
    int shift;
    std::vector<int32_t> pairs, sizes;  // [pairs][2]; elements of each
    std::vector<uint16_t> places;       // [elements][2]: row and column
};
/// The sums, one per element.
using ProductSource = std::function<std::vector<int32_t>(const ProductRequest &)>;

/// Makes the pass with products from elsewhere, and the same result. What `products` throws leaves the store as it was.
bool relax_by(PosteriorStore &store, const ConsistencyRule &rule, int n_threads, const ProductSource &products,
              const Poll &poll);

}  // namespace tropalign
