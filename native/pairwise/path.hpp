// The path of an alignment: gapped rows during the traceback, then runs of operations and their counts.
//
// The traceback only writes the aligned residues. They are compared a vector at a time afterwards; matches, mismatches,
// gaps, similar residues and the ends of runs follow from the resulting bits.
#pragma once
#include "../simd/bytes.hpp"
#include "scoring.hpp"

namespace tropalign::TROPALIGN_ISA {

inline constexpr uint8_t kOnlyRow = 1, kOnlyColumn = 2, kEqual = 7, kDifferent = 8;  // BAM codes, rows as query

struct GapLetters {
    uint8_t codes[kVectorBytes];
    constexpr GapLetters() : codes() {
        for (uint8_t &code : codes) code = kPadCode;
    }
};
inline constexpr GapLetters kGapLetters;

/// A table for lookup32: bit k of a byte, by k.
struct BitOf {
    int8_t bits[32];
    constexpr BitOf() : bits() {
        for (int k = 0; k < 8; ++k) bits[k] = static_cast<int8_t>(1 << k);
    }
};
inline constexpr BitOf kBitOf;

/// The two gapped sequences of an alignment as codes, written from the last column to the first; kPadCode is a
/// gap.
class GappedRows {
  public:
    static constexpr int W = kVectorBytes;
    /// Bytes for alignments of up to `columns` columns.
    static size_t bytes(size_t columns) { return letter_bytes(columns) + sizeof(uint64_t) * (columns / W + 1); }

    GappedRows(void *memory, size_t columns)
        : rows_(static_cast<uint8_t *>(memory) + W), columns_(rows_ + columns + 2 * W),
          operations_(columns_ + columns + 2 * W),
          edges_(reinterpret_cast<uint64_t *>(static_cast<uint8_t *>(memory) + letter_bytes(columns))), end_(columns),
          begin_(columns) {}

    /// Add `length` columns in front; `row` and `column` point behind the residues, or are null for a gap.
    [[gnu::always_inline]] void add(const uint8_t *row, const uint8_t *column, int length) {
        const uint8_t *gap = kGapLetters.codes + W;
        size_t to = begin_;
        const int row_step = row ? W : 0, column_step = column ? W : 0;
        row = row ? row : gap, column = column ? column : gap;
        // Whole vectors: sequences have kCodeMargin readable bytes before them.
        for (int left = length; left > 0; left -= W, to -= W) {
            store<int8_t, W>(rows_ + to - W, load<int8_t, W>(row - W));
            store<int8_t, W>(columns_ + to - W, load<int8_t, W>(column - W));
            row -= row_step, column -= column_step;
        }
        begin_ -= length;
    }
    int length() const { return static_cast<int>(end_ - begin_); }

    /// Set the operation of every column, and the counts; must be called before runs() and encode().
    void count(const Scoring &scoring, LaneResult &result) {
        using V = Vec<int8_t, W>;
        const int n = length();
        const uint8_t *a = rows_ + begin_, *b = columns_ + begin_;
        uint8_t *operations = operations_ + W;
        const V gap = splat<int8_t, W>(kPadCode);
        int identical = 0, gaps = 0, similar = 0;
        uint64_t before[3] = {};  // masks of the columns before
        for (int c = 0; c < n; c += W) {
            V x = load<int8_t, W>(a + c), y = load<int8_t, W>(b + c);
            V code = x == y ? splat<int8_t, W>(kEqual) : splat<int8_t, W>(kDifferent);
            code = x == gap ? splat<int8_t, W>(kOnlyColumn) : code;
            code = y == gap ? splat<int8_t, W>(kOnlyRow) : code;
            store<int8_t, W>(operations + c, code);
            const uint64_t valid = ~uint64_t{0} >> (64 - (n - c < W ? n - c : W));
            const uint64_t different = widened(gt_bits<int8_t, W>(code, splat<int8_t, W>(kEqual)));
            const uint64_t gapped = widened(gt_bits<int8_t, W>(splat<int8_t, W>(kEqual), code));
            const uint64_t masks[3] = {different, gapped,
                                       widened(gt_bits<int8_t, W>(code, splat<int8_t, W>(kOnlyRow)))};
            uint64_t edges = 0;
            for (int k = 0; k < 3; ++k) {
                edges |= masks[k] ^ (masks[k] << 1 | before[k] >> (W - 1));
                before[k] = masks[k];
            }
            edges_[c / W] = edges & valid & (c == 0 ? ~uint64_t{1} : ~uint64_t{0});
            gaps += __builtin_popcountll(gapped & valid);
            identical += __builtin_popcountll(~(different | gapped) & valid);
            similar += __builtin_popcountll(widened(gt_bits<int8_t, W>(V{}, similar_letters(scoring, x, y))) & valid);
        }
        result.identical = identical;
        result.similar = similar;
        result.gaps = gaps;
        result.columns = n;
    }

    int runs() const {
        const int n = length();
        int runs = n > 0;
        for (int c = 0; c < n; c += W) runs += __builtin_popcountll(edges_[c / W]);
        return runs;
    }

    /// Write the runs, length << 4 | operation, the alignment's first column first; return their number.
    int encode(uint32_t *path) const {
        const int n = length();
        const uint8_t *operations = operations_ + W;
        int runs = 0, start = 0;
        for (int c = 0; c < n; c += W)
            for (uint64_t ends = edges_[c / W]; ends; ends &= ends - 1) {
                const int at = c + __builtin_ctzll(ends);
                path[runs++] = static_cast<uint32_t>(at - start) << 4 | operations[start];
                start = at;
            }
        if (n > 0) path[runs++] = static_cast<uint32_t>(n - start) << 4 | operations[start];
        return runs;
    }

  private:
    /// Bytes of the rows and operations, in whole numbers of edges_.
    static size_t letter_bytes(size_t columns) { return (3 * (columns + 3 * W) + 7) / 8 * 8; }

    /// Return the lanes whose residues x and y score above zero: y's bit among x's in Scoring::positive.
    static Vec<int8_t, W> similar_letters(const Scoring &scoring, Vec<int8_t, W> x, Vec<int8_t, W> y) {
        using V = Vec<int8_t, W>;
        const V eighth = y & splat<int8_t, W>(0x18);
        V bits = lookup32<W>(scoring.positive, x);
        for (int q = 1; q < 4; ++q)
            bits = eighth == splat<int8_t, W>(static_cast<int8_t>(8 * q)) ? lookup32<W>(scoring.positive + 32 * q, x)
                                                                          : bits;
        const V bit = lookup32<W>(kBitOf.bits, y & splat<int8_t, W>(7));
        return (bits & bit) != V{};
    }

    uint8_t *rows_, *columns_, *operations_;
    uint64_t *edges_;  // bit k of number c: column c * W + k has a different operation than the one before it
    size_t end_, begin_;
};

}  // namespace tropalign::TROPALIGN_ISA
