// A block of target sequences, in the order of the input, with what every stage needs to know per length.
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

// Letters of targets as codes, by a table.

/// codes[k] = table[letters[k]] of 256; the bits that any code has.
using Recode = uint8_t (*)(const uint8_t *letters, size_t n, const uint8_t *table, uint8_t *codes);

struct RecodeKernels {
    Recode recode;
};
const RecodeKernels *selected_recode_kernels();

/// Targets of a block, by index; what most stages take.
using Targets = std::span<const int32_t>;

/// Targets that lie side by side, a byte each, and the code of rows beyond a target's end: no residue of any table.
inline constexpr int kGroupTargets = 64;
inline constexpr uint8_t kGroupPadCode = 31;

/// Targets of one length: positions begin to end of by_length(), and what follows from the length (lengths.hpp).
struct LengthRun {
    int32_t length, begin, end;
    float null1_nats;
    uint8_t byte_move;
};

/// Residue i of up to 64 targets in row i.
struct TargetGroup {
    const uint8_t *codes;  ///< [n_rows][kGroupTargets]
    int32_t n_rows;        ///< The longest target's length.
    int64_t n_residues;
};

class TargetBlock {
  public:
    /// codes: of Easel's order (model.hpp), sequence k is codes[offsets[k] .. offsets[k + 1]). Both are kept alive by
    /// the caller for as long as the block lives, and do not change.
    TargetBlock(const uint8_t *codes, const int64_t *offsets, int32_t n);

    int32_t size() const { return n_; }
    const uint8_t *codes(int32_t k) const { return codes_ + offsets_[k]; }
    int32_t length(int32_t k) const { return static_cast<int32_t>(offsets_[k + 1] - offsets_[k]); }
    /// Indices by ascending length.
    Targets by_length() const { return by_length_; }
    /// by_length() in runs of equal lengths.
    std::span<const LengthRun> length_runs() const { return length_runs_; }

    /// Where in by_length() these targets are neighbours: the place of the first one; else -1.
    ptrdiff_t place_of(Targets targets) const;

    /// Groups of 64 neighbours. Where targets are missing, the first group, of the shortest ones, has fewer.
    Targets group_targets(int32_t g) const;
    /// The group of a place in by_length(), and how many of its targets come before.
    struct GroupPlace {
        int32_t group, lane;
    };
    GroupPlace group_of(size_t place) const;
    /// A group without its codes.
    TargetGroup group_size(int32_t g) const;
    /// A group with its codes, which are made when first asked for. Threads may ask at a time.
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
    size_t first_size_ = 0;  // of group 0
    size_t interleaved_size_ = 0;
    std::unique_ptr<std::once_flag[]> group_made_;
    mutable std::once_flag allocated_;
    mutable Buffer<uint8_t> interleaved_;
};

/// Targets of at most n_rows residues side by side, 64 or fewer: [n_rows][kGroupTargets], padded with kGroupPadCode.
void interleave(const TargetBlock &block, Targets targets, int32_t n_rows, uint8_t *out);

}  // namespace tropalign
