// The interface between the plan of a tile and the kernels of an instruction set: plain data, the same for all
// sets.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>

#include "../compute/poll.hpp"
#include "../compute/scratch.hpp"

namespace tropalign {

struct Scoring;

inline constexpr int kLetters = 32;  // codes are below this; the last one is padding
inline constexpr int kPadCode = 31;
inline constexpr int kMaxLanes = 64;
inline constexpr int kCodeMargin = 64;  // readable bytes before and after every sequence

/// A sequence as the kernels receive it.
struct Letters {
    const uint8_t *codes;
    int32_t length;
};

/// A pair in its kernel orientation: rows against columns.
struct LanePair {
    Letters rows, columns;
    // Residues of this sequence that overhang at this end cost nothing (semiglobal).
    bool free_rows_begin, free_rows_end, free_columns_begin, free_columns_end;
};

/// Up to kMaxLanes pairs that run in parallel lanes.
struct Unit {
    LanePair lane[kMaxLanes];
    int n_lanes;
    bool shared_rows;  // the lanes have only one or two different row sequences
    bool mirrored;     // the shorter sequence by the tie rule is in the rows (ties.hpp)
};

/// The sizes on which a unit's memory depends.
struct UnitSize {
    int64_t rows, columns;  // of the longest lane in each
    int n_lanes;
    bool shared_rows;
};

/// Counts of an alignment's columns: all code that handles them uses this list. Python puts `n_` before the name.
#define TROPALIGN_COUNTS(X) X(identical) X(similar) X(gaps) X(columns)

struct LaneResult {
    int32_t score;
    int32_t row_begin, row_end, column_begin, column_end;
#define X(count) int32_t count;
    TROPALIGN_COUNTS(X)
#undef X
    bool saturated;
    // Run-length coded path, first column of the alignment first: length << 4 | operation (BAM codes; a residue of
    // the rows only is coded as 1, of the columns only as 2).
    const uint32_t *path;
    int32_t path_length;
};

/// Buffers of a unit.
enum class Slot {
    state,
    scores,
    column_letters,
    row_letters,
    padded,
    masks,
    values,
    maxima,
    checkpoints,
    swept,
    runs,
    border,
    heads,
    paths,
    gapped,
    count
};

/// The buffers of one thread, and statistics of its time and lanes.
struct UnitScratch : Scratch<Slot> {
    using Scratch<Slot>::Scratch;
    double walk_seconds = 0, unit_seconds = 0;
    uint64_t useful_cells = 0, swept_cells = 0;  // swept_cells includes padding
    /// Called now and then by kernels that take long for one pair; if it returns true, they stop without a result.
    std::function<bool()> stop_wanted;
    bool is_stopped() const { return stop_wanted && stop_wanted(); }
};

/// Kernels with lanes of one width.
struct LaneKernels {
    int bits;
    /// Align the unit's lanes, at most vector_bytes * 8 / bits of them; write result[l] for each.
    void (*run)(const Scoring &, const Unit &, UnitScratch &, LaneResult *result);
    /// Bytes of scratch that `run` needs.
    size_t (*bytes)(const Scoring &, const UnitSize &);
};

inline constexpr int kLaneWidths = 3;

/// Limits for the waves of a pair (similar_pair.hpp).
struct WaveLimits {
    int64_t memory_bytes;
    int share = 1;  // the time limit is that of the whole matrix divided by this
};

/// Kernels of one instruction set.
struct Kernels {
    const char *isa;
    int vector_bytes;
    const LaneKernels *lanes[kLaneWidths];  // the narrowest first
    /// Align one pair, rows the longer sequence, over threads, in about `memory_bytes` if the path allows it.
    /// Returns false if `poll` stopped it.
    bool (*run_long)(const Scoring &, const LanePair &, int n_threads, int64_t memory_bytes, const Poll &,
                     LaneResult &result, Buffer<uint32_t> &path);
    /// Align one short pair, rows the longer sequence, in the calling thread; the path stays in the scratch.
    /// Returns false, without doing anything, if the pair takes too much memory to be worth it.
    bool (*run_short)(const Scoring &, const LanePair &, UnitScratch &, LaneResult &result);
    /// Align one pair of similar sequences globally, rows the longer one, in the calling thread; the path stays in
    /// the scratch. Returns false for scores other than match and mismatch, and for a pair that other kernels align
    /// faster; finding that out takes a few percent of their time.
    bool (*run_similar)(const Scoring &, const LanePair &, const WaveLimits &, UnitScratch &, LaneResult &result);
};

/// Return the kernels chosen at import; throws what selected_isa throws.
const Kernels *selected_kernels();

}  // namespace tropalign
