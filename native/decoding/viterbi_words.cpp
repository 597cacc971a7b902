#include "viterbi_words.hpp"

#include <algorithm>

namespace tropalign {
namespace {

/// Bytes of `from`, which should stay in the second cache.
constexpr int64_t kMostBytes = 512 << 10;
/// Return the steps per word from which a table pays. Making a word takes (1.3 + .055 l) l^2 ns; a step of .033
/// l^2 ns is reduced to 1/2, 1/3 or 1/4 of it, so that each longer word saves less than the one before (measured
/// on Zen 5).
int64_t worth(int length, int64_t stride) { return (length == 2 ? 3 : length == 3 ? 10 : 20) * (24 + stride); }

int64_t power(int64_t n, int k) { return k ? n * power(n, k - 1) : 1; }

}  // namespace

Words::Words(int64_t n, int32_t width) : n_words(n), stride(width) {
    const int64_t size = n_words * stride * stride;
    from = Buffer<double>(size), into = Buffer<double>(size), inner = Buffer<uint16_t>(size);
}

Words words_of_symbols(const ViterbiModel &model, int64_t n_symbols) {
    Words symbols(n_symbols, model.stride);
    const int64_t stride = model.stride;
    for (int64_t x = 0; x < n_symbols; ++x)
        for (int64_t r = 0; r < stride; ++r)
            for (int64_t s = 0; s < stride; ++s) {
                const int64_t at = (x * stride + r) * stride + s, turned = (x * stride + s) * stride + r;
                symbols.from[at] = model.from[r * stride + s] + model.emission[x * stride + s];
                symbols.into[turned] = symbols.from[at];
                symbols.inner[at] = 0;
            }
    return symbols;
}

int word_length(const ViterbiModel &model, int64_t n_symbols, int64_t n_steps, int32_t most_states) {
    if (model.largest > kMostOfWords || model.stride > std::min(most_states, kMostStatesOfWords) || !n_symbols)
        return 1;
    for (const int length : {4, 3, 2}) {
        if (length > 2 && model.n_states > 1 << kInnerBits) continue;
        const int64_t n_words = power(n_symbols, length);
        const bool is_small = n_words * model.stride * model.stride * 8 <= kMostBytes;
        if (is_small && n_steps >= worth(length, model.stride) * n_words) return length;
    }
    return 1;
}

}  // namespace tropalign
