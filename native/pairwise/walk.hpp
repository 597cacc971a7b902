// From stored direction masks to a run-length coded path: a walk a lane, back from its end cell.
//
// The walk follows diagonal runs, gaps and borders; the letters of a diagonal run are then compared a vector at a
// time, and matches and mismatches come out of the bits of that comparison.
#pragma once
#include "score_source.hpp"
#include "sweep.hpp"
#include "unit.hpp"

namespace tropalign::TROPALIGN_ISA {

/// kColumns columns of a row lie together, then the next row; `shift` empty columns come before the first.
struct MaskLayout {
    int m, shift;
    [[gnu::always_inline]] ptrdiff_t cell(int i, int j) const {
        int column = j + shift, in_block = column & (kColumns - 1);
        return static_cast<ptrdiff_t>(column - in_block) * m + static_cast<ptrdiff_t>(i) * kColumns + in_block;
    }
    /// Masks before the first cell that a walk may read: up to nine rows and columns back.
    static size_t margin(int m) { return static_cast<size_t>(m) * 4 * kColumns + 9 * (kColumns + 1); }
};

inline constexpr uint8_t kOnlyRow = 1, kOnlyColumn = 2, kEqual = 7, kDifferent = 8;  // BAM codes, rows as query

struct GapLetters {
    uint8_t codes[kVectorBytes];
    constexpr GapLetters() : codes() {
        for (uint8_t &code : codes) code = kPadCode;
    }
};
inline constexpr GapLetters kGapLetters;

/// The two gapped sequences of an alignment as codes, written from the last column to the first; kPadCode is a gap.
class GappedRows {
  public:
    static constexpr int W = kVectorBytes;
    static size_t bytes(size_t columns) { return 3 * (columns + 3 * W); }

    GappedRows(void *memory, size_t columns)
        : rows_(static_cast<uint8_t *>(memory) + W), columns_(rows_ + columns + 2 * W),
          operations_(columns_ + columns + 2 * W), end_(columns), begin_(columns) {}

    /// `length` columns before those there already, that end before `row` and `column`; null stands for gaps.
    [[gnu::always_inline]] void add(const uint8_t *row, const uint8_t *column, int length) {
        const uint8_t *gap = kGapLetters.codes + W;
        size_t to = begin_;
        const int row_step = row ? W : 0, column_step = column ? W : 0;
        row = row ? row : gap, column = column ? column : gap;
        for (int left = length; left > 0; left -= W, to -= W) {  // sequences have kCodeMargin readable bytes before them
            store<int8_t, W>(rows_ + to - W, load<int8_t, W>(row - W));
            store<int8_t, W>(columns_ + to - W, load<int8_t, W>(column - W));
            row -= row_step, column -= column_step;
        }
        begin_ -= length;
    }
    int length() const { return static_cast<int>(end_ - begin_); }

    /// Run-length codes the path into `path` (room for length() runs), and counts; returns the number of runs.
    int encode(const Scoring &scoring, uint32_t *path, LaneResult &result) {
        using V = Vec<int8_t, W>;
        const int n = length();
        const uint8_t *a = rows_ + begin_, *b = columns_ + begin_;
        uint8_t *operations = operations_ + W;
        const V gap = splat<int8_t, W>(kPadCode);
        int identical = 0, gaps = 0, similar = 0;
        for (int c = 0; c < n; c += W) {
            V x = load<int8_t, W>(a + c), y = load<int8_t, W>(b + c);
            V code = x == y ? splat<int8_t, W>(kEqual) : splat<int8_t, W>(kDifferent);
            code = x == gap ? splat<int8_t, W>(kOnlyColumn) : code;
            code = y == gap ? splat<int8_t, W>(kOnlyRow) : code;
            store<int8_t, W>(operations + c, code);
            const uint64_t valid = ~uint64_t{0} >> (64 - (n - c < W ? n - c : W));
            const uint64_t different = widened(gt_bits<int8_t, W>(code, splat<int8_t, W>(kEqual)));
            const uint64_t gapped = widened(gt_bits<int8_t, W>(splat<int8_t, W>(kEqual), code));
            gaps += __builtin_popcountll(gapped & valid);
            identical += __builtin_popcountll(~(different | gapped) & valid);
            similar += __builtin_popcountll(widened(gt_bits<int8_t, W>(V{}, similar_letters(scoring, x, y))) & valid);
        }
        int runs = 0, start = 0;
        for (int c = 0; c < n; c += W) {
            V x = load<int8_t, W>(operations + c), before = load<int8_t, W>(operations + c - 1);
            uint64_t edges = widened(gt_bits<int8_t, W>(x, before)) | widened(gt_bits<int8_t, W>(before, x));
            edges &= ~uint64_t{0} >> (64 - (n - c < W ? n - c : W));
            if (c == 0) edges &= ~uint64_t{1};
            for (; edges; edges &= edges - 1) {
                const int at = c + __builtin_ctzll(edges);
                path[runs++] = static_cast<uint32_t>(at - start) << 4 | operations[start];
                start = at;
            }
        }
        if (n > 0) path[runs++] = static_cast<uint32_t>(n - start) << 4 | operations[start];
        result.identical = identical;
        result.similar = similar;
        result.gaps = gaps;
        result.columns = n;
        return runs;
    }

