// A block of target sequences, in the order of the input, with the values per length that the stages need.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "../compute/buffer.hpp"
#include "model.hpp"

namespace tropalign {

// Conversion of characters of targets to codes, by a table.

/// Set codes[k] = table[letters[k]] with a table of 256; return the bitwise or of all codes.
using Recode = uint8_t (*)(const uint8_t *letters, size_t n, const uint8_t *table, uint8_t *codes);

struct RecodeKernels {
    Recode recode;
};
const RecodeKernels *selected_recode_kernels();

/// Targets of a block, by index; the argument of most stages.
using Targets = std::span<const int32_t>;

/// Number of interleaved targets, a byte each, and the code of rows beyond a target's end: not a residue of any
/// table.
inline constexpr int kGroupTargets = 64;
inline constexpr uint8_t kGroupPadCode = 31;

/// Targets of one length: positions begin to end of by_length(), and values that depend on the length
/// (lengths.hpp).
struct LengthRun {
    int32_t length, begin, end;
    float null1_nats;
    uint8_t byte_move;
};

/// Row i holds residue i of up to 64 targets.
struct TargetGroup {
    const uint8_t *codes;  ///< [n_rows][kGroupTargets]
    int32_t n_rows;        ///< The longest target's length.
    int64_t n_residues;
};

class TargetBlock {
  public:
    /// codes: in Easel's order (model.hpp), sequence k is codes[offsets[k] .. offsets[k + 1]). The caller keeps
    /// both alive and unchanged for the lifetime of the block.
    TargetBlock(const uint8_t *codes, const int64_t *offsets, int32_t n);

    int32_t size() const { return n_; }
    const uint8_t *codes(int32_t k) const { return codes_ + offsets_[k]; }
    int32_t length(int32_t k) const { return static_cast<int32_t>(offsets_[k + 1] - offsets_[k]); }
    /// Indices by ascending length.
    Targets by_length() const { return by_length_; }
    /// by_length() in runs of equal lengths.
    std::span<const LengthRun> length_runs() const { return length_runs_; }

    /// Return the index in by_length() of the first target if the targets are a subspan of it; else -1.
    ptrdiff_t place_of(Targets targets) const;

    /// Return a group of 64 neighbours. The first group, that of the shortest targets, may have fewer.
    Targets group_targets(int32_t g) const;
    /// The group of a position in by_length(), and how many of its targets come before.
    struct GroupPlace {
        int32_t group, lane;
    };
    GroupPlace group_of(size_t place) const;
    /// A group without its codes.
    TargetGroup group_size(int32_t g) const;
    /// A group with its codes, which are made on first use. Thread-safe.
    TargetGroup group(int32_t g) const;

  private:
    void sort();

    const uint8_t *codes_;
    const int64_t *offsets_;
    int32_t n_;
    std::vector<int32_t> by_length_;
    std::vector<LengthRun> length_runs_;
    struct Group {
        size_t begin;  // in interleaved_
        int32_t n_rows;
        int64_t n_residues;
    };
    std::vector<Group> groups_;
    size_t first_size_ = 0;  // size of group 0
    size_t interleaved_size_ = 0;
    std::unique_ptr<std::once_flag[]> group_made_;
    mutable std::once_flag allocated_;
    mutable Buffer<uint8_t> interleaved_;
};

/// Interleave at most 64 targets of at most n_rows residues: [n_rows][kGroupTargets], padded with kGroupPadCode.
void interleave(const TargetBlock &block, Targets targets, int32_t n_rows, uint8_t *out);

}  // namespace tropalign
