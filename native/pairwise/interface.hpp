// The contract between the plan of a tile and the kernels of an instruction set: plain data, the same for all.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>

#include "../compute/poll.hpp"
#include "../compute/scratch.hpp"

namespace tropalign {

struct Scoring;

inline constexpr int kLetters = 32;  // codes are below this; the last one pads
inline constexpr int kPadCode = 31;
inline constexpr int kMaxLanes = 64;
inline constexpr int kCodeMargin = 64;  // readable bytes before and after every sequence

/// A sequence as the kernels see it.
struct Letters {
    const uint8_t *codes;
    int32_t length;
};

/// A pair in its kernel orientation: rows against columns.
struct LanePair {
    Letters rows, columns;
    // Residues of that sequence that hang over at that end cost nothing (semiglobal).
    bool free_rows_begin, free_rows_end, free_columns_begin, free_columns_end;
};

/// Up to kMaxLanes pairs that run side by side.
struct Unit {
    LanePair lane[kMaxLanes];
    int n_lanes;
    bool shared_rows;  // the lanes have one or two row sequences among them
    bool mirrored;     // the tie rule's shorter sequence lies along the rows (ties.hpp)
};

/// What a unit's memory depends on.
struct UnitSize {
    int64_t rows, columns;  // of its longest lane each
    int n_lanes;
    bool shared_rows;
};

/// Counts of an alignment's columns: all that carry them read this list. Python puts `n_` before the name.
#define TROPALIGN_COUNTS(X) X(identical) X(similar) X(gaps) X(columns)

struct LaneResult {
    int32_t score;  // with Pass::start_cells it is given
    int32_t row_begin, row_end, column_begin, column_end;
#define X(count) int32_t count;
    TROPALIGN_COUNTS(X)
#undef X
    bool saturated;
    bool several_starts;  // Pass::start_cells: the begins are the lowest of several best starts
    // Run-length coded path, first column of the alignment first: length << 4 | operation (BAM codes; a residue of
    // the rows only is written as 1, of the columns only as 2).
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

/// The buffers of one thread, and how its time and its lanes were spent.
struct UnitScratch : Scratch<Slot> {
    using Scratch<Slot>::Scratch;
    double walk_seconds = 0, unit_seconds = 0;
    uint64_t useful_cells = 0, swept_cells = 0;  // swept_cells counts padding too
    /// Asked now and then by what takes long over one pair, which then finds nothing.
    std::function<bool()> stop_wanted;
    bool is_stopped() const { return stop_wanted && stop_wanted(); }
};

/// Kernels with lanes of one width.
struct LaneKernels {
    int bits;
    /// Aligns the unit's lanes, at most vector_bytes * 8 / bits of them; result[l] for each.
    void (*run)(const Scoring &, const Unit &, UnitScratch &, LaneResult *result);
    /// Bytes of scratch that `run` takes.
    size_t (*bytes)(const Scoring &, const UnitSize &);
};

inline constexpr int kLaneWidths = 3;

/// What the waves of a pair may take (similar_pair.hpp).
struct WaveLimits {
    int64_t memory_bytes;
    int share = 1;  // one part in so many of the time of the whole matrix
};

/// Kernels of one instruction set.
struct Kernels {
    const char *isa;
    int vector_bytes;
    const LaneKernels *lanes[kLaneWidths];  // the narrowest first
    /// Aligns one pair, rows the longer sequence, over threads, in about `memory_bytes` where the path allows it.
    /// False when `poll` stopped it.
    bool (*run_long)(const Scoring &, const LanePair &, int n_threads, int64_t memory_bytes, const Poll &,
                     LaneResult &result, Buffer<uint32_t> &path);
    /// Aligns one short pair, rows the longer sequence, in the calling thread; the path stays in the scratch. False,
    /// and nothing done, for one that takes too much memory to be worth it.
    bool (*run_short)(const Scoring &, const LanePair &, UnitScratch &, LaneResult &result);
    /// Aligns one pair of similar sequences globally, rows the longer one, in the calling thread; the path stays in the
    /// scratch. False for a pair that others align sooner, which takes a few percent of their time to find out, and for
    /// scores that are no match and mismatch.
    bool (*run_similar)(const Scoring &, const LanePair &, const WaveLimits &, UnitScratch &, LaneResult &result);
};

/// Throws what selected_isa throws.
const Kernels *selected_kernels();

}  // namespace tropalign
