// K-mers that two sequences have in common, and chains of them (Wilbur and Lipman 1983), with lanes along the
// diagonals.
//
// A chain that ends with the k-mer at the residues (i, j), counted by the k-mers' last residues, has the score
//
//     S(i, j) = max(D + min(k, i - i'),  k + max(0, B(i - k, j - k) - gap))
//
// where k is the length of a k-mer, D the score of the last chain on the same diagonal, which ends in row i', and
// B(i, j) the best of all chains that end in rows up to i and columns up to j. B is stored as a line along the
// reversed second sequence. Its values never increase along that line, so a better chain changes one run of them,
// which ends where the chain ends.
#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>

#include "../simd/bytes.hpp"
#include "words.hpp"

namespace tropalign::TROPALIGN_ISA {
namespace {

using Bytes = Vec<uint8_t, kVectorBytes>;

/// Rows of the diagonals [begin, end), clipped.
struct Rows {
    int32_t begin, end;
};
inline Rows rows_of(const WordPair &pair, DiagonalRange diagonals) {
    return {std::max(0, diagonals.begin - (pair.n_b - 1)), std::min(pair.n_a, diagonals.end)};
}

void count(const WordPair &pair, int32_t length, WordScratch &scratch) {
    constexpr int32_t kBlock = 2 * kVectorBytes, kMost = 255;  // kMost: rows until a lane may be full
    const int32_t n_diagonals = pair.n_diagonals();
    const size_t size = static_cast<size_t>(n_diagonals) + kBlock;
    if (scratch.counts.size() < size) scratch.counts.resize(size + size / 4);
    for (int32_t d = 0; d < n_diagonals; d += kBlock) {
        const Rows rows = rows_of(pair, {d, d + kBlock});
        int32_t *counts = scratch.counts.data() + d;
        std::fill_n(counts, kBlock, 0);
        Bytes run0{}, run1{};
        const Bytes one = splat<uint8_t, kVectorBytes>(1),
                    k = splat<uint8_t, kVectorBytes>(static_cast<uint8_t>(length));
        for (int32_t begin = rows.begin; begin < rows.end; begin += kMost) {
            const int32_t end = std::min(begin + kMost, rows.end);
            Bytes count0{}, count1{};
            if (length == 1) {
                for (int32_t i = begin; i < end; ++i) {
                    const Bytes letter = splat<uint8_t, kVectorBytes>(pair.a[i]);
                    const uint8_t *letters = pair.reversed + d - i;
                    count0 = plus_equal<kVectorBytes>(count0, load<uint8_t, kVectorBytes>(letters), letter);
                    count1 =
                        plus_equal<kVectorBytes>(count1, load<uint8_t, kVectorBytes>(letters + kVectorBytes), letter);
                }
            } else {
                for (int32_t i = begin; i < end; ++i) {
                    const Bytes letter = splat<uint8_t, kVectorBytes>(pair.a[i]);
                    const uint8_t *letters = pair.reversed + d - i;
                    run0 = adds<uint8_t, kVectorBytes>(run0, one) &
                           (Bytes)(load<uint8_t, kVectorBytes>(letters) == letter);
                    run1 = adds<uint8_t, kVectorBytes>(run1, one) &
                           (Bytes)(load<uint8_t, kVectorBytes>(letters + kVectorBytes) == letter);
                    count0 -= (Bytes)(run0 >= k);
                    count1 -= (Bytes)(run1 >= k);
                }
            }
            uint8_t found[kBlock];
            store<uint8_t, kVectorBytes>(found, count0);
            store<uint8_t, kVectorBytes>(found + kVectorBytes, count1);
            for (int32_t l = 0; l < kBlock; ++l) counts[l] += found[l];
        }
    }
}

int32_t take_best(WordScratch &scratch, int32_t n_diagonals) {
    constexpr int32_t kLanes = kVectorBytes / sizeof(int32_t);
    using Ints = Vec<int32_t, kVectorBytes>;
    int32_t *counts = scratch.counts.data();
    Ints most{};
    for (int32_t d = 0; d < n_diagonals; d += kLanes) most = vmax(most, load<int32_t, kVectorBytes>(counts + d));
    int32_t best = 0;
    for (int32_t l = 0; l < kLanes; ++l) best = std::max(best, most[l]);
    if (!best) return -1;
    const Ints below = splat<int32_t, kVectorBytes>(best - 1);
    for (int32_t d = 0;; d += kLanes) {
        const auto bits = widened(gt_bits<int32_t, kVectorBytes>(load<int32_t, kVectorBytes>(counts + d), below));
        if (!bits) continue;
        d += std::countr_zero(bits) / Lanes<int32_t, kVectorBytes>::bits_per_lane;
        counts[d] = 0;
        return d;
    }
}

/// The chains of a pair, with scores in lanes of T and vectors of B bytes.
template <class T, int B>
class Chains {
    using V = Vec<T, B>;
    static constexpr int32_t kLanes = B / sizeof(T);

