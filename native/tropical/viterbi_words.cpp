#include "viterbi_words.hpp"

#include <algorithm>
#include <limits>

namespace tropalign {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();
/// Bytes of `from`, which is to stay in the second cache.
constexpr int64_t kMostBytes = 512 << 10;
/// A table is worth its making from so many steps on that each of its products is used so often.
constexpr int64_t kWorth = 8;

/// Matrices of words of one length.
struct Words {
    int32_t n_states, stride;
    double *from;
    uint16_t *inner;  // [word][from][to] here

    double *matrix(int64_t word) const { return from + word * stride * stride; }
    uint16_t *states(int64_t word) const { return inner + word * stride * stride; }
};

/// The word of a and b: the maximum over the state t between them. Of equal ones that with the lowest states from the
/// end on: those within b, then t, then those within a.
void multiply(const Words &half, int64_t a, int64_t b, int bits, const Words &words, int64_t word) {
    const int64_t l = words.n_states, stride = words.stride;
    for (int64_t r = 0; r < l; ++r) {
        double *best = words.matrix(word) + r * stride;
        uint16_t *inner = words.states(word) + r * stride;
        for (int64_t t = 0; t < l; ++t) {
            const double first = half.matrix(a)[r * stride + t];
            const double *second = half.matrix(b) + t * stride;
            const auto low = static_cast<uint32_t>(half.states(a)[r * stride + t]);
            const uint16_t *high = half.states(b) + t * stride;
            for (int64_t s = 0; s < l; ++s) {
                const double sum = first + second[s];
                const auto states = static_cast<uint16_t>(uint32_t{high[s]} << 2 * bits | t << bits | low);
                const bool is_better = sum > best[s] || (sum == best[s] && states < inner[s]);
                best[s] = is_better ? sum : best[s];
                inner[s] = is_better ? states : inner[s];
            }
        }
    }
}

int64_t power(int64_t n, int k) { return k ? n * power(n, k - 1) : 1; }

}  // namespace

WordModel::WordModel(const ViterbiModel &model, int word_length)
    : length(word_length), n_symbols(model.n_symbols), stride(model.stride) {
    const int64_t square = int64_t{stride} * stride;
    Buffer<double> halves[2];
    Buffer<uint16_t> states[2];
    Words symbols{}, words{};
    int kind = 0;
    auto make = [&](int64_t n_words) {
        halves[kind] = Buffer<double>(n_words * square);
        states[kind] = Buffer<uint16_t>(n_words * square);
        std::fill(halves[kind].data(), halves[kind].data() + n_words * square, kNever);
        std::fill(states[kind].data(), states[kind].data() + n_words * square, uint16_t{0});
        const Words made{model.n_states, stride, halves[kind].data(), states[kind].data()};
        kind = 1 - kind;
        return made;
    };
    words = make(n_symbols);
    for (int64_t x = 0; x < n_symbols; ++x)
        for (int64_t r = 0; r < model.n_states; ++r)
            for (int64_t s = 0; s < model.n_states; ++s)  // up to 64 states are one block
                words.matrix(x)[r * stride + s] = model.from[r * stride + s] + model.emission[x * stride + s];
    for (int of = 2; of <= length; of *= 2) {
        const int64_t n_halves = power(n_symbols, of / 2);
        const int bits = of == 2 ? 0 : kInnerBits;
        symbols = words;
        words = make(n_halves * n_halves);
        for (int64_t a = 0; a < n_halves; ++a)
            for (int64_t b = 0; b < n_halves; ++b) multiply(symbols, a, b, bits, words, a * n_halves + b);
    }
    const int64_t n_words = power(n_symbols, length);
    from_ = std::move(halves[1 - kind]);
    into_ = Buffer<double>(n_words * square);
    inner_ = Buffer<uint16_t>(n_words * square);
    for (int64_t word = 0; word < n_words; ++word)
        for (int64_t r = 0; r < stride; ++r)
            for (int64_t s = 0; s < stride; ++s) {
                into_[word * square + s * stride + r] = words.matrix(word)[r * stride + s];
                inner_[word * square + s * stride + r] = words.states(word)[r * stride + s];
            }
    from = from_.data(), into = into_.data(), inner = inner_.data();
}

int word_length(const ViterbiModel &model, int64_t n_steps, int32_t most_states) {
    if (model.largest > kMostOfWords || model.stride > std::min(most_states, kStateBlock) || !model.n_symbols) return 1;
    for (const int length : {4, 2}) {
        if (length == 4 && model.n_states > 1 << kInnerBits) continue;
        const int64_t n_words = power(model.n_symbols, length);
        if (n_words * model.stride * model.stride * 8 > kMostBytes) continue;
        if (n_steps >= kWorth * n_words * model.stride) return length;
    }
    return 1;
}

}  // namespace tropalign