  private:
    /// Lanes whose letters x and y score above zero: y's bit among x's in Scoring::positive.
    static Vec<int8_t, W> similar_letters(const Scoring &scoring, Vec<int8_t, W> x, Vec<int8_t, W> y) {
        using V = Vec<int8_t, W>;
        const V eighth = y & splat<int8_t, W>(0x18);
        V bits = lookup32<W>(scoring.positive, x);
        for (int q = 1; q < 4; ++q)
            bits = eighth == splat<int8_t, W>(static_cast<int8_t>(8 * q)) ? lookup32<W>(scoring.positive + 32 * q, x) : bits;
        V bit{};
        for (int k = 0; k < 8; ++k)
            bit |= (y & splat<int8_t, W>(7)) == splat<int8_t, W>(static_cast<int8_t>(k))
                       ? splat<int8_t, W>(static_cast<int8_t>(1 << k)) : V{};
        return (bits & bit) != V{};
    }

    uint8_t *rows_, *columns_, *operations_;
    size_t end_, begin_;
};

/// The masks of a unit, and how a walk steps through them: a few cells of one direction (diagonal, E or F) at a time.
/// Their places are known beforehand, so that their loads run side by side, and which of them ends a run is one count of
/// zero bits. Cells before the first row or column are read too (MaskLayout::margin) and ignored.
template <class T, int B>
struct MaskMap {
    static constexpr int kMost = 8;
    using Way = ptrdiff_t[kColumns][kMost + 1];  // bytes back, for a first cell in each column of a block
    const Masks<T, B> *masks;
    MaskLayout layout;
    Way diagonal, e, f;

    MaskMap(const Masks<T, B> *masks, const MaskLayout &layout) : masks(masks), layout(layout) {
        fill(diagonal, 1, 1), fill(e, 0, 1), fill(f, 1, 0);
    }

  private:
    void fill(Way &way, int rows, int columns) {
        for (int column = 0; column < kColumns; ++column)
            for (int k = 0; k <= kMost; ++k) {
                const ptrdiff_t blocks = columns ? (kColumns - 1 - column + k) / kColumns : 0;
                const ptrdiff_t cells = k * (columns + rows * kColumns) + blocks * (layout.m - 1) * kColumns;
                way[column][k] = -cells * static_cast<ptrdiff_t>(sizeof(Masks<T, B>));
            }
    }
};

/// The walk back of one lane. Cell (i, j) pairs rows[i - 1] and columns[j - 1].
template <class T, int B, bool Swap, bool Local>
class Walk {
    using Map = MaskMap<T, B>;
    using Bits = typename Lanes<T, B>::Bits;
    static constexpr int kAtOnce = Local ? 8 : 4;  // of a diagonal; measured
    static_assert(kAtOnce % kColumns == 0);        // so that the column in the block stays

  public:
    Walk(const Scoring &scoring, const Map &map, const LanePair &pair, int row_shift, int column_shift, int lane)
        : scoring_(scoring), map_(map), pair_(pair), row_shift_(row_shift - 1),
          column_shift_(column_shift + map.layout.shift - 1), bit_(lane * Lanes<T, B>::bits_a_lane) {}

    /// Fills the starts of `result` from its end cell (row_end, column_end) and score; the columns go to `gapped`.
    void run(LaneResult &result, GappedRows &gapped) {
        const uint8_t *rows = pair_.rows.codes, *columns = pair_.columns.codes;
        int i = result.row_end, j = result.column_end, left = result.score;
        set_out(i, j);
        while (i > 0 && j > 0) {
            const int run = Local ? positive_run(i, j, left) : diagonal_run(i, j);
            gapped.add(rows + i, columns + j, run);
            i -= run, j -= run;
            if (i == 0 || j == 0 || (Local && left == 0)) break;
            // The choice compared last is the one that holds.
            const bool is_e = Swap ? bit(cell_, 0) : !bit(cell_, 1);
            const int k = is_e ? gap_length(map_.e, 2, j) : gap_length(map_.f, 3, i);
            gapped.add(is_e ? nullptr : rows + i, is_e ? columns + j : nullptr, k);
            i -= is_e ? 0 : k, j -= is_e ? k : 0;
            left += scoring_.open + k * scoring_.extend;
            set_out(i, j);
        }
        if (!Local) {
            if (i > 0 && !pair_.free_rows_begin) gapped.add(rows + i, nullptr, i), i = 0;
            if (j > 0 && !pair_.free_columns_begin) gapped.add(nullptr, columns + j, j), j = 0;
        }
        result.row_begin = i;
        result.column_begin = j;
    }