    /// Some neighbouring diagonals, one lane each, with their state after the last row that was processed.
    struct Strip {
        V takes_part;  // all ones in lanes whose diagonal was taken
        V score;       // score of the last chain
        V age;         // rows since its end, at most k
        V run;         // length of the current run of equal residues
        int32_t diagonal;
        Rows rows;
    };

  public:
    Chains(const WordPair &pair, int32_t length, int32_t gap, const std::vector<DiagonalRange> &ranges,
           WordScratch &scratch)
        : pair_(pair), length_(length), updates_(scratch.updates) {
        cut(ranges, scratch);
        const size_t size = sizeof(T) * (static_cast<size_t>(pair.n_b) + 2 * kMargin) / sizeof(uint64_t) + 1;
        if (scratch.best.size() < size) scratch.best.resize(size + size / 4);
        std::fill_n(scratch.best.begin(), size, 0);
        best_ = reinterpret_cast<T *>(scratch.best.data()) + kMargin;
        updates_.clear();
        gap_ = splat<T, B>(static_cast<T>(gap));
        k_ = splat<T, B>(static_cast<T>(length));
    }

    int32_t run() { return length_ == 1 ? rows<true>() : rows<false>(); }

  private:
    template <bool IsSingle>
    int32_t rows() {
        int32_t begin = pair_.n_a, end = 0;
        for (int32_t s = 0; s < n_strips_; ++s) {
            begin = std::min(begin, strips_[s].rows.begin);
            end = std::max(end, strips_[s].rows.end);
        }
        for (int32_t i = begin; i < end; ++i) {
            apply_updates(i - length_);
            const V letter = splat<T, B>(pair_.a[i]);
            for (int32_t s = 0; s < n_strips_; ++s)
                if (i >= strips_[s].rows.begin && i < strips_[s].rows.end) row<IsSingle>(strips_[s], i, letter);
        }
        V best{};
        for (int32_t s = 0; s < n_strips_; ++s) best = vmax(best, strips_[s].score);
        int32_t most = 0;
        for (int32_t l = 0; l < kLanes; ++l) most = std::max<int32_t>(most, best[l]);
        return most;
    }

    static constexpr int32_t kMargin = 64;  // lanes before the line of best scores: a strip and a k-mer

    void cut(const std::vector<DiagonalRange> &ranges, WordScratch &scratch) {
        size_t n = 0;
        for (const DiagonalRange &range : ranges) n += (range.end - range.begin + kLanes - 1) / kLanes;
        if (scratch.lanes.size() < (n + 1) * sizeof(Strip)) scratch.lanes.resize(2 * (n + 1) * sizeof(Strip));
        const auto address = reinterpret_cast<uintptr_t>(scratch.lanes.data());
        strips_ = reinterpret_cast<Strip *>((address + alignof(Strip) - 1) / alignof(Strip) * alignof(Strip));
        n_strips_ = 0;
        for (const DiagonalRange &range : ranges)
            for (int32_t d = range.begin; d < range.end; d += kLanes) {
                Strip &strip = strips_[n_strips_++];
                const int32_t end = std::min(d + kLanes, range.end);
                T lanes[kLanes];
                for (int32_t l = 0; l < kLanes; ++l) lanes[l] = l < end - d ? static_cast<T>(~T{0}) : T{0};
                strip.takes_part = load<T, B>(lanes);
                strip.score = strip.run = V{};
                strip.age = splat<T, B>(static_cast<T>(length_));
                strip.diagonal = d;
                strip.rows = rows_of(pair_, {d, end});
            }
    }

