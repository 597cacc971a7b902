// Products of truth values: whether any k is true in both.
#pragma once
#include <cstdint>

#include "../compute/poll.hpp"

namespace tropalign {

/// c[p] = a[p] and b[p] for n_products matrices that lie one behind the other; a stride of 0 takes the same for all.
struct TruthProducts {
    const bool *a, *b;
    int64_t a_stride, b_stride;
    bool *c;
    int64_t n_products, m, n, k;
};

/// Returns false when `poll` stopped it.
bool multiply_truths(const TruthProducts &products, int n_threads, const Poll &poll);

}  // namespace tropalign
