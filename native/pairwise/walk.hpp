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

/// Runs of a path, written from its last column to its first.
class PathWriter {
  public:
    explicit PathWriter(uint32_t *end) : head_(end), end_(end) {}
    [[gnu::always_inline]] void add(uint32_t operation, int length) {
        if (head_ != end_ && (*head_ & 15) == operation) *head_ += static_cast<uint32_t>(length) << 4;
        else *--head_ = static_cast<uint32_t>(length) << 4 | operation;
    }
    const uint32_t *begin() const { return head_; }
    int length() const { return static_cast<int>(end_ - head_); }

  private:
    uint32_t *head_, *end_;
};

inline constexpr uint32_t kOnlyRow = 1, kOnlyColumn = 2, kEqual = 7, kDifferent = 8;

/// Matches and mismatches of `length` paired letters that end before `a` and `b`; returns how many are equal.
inline int add_diagonal(PathWriter &path, const uint8_t *a, const uint8_t *b, int length) {
    constexpr int W = kVectorBytes;
    int equal = 0;
    while (length > 0) {
        int n = length < W ? length : W;
        a -= W, b -= W;  // sequences have kCodeMargin readable bytes before them
        auto x = load<int8_t, W>(a), y = load<int8_t, W>(b);
        uint64_t different = uint64_t{gt_bits<int8_t, W>(x, y)} | gt_bits<int8_t, W>(y, x);
        uint64_t bits = different << (64 - W);  // the last letter is the highest bit
        int left = n;
        equal += n - __builtin_popcountll(bits & (~uint64_t{0} << (64 - n)));
        while (left > 0) {
            bool is_different = bits >> 63;
            uint64_t run_bits = is_different ? ~bits : bits;
            int run = run_bits ? __builtin_clzll(run_bits) : 64;
            if (run > left) run = left;
            path.add(is_different ? kDifferent : kEqual, run);
            bits = run < 64 ? bits << run : 0;
            left -= run;
        }
        length -= n;
        a += W - n, b += W - n;
    }
    return equal;
}

/// The walk back of one lane. Cells are named by the letters that they pair: (i, j) pairs rows[i] and columns[j].
template <class T, int B, bool Swap>
class Walk {
  public:
    Walk(const Scoring &scoring, const LanePair &pair, const MaskLayout &layout, const Masks<T, B> *masks, int row_shift,
         int column_shift, int lane)
        : scoring_(scoring), pair_(pair), masks_(masks), layout_(layout), row_shift_(row_shift),
          column_shift_(column_shift), bit_(lane * Lanes<T, B>::bits_a_lane) {}

    /// Fills the starts, counts and path of `result` from its end cell (row_end, column_end) and score.
    void run(LaneResult &result, uint32_t *path_end) const {
        const bool local = scoring_.mode == Mode::local, wants_path = scoring_.depth == Depth::alignment;
        PathWriter path(path_end);
        int i = result.row_end, j = result.column_end, left = result.score;
        int similar = 0, identical = 0, gaps = 0, aligned = 0;
        auto gap = [&](uint32_t operation, int k) {
            path.add(operation, k);
            gaps += k;
        };
        while (i > 0 && j > 0 && !(local && left == 0)) {
            int run = diagonal_run(i, j);
            if (run > 0) {
                run = score_run(i, j, run, local, left, similar);
                if (wants_path) identical += add_diagonal(path, pair_.rows.codes + i, pair_.columns.codes + j, run);
                aligned += run, i -= run, j -= run;
                if (i == 0 || j == 0 || (local && left == 0)) break;
            }
            // The choice compared last is the one that holds.
            const Masks<T, B> &cell = at(i - 1, j - 1);
            bool e_wins = (cell.word[0] >> bit_) & 1, f_wins = (cell.word[1] >> bit_) & 1;
            int k = 0;
            if (Swap ? e_wins : !f_wins) {
                do ++k, --j;
                while (j > 0 && ((at(i - 1, j - 1).word[2] >> bit_) & 1));
                gap(kOnlyColumn, k);
            } else {
                do ++k, --i;
                while (i > 0 && ((at(i - 1, j - 1).word[3] >> bit_) & 1));
                gap(kOnlyRow, k);
            }
            left += scoring_.open + k * scoring_.extend;
        }
        if (!local) {
            if (i > 0 && !pair_.free_rows_begin) gap(kOnlyRow, i), i = 0;
            if (j > 0 && !pair_.free_columns_begin) gap(kOnlyColumn, j), j = 0;
        }
        result.row_begin = i;
        result.column_begin = j;
        result.identical = identical;
        result.similar = similar;
        result.gaps = gaps;
        result.columns = aligned + gaps;
        result.path = path.begin();
        result.path_length = path.length();
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
            const int before_edge = kColumns - 1 - ((j - 1 - run + column_shift_ + layout_.shift) & (kColumns - 1));
            unsigned gaps = 0;
#pragma GCC unroll 8
            for (int k = 0; k < kAtOnce; ++k) {
                const Masks<T, B> *c = cell - (kColumns + 1) * k - static_cast<size_t>((before_edge + k) / kColumns) * block_step;
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

    /// Takes the scores of a diagonal run off `left`; in local mode the run ends where nothing is left.
    int score_run(int i, int j, int run, bool local, int &left, int &similar) const {
        const uint8_t *row = pair_.rows.codes + i, *column = pair_.columns.codes + j;
        for (int k = 1; k <= run; ++k) {
            int s = scoring_.matrix[row[-k] * kLetters + column[-k]];
            similar += s > 0;
            left -= s;
            if (local && left == 0) return k;
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