  private:
    /// Puts cell_ on (i, j).
    void set_out(int i, int j) {
        const int column = j + column_shift_;
        in_block_ = column & (kColumns - 1);
        cell_ = reinterpret_cast<const uint8_t *>(map_.masks + static_cast<ptrdiff_t>(column - in_block_) * map_.layout.m +
                                                  static_cast<ptrdiff_t>(i + row_shift_) * kColumns + in_block_);
    }

    [[gnu::always_inline]] Bits word(const uint8_t *cell, int k) const {
        Bits bits;
        std::memcpy(&bits, cell + k * sizeof bits, sizeof bits);
        return bits;
    }
    [[gnu::always_inline]] unsigned bit(const uint8_t *cell, int k) const { return (word(cell, k) >> bit_) & 1; }

    /// Bit k: whether the k-th cell back along the diagonal is entered from a gap; those beyond `most` cells too.
    [[gnu::always_inline]] unsigned gaps(const ptrdiff_t *back, int most) const {
        unsigned bits = 0;
#pragma GCC unroll 8
        for (int k = 0; k < kAtOnce; ++k) {
            const Bits both = word(cell_ + back[k], 0) | word(cell_ + back[k], 1);
            bits |= static_cast<unsigned>((both >> bit_) & 1) << k;
        }
        return bits | (most < kAtOnce ? ~0u << most : 0);
    }

    /// How many cells from cell_ = (i, j) up the diagonal are entered from the diagonal; cell_ goes on to the next one.
    int diagonal_run(int i, int j) {
        const int most = i < j ? i : j;
        const ptrdiff_t *back = map_.diagonal[in_block_];
        for (int run = 0;; run += kAtOnce) {
            if (const unsigned stops = gaps(back, most - run)) {
                const int k = __builtin_ctz(stops);
                move(back, k);
                return run + k;
            }
            cell_ += back[kAtOnce];
        }
    }

    /// The same for the local mode, where the run also ends when its scores have used up `left`.
    int positive_run(int i, int j, int &left) {
        const uint8_t *row = pair_.rows.codes + i - 1, *column = pair_.columns.codes + j - 1;
        const int most = i < j ? i : j;
        const ptrdiff_t *back = map_.diagonal[in_block_];
        for (int run = 0;; cell_ += back[kAtOnce]) {
            const unsigned stops = gaps(back, most - run);
            const int k = stops ? __builtin_ctz(stops) : kAtOnce, end = run + k;
            for (; run < end && left != 0; ++run) left -= scoring_.matrix[row[-run] * kLetters + column[-run]];
            if (left == 0) return run;
            if (!stops) continue;
            move(back, k);
            return run;
        }
    }

    void move(const ptrdiff_t *back, int k) {
        cell_ += back[k];
        in_block_ = (in_block_ - k) & (kColumns - 1);
    }

    /// Residues of the gap that ends in cell_, at most `most`: as long as it was extended into the next cell.
    int gap_length(const typename Map::Way &way, int extended, int most) const {
        constexpr int kFew = 4;
        const ptrdiff_t *back = way[in_block_];
        const uint8_t *cell = cell_;
        unsigned ends = 0;
#pragma GCC unroll 4
        for (int k = 1; k <= kFew; ++k) ends |= (1 - bit(cell + back[k], extended)) << k;
        if (most <= kFew) ends |= 1u << most;
        if (ends) return __builtin_ctz(ends);
        int k = kFew + 1;
        for (; k < most; ++k) {
            if (k % Map::kMost == 0) cell += back[Map::kMost];
            if (!bit(cell + back[k % Map::kMost], extended)) break;
        }
        return k;
    }

    const Scoring &scoring_;
    const Map &map_;
    const LanePair &pair_;
    int row_shift_, column_shift_, bit_, in_block_ = 0;
    const uint8_t *cell_ = nullptr;
};

}  // namespace tropalign::TROPALIGN_ISA
