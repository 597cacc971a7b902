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
    [[gnu::always_inline]] size_t cell(int i, int j) const {
        int column = j + shift, in_block = column & (kColumns - 1);
        return static_cast<size_t>(column - in_block) * m + static_cast<size_t>(i) * kColumns + in_block;
    }
};

inline constexpr uint8_t kOnlyRow = 1, kOnlyColumn = 2, kEqual = 7, kDifferent = 8;  // BAM codes, rows as query

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
        size_t to = begin_;
        for (int left = length; left > 0; left -= W, to -= W) {  // sequences have kCodeMargin readable bytes before them
            copy(rows_ + to - W, row);
            copy(columns_ + to - W, column);
            if (row) row -= W;
            if (column) column -= W;
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
        }
        similar = count_similar(scoring, a, b, n);
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
    /// Columns whose letters score above zero. (GCC 12 would gather, lane by lane: slower than one after another.)
    [[gnu::noinline, gnu::optimize("no-tree-vectorize")]] static int count_similar(const Scoring &scoring, const uint8_t *a,
                                                                                 const uint8_t *b, int n) {
        int similar = 0;
        for (int c = 0; c < n; ++c) similar += scoring.matrix[a[c] * kLetters + b[c]] > 0;
        return similar;
    }

    [[gnu::always_inline]] static void copy(uint8_t *to, const uint8_t *end) {
        store<int8_t, W>(to, end ? load<int8_t, W>(end - W) : splat<int8_t, W>(kPadCode));
    }

    uint8_t *rows_, *columns_, *operations_;
    size_t end_, begin_;
};

/// The walk back of one lane. Cells are named by the letters that they pair: (i, j) pairs rows[i] and columns[j].
template <class T, int B, bool Swap>
class Walk {
  public:
    Walk(const Scoring &scoring, const LanePair &pair, const MaskLayout &layout, const Masks<T, B> *masks, int row_shift,
         int column_shift, int lane)
        : scoring_(scoring), pair_(pair), masks_(masks), layout_(layout), row_shift_(row_shift),
          column_shift_(column_shift), bit_(lane * Lanes<T, B>::bits_a_lane) {}

    /// Fills the starts of `result` from its end cell (row_end, column_end) and score; the columns go to `gapped`.
    void run(LaneResult &result, GappedRows &gapped) const {
        const bool local = scoring_.mode == Mode::local;
        const uint8_t *rows = pair_.rows.codes, *columns = pair_.columns.codes;
        int i = result.row_end, j = result.column_end, left = result.score;
        while (i > 0 && j > 0) {
            const int run = local ? positive_run(i, j, left) : diagonal_run(i, j);
            if (run > 0) {
                gapped.add(rows + i, columns + j, run);
                i -= run, j -= run;
                if (i == 0 || j == 0) break;
            }
            if (local && left == 0) break;
            // The choice compared last is the one that holds.
            const Masks<T, B> &cell = at(i - 1, j - 1);
            const bool e_wins = (cell.word[0] >> bit_) & 1, f_wins = (cell.word[1] >> bit_) & 1;
            int k = 0;
            if (Swap ? e_wins : !f_wins) {
                do ++k;
                while (j > k && ((at(i - 1, j - k - 1).word[2] >> bit_) & 1));
                gapped.add(nullptr, columns + j, k);
                j -= k;
            } else {
                do ++k;
                while (i > k && ((at(i - k - 1, j - 1).word[3] >> bit_) & 1));
                gapped.add(rows + i, nullptr, k);
                i -= k;
            }
            left += scoring_.open + k * scoring_.extend;
        }
        if (!local) {
            if (i > 0 && !pair_.free_rows_begin) gapped.add(rows + i, nullptr, i), i = 0;
            if (j > 0 && !pair_.free_columns_begin) gapped.add(nullptr, columns + j, j), j = 0;
        }
        result.row_begin = i;
        result.column_begin = j;
    }

  private:
    [[gnu::always_inline]] const Masks<T, B> &at(int i, int j) const {
        return masks_[layout_.cell(i + row_shift_, j + column_shift_)];
    }

    /// How many cells from (i-1, j-1) up the diagonal are entered from the diagonal; at most min(i, j). Eight at a time,
    /// their addresses known beforehand, so that their loads run side by side and one branch serves eight.
    int diagonal_run(int i, int j) const {
        constexpr int kAtOnce = 8;
        const int most = i < j ? i : j;
        const size_t block_step = (static_cast<size_t>(layout_.m) - 1) * kColumns;
        int run = 0;
        for (; run + kAtOnce <= most; run += kAtOnce) {
            const Masks<T, B> *cell = &at(i - 1 - run, j - 1 - run);
            const unsigned before_edge = kColumns - 1 - ((j - 1 - run + column_shift_ + layout_.shift) & (kColumns - 1));
            unsigned gaps = 0;
#pragma GCC unroll 8
            for (unsigned k = 0; k < kAtOnce; ++k) {
                const Masks<T, B> *c = cell - (kColumns + 1) * k - (before_edge + k) / kColumns * block_step;
                gaps |= static_cast<unsigned>(((c->word[0] | c->word[1]) >> bit_) & 1) << k;
            }
            if (gaps) return run + __builtin_ctz(gaps);
        }
        for (; run < most; ++run) {
            const Masks<T, B> &cell = at(i - 1 - run, j - 1 - run);
            if (((cell.word[0] | cell.word[1]) >> bit_) & 1) break;
        }
        return run;
    }

    /// The same for the local mode, where the run also ends when its scores have used up `left`.
    int positive_run(int i, int j, int &left) const {
        const uint8_t *row = pair_.rows.codes + i - 1, *column = pair_.columns.codes + j - 1;
        const int most = i < j ? i : j;
        int run = 0;
        for (; run < most && left != 0; ++run) {
            const Masks<T, B> &cell = at(i - 1 - run, j - 1 - run);
            if (((cell.word[0] | cell.word[1]) >> bit_) & 1) break;
            left -= scoring_.matrix[row[-run] * kLetters + column[-run]];
        }
        return run;
    }

    const Scoring &scoring_;
    const LanePair &pair_;
    const Masks<T, B> *masks_;
    MaskLayout layout_;
    int row_shift_, column_shift_, bit_;
};

}  // namespace tropalign::TROPALIGN_ISA
