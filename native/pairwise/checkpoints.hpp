// Values that a sweep keeps if the traceback sweeps parts of the matrix again (block_walk.hpp): the state on the
// borders of blocks of 16 x 16 cells, a vector of lanes for each number.
//
//     column   0      15 16     31 32          group 0 = columns 0..15, ...
//     row 0    +--------+---------+-
//              |        |         |            |  below each row of cells 15, 31, ...: H and F (or v, y) of all columns
//         15   +========+=========+=           |
//         16   |        |         |            right of each column 15, 31, ...: H and E (or u, x) of all rows
//              |        |         |
//         31   +========+=========+=
//
// Per vector of cells 4 / 16 vectors are kept, a quarter of the memory of all values (unit_values.hpp). The purpose is
// that large units no longer wait for memory: a store per cell alone would take less time than sweeping blocks again.
#pragma once
#include "sweep.hpp"

namespace tropalign::TROPALIGN_ISA {

inline constexpr int kBlock = 16;      // rows and columns between checkpoints
inline constexpr int kSweptRows = 32;  // size of the blocks that the traceback sweeps again
inline constexpr int kSweptColumns = 16;

/// Values that a sweep keeps of its cells: nothing, all values, or the borders of blocks.
enum class Kept { nothing, values, borders };

/// Cells of a unit from which checkpoints are kept rather than all values. Alignments on a Zen 4 with 32-byte
/// vectors, GCUPS of processor time with values / with checkpoints:
///
///     residues    459          608          1,103        1,430 (16S)
///     local       14.4 / 10.2  13.3 / 11.3  9.6 / 10.5   5.7 / 7.0
///     global      14.6 / 12.1  15.3 / 12.9  11.5 / 13.5  9.5 / 13.6
inline constexpr int64_t kLeastCheckpointedCells = 700'000;

inline bool keeps_checkpoints(int64_t m, int64_t n) { return m * n >= kLeastCheckpointedCells; }

/// Layout of each group of columns: first the values right of its last column, then those below its blocks of rows.
template <class T, int B>
class Checkpoints {
    using V = Vec<T, B>;

  public:
    Checkpoints() = default;
    Checkpoints(void *memory, int m) : memory_(static_cast<V *>(memory)), m_(m) {}
    static size_t bytes(size_t m, size_t n) { return sizeof(V) * group_size(m) * ((n + kBlock - 1) / kBlock); }

    /// Pairs of vectors, one per row: H and E (or u, x) right of the last column of a group.
    V *column(int group) const { return memory_ + group_size(m_) * group; }
    /// Pairs of vectors, one per column: H and F (or v, y) above the first row of a block, which is not the first
    /// block.
    V *row(int group, int block) const {
        return column(group) + 2 * (m_ + kSweptRows) + static_cast<size_t>(block - 1) * 2 * kBlock;
    }

    /// Store the state of the rows from `first` to before `end` after the last column of a group.
    void keep_column(int group, const V *value, const V *gap, int first, int end) const {
        V *to = column(group);
        for (int i = first; i < end; ++i) to[2 * i] = value[i], to[2 * i + 1] = gap[i];
    }

    /// Stores the values below each block of rows, in a sweep of some columns from j.
    struct Rows {
        static constexpr int kRows = kBlock;
        V *to;

        template <int C>
        [[gnu::always_inline]] void keep(const V *value, const V *gap) {
            for (int c = 0; c < C; ++c) to[2 * c] = value[c], to[2 * c + 1] = gap[c];
            to += 2 * kBlock;
        }
    };
    /// The sweep begins in row `first`, a multiple of kBlock.
    Rows rows(int j, int first) const { return {row(j / kBlock, first / kBlock + 1) + 2 * (j % kBlock)}; }

  private:
    /// The rows have kSweptRows beyond the last, since a block that is swept again may extend that far.
    static constexpr size_t group_size(size_t m) { return 2 * (m + kSweptRows) + m / kBlock * 2 * kBlock; }

    V *memory_ = nullptr;
    int m_ = 0;
};

}  // namespace tropalign::TROPALIGN_ISA
