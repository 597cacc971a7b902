// Products of Boolean matrices: rows of b are packed, one bit per number, so that a row of c is computed as a union of
// 64 numbers at a time.
#include <algorithm>
#include <vector>

#include "../compute/parallel.hpp"
#include "product.hpp"

namespace tropalign {
namespace {

using BitWords = std::vector<uint64_t>;

int64_t words_of(int64_t n) { return (n + 63) / 64; }

void pack(const bool *row, int64_t n, uint64_t *words) {
    for (int64_t j = 0; j < n; j += 64) {
        uint64_t word = 0;
        for (int64_t bit = 0; bit < std::min<int64_t>(64, n - j); ++bit) word |= uint64_t{row[j + bit]} << bit;
        words[j / 64] = word;
    }
}

void multiply_row(const bool *a, const BitWords &b, int64_t n, int64_t k, uint64_t *words, bool *c) {
    const int64_t n_words = words_of(n);
    std::fill_n(words, n_words, 0);
    for (int64_t l = 0; l < k; ++l)
        if (a[l])
            for (int64_t w = 0; w < n_words; ++w) words[w] |= b[static_cast<size_t>(l * n_words + w)];
    for (int64_t j = 0; j < n; ++j) c[j] = words[j / 64] >> (j % 64) & 1;
}

}  // namespace

bool multiply_truths(const TruthProducts &p, int n_threads, const Poll &poll) {
    constexpr int64_t kRows = 64;
    const int64_t n_words = words_of(p.n), n_blocks = (p.m + kRows - 1) / kRows;
    BitWords packed(static_cast<size_t>(p.k * n_words));
    const bool *packed_of = nullptr;
    for (int64_t product = 0; product < p.n_products; ++product) {
        const bool *a = p.a + product * p.a_stride, *b = p.b + product * p.b_stride;
        bool *c = p.c + product * p.m * p.n;
        if (b != packed_of)
            for (int64_t l = 0; l < p.k; ++l) pack(b + l * p.n, p.n, packed.data() + l * n_words);
        packed_of = b;
        auto rows = [&](int, int64_t block) {
            BitWords words(static_cast<size_t>(n_words));
            for (int64_t i = block * kRows; i < std::min(p.m, (block + 1) * kRows); ++i)
                multiply_row(a + i * p.k, packed, p.n, p.k, words.data(), c + i * p.n);
        };
        if (static_cast<double>(p.m) * static_cast<double>(p.k) * static_cast<double>(n_words) < 1e6) {
            for (int64_t block = 0; block < n_blocks; ++block) rows(0, block);
            if (product % 1024 == 1023 && !poll(product)) return false;
        } else if (!parallel(n_threads, n_blocks, 1, rows, [&](int64_t) { return poll(product); })) {
            return false;
        }
    }
    return true;
}

}  // namespace tropalign
