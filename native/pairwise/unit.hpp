// What the scheduler hands to the kernels of an instruction set, and what comes back: plain data, the same for all.
#pragma once
#include <cstdint>
#include <functional>

#include "../compute/buffer.hpp"

namespace tropalign {

enum class Mode : int { local = 0, global = 1 };  // global with freed ends is semiglobal
enum class Depth : int { score = 0, ends = 1, alignment = 2 };

inline constexpr int kLetters = 32;     // codes are below this; the last one pads
inline constexpr int kPadCode = 31;
inline constexpr int kMaxLanes = 64;
inline constexpr int kCodeMargin = 64;  // readable bytes before and after every sequence

/// Scoring of a run. A gap of k residues costs open + k*extend.
struct Scoring {
    Mode mode;
    Depth depth;
    int32_t open, extend, lowest, highest;  // lowest and highest score of the matrix, at most -1 and at least 0
    int32_t matrix[kLetters * kLetters];
    // What a sweep adds: the matrix (local), or the matrix plus 2*extend (global; a score so low that two gaps
    // are always better is raised to just below that). `step8` where it fits 8 bits.
    int32_t step[kLetters * kLetters];
    alignas(64) int8_t step8[kLetters * kLetters];
    bool step_fits8;
    alignas(64) int8_t positive[4 * kLetters];  // bit b % 8 of byte b / 8 * kLetters + a: letters a and b score above zero

    Scoring(Mode mode, Depth depth, const int32_t *scores, int32_t open, int32_t extend);
};

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
    bool shared_rows;     // every lane has the same row sequence
    bool rows_are_short;  // the shorter sequence (of the tie rule) is the row sequence
};

struct LaneResult {
    int32_t score;
    int32_t row_begin, row_end, column_begin, column_end;
    int32_t identical, similar, gaps, columns;
    bool saturated;
    // Run-length coded path, first column of the alignment first: length << 4 | operation (BAM codes; a residue of
    // the rows only is written as 1, of the columns only as 2).
    const uint32_t *path;
    int32_t path_length;
};

/// Buffers of one thread, kept from unit to unit so that their pages stay mapped.
struct Scratch {
    Buffer<uint8_t> slots[10];
    double walk_seconds = 0, unit_seconds = 0;
    uint64_t useful_cells = 0, swept_cells = 0;  // swept_cells counts padding too

    /// At least `size` bytes, 64-byte aligned; the content is lost when it has to grow.
    void *get(int slot, size_t size) {
        if (slots[slot].size() < size + 64) slots[slot] = Buffer<uint8_t>(size + size / 8 + 64);
        return slots[slot].data();
    }
};

/// Called now and then with the number of items begun; false stops the work.
using Poll = std::function<bool(int64_t)>;

/// Kernels of one instruction set.
struct Kernels {
    const char *isa;
    int vector_bytes;
    /// Whether `bits` (8, 16, 32) a lane can hold this scoring at all.
    bool (*fits)(const Scoring &, int bits);
    /// Aligns the unit with `bits` a lane; result[l] for each lane. At most vector_bytes * 8 / bits lanes.
    void (*run)(const Scoring &, const Unit &, int bits, Scratch &, LaneResult *result);
    /// Aligns one pair (rows: the longer sequence) over threads, in memory that grows with the lengths' product / 1000.
    void (*run_long)(const Scoring &, const LanePair &, int n_threads, const Poll &, LaneResult &result,
                     Buffer<uint32_t> &path);
};

}  // namespace tropalign