    [[gnu::always_inline]] static V letters_at(const uint8_t *p) {
        if constexpr (sizeof(T) == 1) return load<T, B>(p);
        else return __builtin_convertvector(load<uint8_t, B / 2>(p), V);
    }

    template <bool IsSingle>
    [[gnu::always_inline]] void row(Strip &strip, int32_t i, V letter) {
        const int32_t place = strip.diagonal - i;
        V is_word = (V)(letters_at(pair_.reversed + place) == letter) & strip.takes_part;
        if constexpr (!IsSingle) {
            strip.run = add(strip.run, splat<T, B>(1)) & is_word;
            is_word = (V)(strip.run >= k_);
        }
        const V before = load<T, B>(best_ + place + length_);
        const V begun = subs<T, B>(add(before, k_), gap_);
        V score;
        if constexpr (IsSingle) {
            score = vmax(begun, add(strip.score, k_)) & is_word;
        } else {
            score = vmax(begun, add(strip.score, strip.age)) & is_word;
            strip.age = is_word ? splat<T, B>(1) : vmin(strip.age + 1, k_);
        }
        strip.score = vmax(strip.score, score);
        // A chain whose score is at most the cost of a diagonal change gains nothing for other chains.
        const V better = subs<T, B>(score, vmax(load<T, B>(best_ + place), gap_));
        if (__builtin_expect(any_bit<B>((Vec<uint8_t, B>)better), 0)) note(i, place, score, better);
    }

    static V vmin(V a, V b) { return a < b ? a : b; }

    /// Add; 8-bit lanes saturate at 255, and the caller ensures that 16 bits are enough.
    [[gnu::always_inline]] static V add(V a, V b) {
        if constexpr (sizeof(T) == 1) return adds<T, B>(a, b);
        else return a + b;
    }

    [[gnu::noinline]] void note(int32_t i, int32_t place, V score, V better) {
        T scores[kLanes];
        store<T, B>(scores, score);
        using Signed = std::make_signed_t<T>;
        using Flags = Vec<Signed, B>;
        constexpr int kBits = Lanes<T, B>::bits_per_lane;
        uint64_t bits = widened(gt_bits<Signed, B>(Flags{}, (Flags)(better != V{})));
        while (bits) {
            const int l = std::countr_zero(bits) / kBits;
            updates_.push_back({i, place + l, scores[l]});
            bits &= ~(((uint64_t{1} << kBits) - 1) << l * kBits);
        }
    }

    /// Add the chains that end in rows up to `last` to the line of best scores.
    [[gnu::always_inline]] void apply_updates(int32_t last) {
        while (next_ < updates_.size() && updates_[next_].row <= last) apply(updates_[next_++]);
    }

    [[gnu::noinline]] void apply(const WordUpdate &update) {
        const V score = splat<T, B>(static_cast<T>(update.score));
        for (int32_t end = update.place + 1; end > 0; end -= kLanes) {
            T *at = best_ + end - kLanes;
            const V old = load<T, B>(at);
            store<T, B>(at, vmax(old, score));
            if (old[0] >= update.score) break;
        }
    }

    const WordPair &pair_;
    int32_t length_, n_strips_ = 0;
    std::vector<WordUpdate> &updates_;
    size_t next_ = 0;
    V gap_, k_;
    Strip *strips_ = nullptr;
    T *best_ = nullptr;
};

template <class T, int B>
int32_t chain(const WordPair &pair, int32_t length, int32_t gap, const std::vector<DiagonalRange> &ranges,
              WordScratch &scratch) {
    return Chains<T, B>(pair, length, gap, ranges, scratch).run();
}

}  // namespace

#define TROPALIGN_STRING_(x) #x
#define TROPALIGN_STRING(x) TROPALIGN_STRING_(x)
extern const WordKernels word_kernels = {
    TROPALIGN_STRING(TROPALIGN_ISA), count, take_best, chain<uint8_t, 16>, chain < uint16_t,
    kVectorBytes >= 32 ? 32 : 16 > };

}  // namespace tropalign::TROPALIGN_ISA
