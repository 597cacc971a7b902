// Where the posteriors of a pair of sequences are: a number per pair.
#pragma once
#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace tropalign {

/// Numbers of pairs of n sequences, in either order. Of a family that is not too large there is a place for each pair,
/// since stage IV asks for all of them in every round; of a larger one only some pairs are there.
class PairIndex {
  public:
    explicit PairIndex(int64_t n_sequences)
        : is_dense_(n_sequences <= kMostDense), places_(is_dense_ ? n_sequences * (n_sequences - 1) / 2 : 0, kNone) {}

    /// -1 where there is none.
    int64_t find(int32_t x, int32_t y) const {
        if (x == y) return -1;
        if (is_dense_) {
            const uint32_t number = places_[place(x, y)];
            return number == kNone ? -1 : int64_t{number};
        }
        const auto at = map_.find(place(x, y));
        return at == map_.end() ? -1 : int64_t{at->second};
    }

    /// Room for as many pairs.
    void reserve(size_t n_pairs) {
        if (!is_dense_) map_.reserve(n_pairs);
    }

    void set(int32_t x, int32_t y, uint32_t number) {
        if (is_dense_) places_[place(x, y)] = number;
        else map_.emplace(place(x, y), number);
    }

    int64_t n_bytes() const {
        constexpr int64_t kMapBytes = 48;  // of an entry of the map, about
        return static_cast<int64_t>(places_.size() * sizeof(uint32_t)) + static_cast<int64_t>(map_.size()) * kMapBytes;
    }

  private:
    static constexpr int64_t kMostDense = 2048;
    static constexpr uint32_t kNone = UINT32_MAX;

    /// (0, 1), (0, 2), (1, 2), (0, 3), ...
    static uint64_t place(int32_t x, int32_t y) {
        const auto low = static_cast<uint64_t>(std::min(x, y)), high = static_cast<uint64_t>(std::max(x, y));
        return high * (high - 1) / 2 + low;
    }

    bool is_dense_;
    std::vector<uint32_t> places_;
    std::unordered_map<uint64_t, uint32_t> map_;
};

}  // namespace tropalign
