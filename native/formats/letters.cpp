#include "letters.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

namespace tropalign {
namespace {

constexpr uint8_t kUnknown = 255;
constexpr int64_t kPiece = 4096;

}  // namespace

std::array<int64_t, 256> count_bytes(const uint8_t *letters, int64_t n) {
    // Equal residues occur in runs: in a single table each addition would wait for the one before.
    constexpr int kTables = 4;
    constexpr int64_t kMost = int64_t{1} << 30;  // as many bytes as 32 bits can count
    std::array<int64_t, 256> counts{};
    for (int64_t begin = 0; begin < n; begin += kMost) {
        std::array<std::array<uint32_t, 256>, kTables> found{};
        const int64_t end = std::min(n, begin + kMost);
        int64_t k = begin;
        for (; k + 8 <= end; k += 8) {
            uint64_t word;
            std::memcpy(&word, letters + k, 8);
            for (int b = 0; b < 8; ++b) ++found[b % kTables][(word >> (8 * b)) & 255];
        }
        for (; k < end; ++k) ++found[0][letters[k]];
        for (const auto &table : found)
            for (int b = 0; b < 256; ++b) counts[b] += table[b];
    }
    return counts;
}

PlainText check_plain(const uint8_t *text, int64_t n) {
    PlainText found{0, -1};
    for (int64_t begin = 0; begin < n; begin += kPiece) {
        const int64_t end = std::min(n, begin + kPiece);
        uint8_t bad = 0;
        int32_t n_lines = 0;
        for (int64_t k = begin; k < end; ++k) {
            bad |= static_cast<uint8_t>((text[k] - 1) & 255) >= 127;
            n_lines += text[k] == '\n';
        }
        if (bad) {
            auto is_bad = [](uint8_t byte) { return byte == 0 || byte >= 128; };
            found.first_bad = std::find_if(text + begin, text + end, is_bad) - text;
            found.n_lines += std::count(text + begin, text + found.first_bad, '\n');
            return found;
        }
        found.n_lines += n_lines;
    }
    return found;
}

Unknown encode_letters(const uint8_t *letters, int64_t n, const uint8_t *table, uint8_t wildcard, uint8_t *codes) {
    Unknown found;
    for (int64_t begin = 0; begin < n; begin += kPiece) {
        const int64_t end = std::min(n, begin + kPiece);
        for (int64_t k = begin; k < end; ++k) codes[k] = table[letters[k]];
        if (!std::memchr(codes + begin, kUnknown, static_cast<size_t>(end - begin))) continue;
        for (int64_t k = begin; k < end; ++k) {
            if (codes[k] != kUnknown) continue;
            codes[k] = wildcard;
            if (found.count++ == 0) found.first = k;
        }
    }
    return found;
}

namespace {

uint64_t hash_of(const uint8_t *text, int64_t n) {
    // Eight bytes at a time: combined with the hash and mixed by a product whose halves are both used.
    constexpr uint64_t kOdd = 0x9e3779b97f4a7c15u;
    uint64_t hash = static_cast<uint64_t>(n) * kOdd;
    for (; n > 0; text += 8, n -= 8) {
        uint64_t word = 0;
        std::memcpy(&word, text, static_cast<size_t>(std::min<int64_t>(n, 8)));
        const auto product = static_cast<unsigned __int128>(hash ^ word) * kOdd;
        hash = static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
    }
    return hash ^ (hash >> 29);
}

}  // namespace

Repeated find_repeated(const uint8_t *data, const int64_t *offsets, int64_t n) {
    // A hash table with at least twice as many slots as texts. A slot holds a text's number, from 1, and the upper
    // bits of its hash, so that another text is compared only if these are equal:   | 24 bits of the hash | 40
    // bits: number |
    constexpr int kNumberBits = 40, kTogether = 32;
    constexpr uint64_t kNumbers = (uint64_t{1} << kNumberBits) - 1;
    uint64_t size = 16;
    while (size < 2 * static_cast<uint64_t>(n)) size *= 2;
    std::vector<uint64_t> places(size, 0);
    auto length = [&](int64_t k) { return offsets[k + 1] - offsets[k]; };
    for (int64_t begin = 0; begin < n; begin += kTogether) {
        // Memory is prefetched some texts ahead of its use.
        const int64_t end = std::min(n, begin + kTogether);
        std::array<uint64_t, kTogether> hashes;
        for (int64_t k = begin; k < end; ++k) {
            hashes[k - begin] = hash_of(data + offsets[k], length(k));
            __builtin_prefetch(&places[hashes[k - begin] & (size - 1)], 1);
        }
        for (int64_t k = begin; k < end; ++k) {
            const uint64_t hash = hashes[k - begin], mark = hash & ~kNumbers;
            uint64_t at = hash & (size - 1);
            for (; places[at]; at = (at + 1) & (size - 1)) {
                if ((places[at] & ~kNumbers) != mark) continue;
                const auto other = static_cast<int64_t>(places[at] & kNumbers) - 1;
                if (length(other) == length(k) &&
                    std::memcmp(data + offsets[other], data + offsets[k], static_cast<size_t>(length(k))) == 0)
                    return {other, k};
            }
            places[at] = mark | static_cast<uint64_t>(k + 1);
        }
    }
    return {};
}

}  // namespace tropalign
