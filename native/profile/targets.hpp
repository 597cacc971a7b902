// A block of target sequences, in the order of the input, with what every stage needs to know per length.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "model.hpp"

namespace tropalign {

/// Targets of a block, by index; what most stages take.
using Targets = std::span<const int32_t>;

class TargetBlock {
  public:
    /// codes: of Easel's order (model.hpp), sequence k is codes[offsets[k] .. offsets[k + 1]). Both are copied or kept
    /// alive by the caller for as long as the block lives.
    TargetBlock(const uint8_t *codes, const int64_t *offsets, int32_t n);

    int32_t size() const { return n_; }
    const uint8_t *codes(int32_t k) const { return codes_ + offsets_[k]; }
    int32_t length(int32_t k) const { return static_cast<int32_t>(offsets_[k + 1] - offsets_[k]); }
    /// Indices by ascending length.
    Targets by_length() const { return by_length_; }

  private:
    const uint8_t *codes_;
    const int64_t *offsets_;
    int32_t n_;
    std::vector<int32_t> by_length_;
};

}  // namespace tropalign
