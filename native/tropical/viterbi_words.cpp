#include "viterbi_words.hpp"

#include <algorithm>

namespace tropalign {
namespace {

/// Bytes of `from`, which is to stay in the second cache.
constexpr int64_t kMostBytes = 512 << 10;
/// A table is worth its making from this many steps per word on.
constexpr int64_t kWorth = 256;

int64_t power(int64_t n, int k) { return k ? n * power(n, k - 1) : 1; }

}  // namespace

Words::Words(int64_t n, int32_t width) : n_words(n), stride(width) {
    const int64_t size = n_words * stride * stride;
    from = Buffer<double>(size), into = Buffer<double>(size), inner = Buffer<uint16_t>(size);
}

Words words_of_symbols(const ViterbiModel &model) {
    Words symbols(model.n_symbols, model.stride);
    const int64_t stride = model.stride;
    for (int64_t x = 0; x < model.n_symbols; ++x)
        for (int64_t r = 0; r < stride; ++r)
            for (int64_t s = 0; s < stride; ++s) {
                const int64_t at = (x * stride + r) * stride + s, turned = (x * stride + s) * stride + r;
                symbols.from[at] = model.from[r * stride + s] + model.emission[x * stride + s];
                symbols.into[turned] = symbols.from[at];
                symbols.inner[at] = 0;
            }
    return symbols;
}

int word_length(const ViterbiModel &model, int64_t n_steps, int32_t most_states) {
    if (model.largest > kMostOfWords || model.stride > std::min(most_states, kStateBlock) || !model.n_symbols) return 1;
    for (const int length : {4, 2}) {
        if (length == 4 && model.n_states > 1 << kInnerBits) continue;
        const int64_t n_words = power(model.n_symbols, length);
        const bool is_small = n_words * model.stride * model.stride * 8 <= kMostBytes;
        if (is_small && n_steps >= kWorth * n_words) return length;
    }
    return 1;
}

}  // namespace tropalign
