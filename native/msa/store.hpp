// The sparse posteriors of the pairs of a family, each with its transpose.
//
// A pair is one allocation, so that pairs can be added and replaced without moving others:
//
//     starts of x's rows | starts of y's rows | columns of x's rows | of y's rows | values of x's rows | of y's rows
//     uint32 [m + 1]       uint32 [n + 1]       uint16 [elements]     ...           uint16 [elements]    ...
#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>
#include <shared_mutex>
#include <unordered_map>
#include <vector>

#include "sparse.hpp"

namespace tropalign {

// Index of the posteriors of a pair of sequences: a number per pair.

/// Numbers of pairs of n sequences, in either order. A small family has an entry for each pair, since stage IV
/// reads all of them in every round; of a larger one only some pairs are present.
class PairIndex {
  public:
    explicit PairIndex(int64_t n_sequences)
        : is_dense_(n_sequences <= kMostDense), places_(is_dense_ ? n_sequences * (n_sequences - 1) / 2 : 0, kNone) {}

    /// Return the number of a pair, -1 if absent.
    int64_t find(int32_t x, int32_t y) const {
        if (x == y) return -1;
        if (is_dense_) {
            const uint32_t number = places_[place(x, y)];
            return number == kNone ? -1 : int64_t{number};
        }
        const auto at = map_.find(place(x, y));
        return at == map_.end() ? -1 : int64_t{at->second};
    }

    /// Reserve room for this many pairs.
    void reserve(size_t n_pairs) {
        if (!is_dense_) map_.reserve(n_pairs);
    }

    void set(int32_t x, int32_t y, uint32_t number) {
        if (is_dense_) places_[place(x, y)] = number;
        else map_.emplace(place(x, y), number);
    }

    int64_t n_bytes() const {
        constexpr int64_t kMapBytes = 48;  // of an entry of the map, approximately
        return static_cast<int64_t>(places_.size() * sizeof(uint32_t)) + static_cast<int64_t>(map_.size()) * kMapBytes;
    }

  private:
    static constexpr int64_t kMostDense = 2048;
    static constexpr uint32_t kNone = UINT32_MAX;

    /// Return the index of a pair in the order (0, 1), (0, 2), (1, 2), (0, 3), ...
    static uint64_t place(int32_t x, int32_t y) {
        const auto low = static_cast<uint64_t>(std::min(x, y)), high = static_cast<uint64_t>(std::max(x, y));
        return high * (high - 1) / 2 + low;
    }

    bool is_dense_;
    std::vector<uint32_t> places_;
    std::unordered_map<uint64_t, uint32_t> map_;
};

/// Posteriors of some pairs as produced by stage I: rows of the pairs' first sequences, one after another.
struct PairRows {
    const int32_t *pairs;       // [n_pairs][2]
    const uint16_t *row_sizes;  // one per residue of the pairs' first sequences
    const uint16_t *columns, *values;
    int64_t n_pairs, n_rows, n_elements;
};

class PosteriorStore {
  public:
    struct Pair {
        int32_t x, y;  // x < y
    };

    explicit PosteriorStore(std::vector<int32_t> lengths);

    int n_sequences() const { return static_cast<int>(lengths_.size()); }
    int32_t length(int x) const { return lengths_[x]; }
    bool has(int x, int y) const { return index(x, y) >= 0; }
    /// Return the matrix of x's rows and y's columns, in either order; the pair must be present.
    SparseRows rows(int x, int y) const { return rows_of(blocks_[index(x, y)], x < y); }

    /// The pairs in the order in which they were added; index() is -1 if absent.
    int64_t index(int x, int y) const { return index_.find(x, y); }
    int64_t n_pairs() const { return static_cast<int64_t>(blocks_.size()); }
    Pair pair(int64_t index) const { return {blocks_[index].x, blocks_[index].y}; }
    SparseRows forward(int64_t index) const { return rows_of(blocks_[index], true); }

    /// Elements of all pairs, each counted once; and the bytes of the store.
    int64_t n_elements() const { return n_elements_; }
    int64_t n_bytes() const;

    /// Add pairs. Throws std::invalid_argument if the data are not a valid matrix of a pair, or the pair is
    /// already present; then nothing is added.
    void add(const PairRows &given);

    /// Replace the values of a pair's elements, in the order of forward(index); elements below `least` (at least
    /// 1) are dropped. Different pairs may be replaced in parallel.
    void replace(int64_t index, const uint16_t *values, uint16_t least);
    /// Must be called after replacing.
    void count_elements();

    /// Held shared by readers, exclusively by writers.
    std::shared_mutex &mutex() const { return mutex_; }

  private:
    struct Block {
        int32_t x, y;
        uint32_t n_elements;
        std::unique_ptr<uint32_t[]> memory;
    };

    uint64_t key(int x, int y) const {
        return static_cast<uint64_t>(x < y ? x : y) << 32 | static_cast<uint32_t>(x < y ? y : x);
    }
    SparseRows rows_of(const Block &block, bool forward) const;
    int64_t block_words(const Block &block) const;
    void check(const PairRows &given) const;
    void fill(Block &block, const uint16_t *row_sizes, const uint16_t *columns, const uint16_t *values, bool forward);

    std::vector<int32_t> lengths_;
    std::vector<Block> blocks_;
    PairIndex index_;
    int64_t n_elements_ = 0;
    mutable std::shared_mutex mutex_;
};

}  // namespace tropalign
