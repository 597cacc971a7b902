// One pair with gap costs of two pieces, and separate costs for gaps at the ends: anti-diagonals of the matrix, a
// column per lane.
//
// Rows i (m) carry the longer sequence, columns j (n) the shorter one. With a pair of gap states per piece p,
//   H(i,j)  = max(H(i-1,j-1) + s(i,j), E1(i,j), E2(i,j), F1(i,j), F2(i,j) [, 0 for local])
//   Ep(i,j) = max(Ep(i,j-1) - extend_p, H(i,j-1) - open_p - extend_p)
//   Fp(i,j) = max(Fp(i-1,j) - extend_p, H(i-1,j) - open_p - extend_p)
// (Gotoh 1990: the lesser of two affine costs is concave; each piece is Gotoh's affine recurrence of 1982.) The
// gaps at the ends are those along the border: H(i,0) and H(0,j), E in the last row and F in the last column. Only
// these cells differ, so that the sweep uses the inner costs everywhere and then recomputes these two cells of the
// anti-diagonal. Ties (ties.hpp): a comparison is won by the first of diagonal, E1, E2, F1, F2 and by a gap that
// opens; with one piece this is the rule of the affine engines.
//
//     columns j     0 1 2 3 4        anti-diagonal d = i + j. Cell (d, j) is computed from
//     d = 5         . . o o .            (d - 2, j - 1) diagonally, (d - 1, j - 1) for E, (d - 1, j) for F:
//     d = 4         . o o . .        three lines of H, two of each gap state. Rows run backwards along a line, so that
//     d = 3         o o . . .        both sequences' residues are read as vectors.
//
// A traced cell stores a byte: where H has its score from (kDiagonal ...), and which gap states continue. If all
// bytes would take too much memory, some lines are kept as checkpoints, and the part that the path can reach
// before the next checkpoint is swept again: K anti-diagonals hold a triangle of K columns to the left of the
// current cell.
//
//     j0       j      cells left of j0 or right of j at a checkpoint (#) are not
//     # # # # # . .   needed by the cell (o) K anti-diagonals later
//       \ : : : .
//         \ : : .
//             o
//
// Operations per vector: 21 with one piece and 33 with two, without directions, excluding the look-up of the
// scores.
//
// Further alignments of a pair (local): a cell that an earlier alignment has taken scores so low that no path
// enters it by the diagonal; the tie rule is the same.
#pragma once
#include <limits>

#include "band_scores.hpp"
#include "ends.hpp"
#include "path.hpp"
#include "piece_costs.hpp"
#include "taken_pairs.hpp"

namespace tropalign::TROPALIGN_ISA {

/// Origin of the score of a cell's H.
enum : uint8_t { kDiagonal, kFirstE, kSecondE, kFirstF, kSecondF, kStart };
inline constexpr uint8_t kSource = 7,
                         kGoesOn = 8;  // kGoesOn << (state - kFirstE): the gap has a residue before this one

/// The number of anti-diagonals between checkpoints: all if their bytes fit, else the number that takes the least
/// memory.
struct PieceBlocks {
    static constexpr int64_t kMostBytes = int64_t{16} << 20;
    int64_t lines, count;  // lines of a block; number of checkpoints

    PieceBlocks(const LanePair &pair, int64_t line_bytes) {
        const int64_t m = pair.rows.length, n = pair.columns.length, all = m + n + 1;
        lines = all, count = 0;
        if (all * (n + 1 + kVectorBytes) <= kMostBytes) return;
        // Balance a block of lines^2 bytes against all / lines checkpoints of line_bytes each.
        for (lines = 1024; lines < all && lines * lines * lines < all * line_bytes; lines += lines / 4) continue;
        lines = std::min(lines, all);
        count = all / lines + 1;
    }
};

template <class T, bool Two, Mode M>
class PiecePair {
    static_assert(M == Mode::local || M == Mode::global);
    static constexpr bool kLocal = M == Mode::local;
    static constexpr int B = kVectorBytes, L = Lanes<T, B>::count, kPieces = Two ? 2 : 1;
    static constexpr int kLines = 3 + 4 * kPieces;  // number of lines of T
    using V = Vec<T, B>;
    using Bytes = Vec<int8_t, L>;
    using State = T *[2];  // a gap state of this anti-diagonal and the previous one

  public:
    /// `taken`: null, or for local mode.
    PiecePair(const Scoring &scoring, const PieceCosts &costs, const LanePair &pair, const TakenPairs *taken,
              UnitScratch &scratch)
        : scoring_(scoring), costs_(costs), pair_(pair), taken_(taken), scratch_(scratch), m_(pair.rows.length),
          n_(pair.columns.length), width_(n_ + 1 + 2 * kVectorBytes), traced_(scoring.depth != Depth::score),
          other_ends_(!kLocal && costs.other_ends()), blocks_(pair, line_bytes(pair)) {}

    static size_t bytes(const Scoring &scoring, const LanePair &pair) {
        const int64_t m = pair.rows.length, n = pair.columns.length, width = n + 1 + 2 * kVectorBytes;
        size_t sum = state_bytes(width) + letter_bytes(m, n) + UnitScratch::taken(sizeof(T) * width);
        if (scoring.depth == Depth::score) return sum;
        const PieceBlocks blocks(pair, line_bytes(pair));
        sum += UnitScratch::taken(trace_bytes(blocks, n)) + UnitScratch::taken(blocks.count * line_bytes(pair));
        return sum + UnitScratch::taken(GappedRows::bytes(m + n + 2)) + UnitScratch::taken(sizeof(uint32_t) * (m + n));
    }

    void run(LaneResult &result) {
        scratch_.begin(bytes(scoring_, pair_));
        result = LaneResult{};
        place_letters();
        place_lines();
        if (traced_) {
            trace_ = static_cast<uint8_t *>(scratch_.get(Slot::masks, trace_bytes(blocks_, n_)));
            kept_ = static_cast<T *>(scratch_.get(Slot::border, blocks_.count * line_bytes(pair_)));
        }
        begin();
        const bool at_once = traced_ && blocks_.count == 0;
        for (int64_t d = 1; d <= int64_t{m_} + n_; ++d) {
            if ((d - 1) % blocks_.lines == 0 && traced_ && !at_once) keep_lines((d - 1) / blocks_.lines);
            if (d % kLinesPerLook == 0 && scratch_.is_stopped()) return;
            at_once ? line<true>(d, 0, n_) : line<false>(d, 0, n_);
            note_ends(d);
        }
        scratch_.useful_cells += static_cast<uint64_t>(m_) * n_;
        scratch_.swept_cells += static_cast<uint64_t>(m_) * n_;
        set_end(result);
        if (traced_ && !(kLocal && result.score == 0)) walk(result, at_once);
    }

  private:
    static constexpr int kLinesPerLook = 256;
    /// Score of a taken pair: so low that the diagonal is never better than a new start.
    static constexpr T kNever = -std::numeric_limits<T>::max();
    using Best = Line<T, 1>;

    static int64_t line_bytes(const LanePair &pair) {
        return sizeof(T) * (2 + 2 * kPieces) * (pair.columns.length + 1 + 2 * kVectorBytes);
    }
    static size_t state_bytes(int64_t width) {
        return UnitScratch::taken(sizeof(T) * kLines * width) + 2 * sizeof(T) * width;
    }
    static size_t letter_bytes(int64_t m, int64_t n) {
        return UnitScratch::taken(2 * (m + 3 * kVectorBytes)) + UnitScratch::taken(2 * (n + 3 * kVectorBytes));
    }
    /// Bytes of a line of directions: all columns, or those that a block can reach.
    static int64_t trace_width(const PieceBlocks &blocks, int64_t n) {
        return std::min<int64_t>(n, blocks.lines) + 1 + kVectorBytes;
    }
    static size_t trace_bytes(const PieceBlocks &blocks, int64_t n) {
        return blocks.lines * trace_width(blocks, n) + kVectorBytes;
    }

    /// Store residues as numbers of a table of scores if it holds them all, else as they are; rows backwards.
    void place_letters() {
        rows_ = static_cast<uint8_t *>(scratch_.get(Slot::row_letters, 2 * (m_ + 3 * kVectorBytes)));
        groups_ = rows_ + m_ + 3 * kVectorBytes;
        columns_ = static_cast<uint8_t *>(scratch_.get(Slot::column_letters, 2 * (n_ + 3 * kVectorBytes)));
        scores_ = static_cast<T *>(scratch_.get(Slot::scores, sizeof(T) * width_));
        std::memset(rows_, 0, 2 * (m_ + 3 * kVectorBytes));
        std::memset(columns_, 0, 2 * (n_ + 3 * kVectorBytes));
        if constexpr (kLooksUp128)
            if (place_numbers(many_)) return;
        if (place_numbers(few_)) return;
        for (int i = 0; i < m_; ++i) rows_[m_ - 1 - i] = pair_.rows.codes[i];
        for (int j = 0; j < n_; ++j) columns_[j] = pair_.columns.codes[j];
        if (!scoring_.track) return;
        // The second track of rows is in the place of groups, which only tables use.
        for (int i = 0; i < m_; ++i) groups_[m_ - 1 - i] = pair_.rows.codes[scoring_.track + i];
        for (int j = 0; j < n_; ++j) columns_[track_columns() + j] = pair_.columns.codes[scoring_.track + j];
    }
    /// Return the distance from a column's residue to that of the second track.
    int64_t track_columns() const { return n_ + 3 * kVectorBytes; }
    template <class Table>
    bool place_numbers(std::optional<Table> &table) {
        if (!Table::suits(scoring_, pair_)) return false;
        table.emplace(scoring_, pair_);
        for (int i = 0; i < m_; ++i) {
            rows_[m_ - 1 - i] = table->number_of_row(pair_.rows.codes[i]);
            groups_[m_ - 1 - i] = table->group_of_row(pair_.rows.codes[i]);
        }
        for (int j = 0; j < n_; ++j) columns_[j] = table->number_of_column(pair_.columns.codes[j]);
        return true;
    }

    void place_lines() {
        T *memory = static_cast<T *>(scratch_.get(Slot::state, sizeof(T) * kLines * width_));
        std::memset(memory, 0, sizeof(T) * kLines * width_);
        for (T *&h : H_) h = memory, memory += width_;
        for (int p = 0; p < kPieces; ++p)
            for (int k = 0; k < 2; ++k) {
                E_[p][k] = memory, memory += width_;
                F_[p][k] = memory, memory += width_;
            }
        top_ = static_cast<T *>(scratch_.get(Slot::heads, 2 * sizeof(T) * width_));
        at_ = top_ + width_;
        std::memset(top_, 0, 2 * sizeof(T) * width_);
    }

    /// Return H of the border, k residues from the corner.
    T border(int64_t k, bool is_free) const {
        return static_cast<T>(kLocal || is_free || k == 0 ? 0 : -cost_of(costs_.ends, k));
    }
    /// Set cell (i, j) on the border: no gap state there is better than opening one from H.
    void set_border(int64_t d, int j, bool is_free) {
        const T h = border(d, is_free);
        H_[0][j] = h;
        for (int p = 0; p < kPieces; ++p)
            E_[p][0][j] = F_[p][0][j] = static_cast<T>(h - std::max(costs_.inner[p].open, costs_.ends[p].open));
    }

    void begin() {
        set_border(0, 0, true);
        bottom_.begin(0, 0, border(m_, pair_.free_rows_begin));
        right_.begin(0, 0, border(n_, pair_.free_columns_begin));
    }

    /// Compute columns [from, to] of anti-diagonal d.
    template <bool Trace>
    void line(int64_t d, int64_t from, int64_t to) {
        std::swap(H_[2], H_[1]), std::swap(H_[1], H_[0]);
        for (int p = 0; p < kPieces; ++p) std::swap(E_[p][0], E_[p][1]), std::swap(F_[p][0], F_[p][1]);
        const int64_t low = std::max({int64_t{1}, d - m_, from}), high = std::min({int64_t{n_}, d - 1, to});
        uint8_t *trace = Trace ? trace_ + (d - trace_line_) * trace_width(blocks_, n_) - trace_column_ : nullptr;
        if (low <= high) {
            fill_scores(d, low, high);
            if (kLocal && taken_) taken_->for_line(d, [&](int32_t j) { scores_[j] = kNever; });
            sweep<Trace>(d, low, high, trace);
            if (other_ends_ && low == d - m_ && !pair_.free_columns_end) end_cell<Trace>(d, low, trace);
            if (other_ends_ && high == n_ && !pair_.free_rows_end) end_cell<Trace>(d, n_, trace);
        }
        if (d <= m_) set_border(d, 0, pair_.free_rows_begin);
        if (d <= n_) set_border(d, static_cast<int>(d), pair_.free_columns_begin);
    }

    void fill_scores(int64_t d, int64_t low, int64_t high) {
        const uint8_t *rows = rows_ + m_ - d, *groups = groups_ + m_ - d, *columns = columns_ - 1;
        if constexpr (kLooksUp128)
            if (many_) return fill(*many_, rows, groups, columns, low, high);
        if (few_) return fill(*few_, rows, groups, columns, low, high);
        for (int64_t j = low; j <= high; ++j)
            scores_[j] = static_cast<T>(scoring_.matrix[rows[j] * kLetters + columns[j]]);
        if (!scoring_.track) return;
        const uint8_t *others = columns + track_columns();
        for (int64_t j = low; j <= high; ++j)
            scores_[j] += static_cast<T>(scoring_.track_scores[groups[j] * kLetters + others[j]]);
    }
    template <class Table>
    void fill(const Table &table, const uint8_t *rows, const uint8_t *groups, const uint8_t *columns, int64_t low,
              int64_t high) {
        alignas(64) int8_t narrow[kVectorBytes];
        for (int64_t j = low; j <= high; j += kVectorBytes) {
            store<int8_t, kVectorBytes>(narrow, table.score(rows + j, groups + j, columns + j));
            for (int k = 0; k < kVectorBytes; k += L) store<T, B>(scores_ + j + k, widen<T, B>(narrow + k));
        }
    }

    /// Compute cells with the inner costs.
    template <bool Trace>
    void sweep(int64_t d, int64_t low, int64_t high, uint8_t *trace) {
        V extend[kPieces], first[kPieces];
        for (int p = 0; p < kPieces; ++p) {
            extend[p] = splat<T, B>(static_cast<T>(costs_.inner[p].extend));
            first[p] = splat<T, B>(static_cast<T>(costs_.inner[p].open + costs_.inner[p].extend));
        }
        const V line = splat<T, B>(static_cast<T>(d));
        // The last vector also covers positions beyond the line, which are not cells. The next line overwrites them,
        // except those of top_ and at_, which are saved here.
        const V top_beyond = load<T, B>(top_ + high + 1), at_beyond = load<T, B>(at_ + high + 1);
        for (int64_t j = low; j <= high; j += L) {
            V best = load<T, B>(H_[2] + j - 1) + load<T, B>(scores_ + j);
            const V left = load<T, B>(H_[1] + j - 1), above = load<T, B>(H_[1] + j);
            [[maybe_unused]] V source{}, going{};
            auto gap = [&](const State &state, int64_t before, V opened, V step,
                           int name) __attribute__((always_inline)) {
                const V on = load<T, B>(state[1] + before) - step, x = vmax(on, opened);
                if constexpr (Trace) {
                    source = x > best ? splat<T, B>(static_cast<T>(name)) : source;
                    going |= on > opened ? splat<T, B>(static_cast<T>(kGoesOn << (name - kFirstE))) : V{};
                }
                store<T, B>(state[0] + j, x);
                best = vmax(best, x);
            };
            for (int p = 0; p < kPieces; ++p) gap(E_[p], j - 1, left - first[p], extend[p], kFirstE + p);
            for (int p = 0; p < kPieces; ++p) gap(F_[p], j, above - first[p], extend[p], kFirstF + p);
            if constexpr (kLocal) {
                if constexpr (Trace) source = best > V{} ? source : splat<T, B>(T{kStart});
                best = vmax(best, V{});
                const V top = load<T, B>(top_ + j);
                const auto is_better = best > top;
                store<T, B>(at_ + j, is_better ? line : load<T, B>(at_ + j));
                store<T, B>(top_ + j, is_better ? best : top);
            }
            store<T, B>(H_[0] + j, best);
            if constexpr (Trace) store_bytes(trace + j, source | going);
        }
        if constexpr (kLocal) store<T, B>(top_ + high + 1, top_beyond), store<T, B>(at_ + high + 1, at_beyond);
    }

    static void store_bytes(uint8_t *to, V source) {
        const auto narrow = __builtin_convertvector(source, Bytes);
        std::memcpy(to, &narrow, sizeof(narrow));
    }

    /// Recompute the cell in column j, in the last row or the last column or both: gaps that end there may have
    /// other costs.
    template <bool Trace>
    void end_cell(int64_t d, int64_t j, uint8_t *trace) {
        const bool in_last_row = d - j == m_ && !pair_.free_columns_end,
                   in_last_column = j == n_ && !pair_.free_rows_end;
        const GapPiece *along_row = in_last_row ? costs_.ends : costs_.inner;
        const GapPiece *along_column = in_last_column ? costs_.ends : costs_.inner;
        int32_t best = H_[2][j - 1] + scores_[j];
        uint8_t source = kDiagonal, goes_on = 0;
        auto gap = [&](const State &state, int64_t before, const GapPiece &piece, int name) {
            const int32_t opened = H_[1][before] - piece.open - piece.extend, on = state[1][before] - piece.extend;
            const int32_t x = std::max(on, opened);
            if (on > opened) goes_on |= static_cast<uint8_t>(kGoesOn << (name - kFirstE));
            if (x > best) best = x, source = static_cast<uint8_t>(name);
            state[0][j] = static_cast<T>(x);
        };
        for (int p = 0; p < kPieces; ++p) gap(E_[p], j - 1, along_row[p], kFirstE + p);
        for (int p = 0; p < kPieces; ++p) gap(F_[p], j, along_column[p], kFirstF + p);
        H_[0][j] = static_cast<T>(best);
        if constexpr (Trace) trace[j] = source | goes_on;
    }

    /// Update the best of the last row and the last column with anti-diagonal d.
    void note_ends(int64_t d) {
        if (kLocal) return;
        if (d > m_) note(bottom_, H_[0][d - m_], d - m_);
        if (d > n_) note(right_, H_[0][n_], d - n_);
    }
    static void note(Best &line, int32_t score, int64_t at) {
        line.score[0] = score;
        if (later_ends(score, line.best[0])) line.best[0] = score, line.at[0] = static_cast<int32_t>(at);
    }

    void set_end(LaneResult &result) const {
        if constexpr (!kLocal) return tropalign::TROPALIGN_ISA::set_end<false>(pair_, bottom_, right_, 0, result);
        int32_t best = 0;
        for (int j = 1; j <= n_; ++j)
            if (top_[j] > best) best = top_[j], result.row_end = at_[j] - j, result.column_end = j;
        result.score = best;
    }

    // Traceback.

    T *kept(int64_t checkpoint) const { return kept_ + checkpoint * (line_bytes(pair_) / sizeof(T)); }
    /// Visit the lines in the order in which they are kept.
    template <class Each>
    void for_lines(Each each) const {
        each(H_[0]), each(H_[1]);
        for (int p = 0; p < kPieces; ++p) each(E_[p][0]), each(F_[p][0]);
    }
    void keep_lines(int64_t checkpoint) const {
        T *to = kept(checkpoint);
        for_lines([&](const T *line) { std::copy_n(line, width_, to), to += width_; });
    }
    /// Compute the directions of the cells that the path may have crossed on its way to cell (i, j).
    void trace_before(int64_t i, int64_t j) {
        const int64_t end = i + j, checkpoint = (end - 1) / blocks_.lines;
        trace_line_ = checkpoint * blocks_.lines + 1;
        trace_column_ = std::max<int64_t>(0, j - (end - trace_line_ + 1));
        const T *from = kept(checkpoint);
        for_lines([&](T *line) { std::copy_n(from, width_, line), from += width_; });
        for (int64_t d = trace_line_; d <= end; ++d) {
            if (d % kLinesPerLook == 0 && scratch_.is_stopped()) return;
            line<true>(d, trace_column_, j);
        }
    }

    void walk(LaneResult &result, bool at_once) {
        GappedRows gapped(scratch_.get(Slot::gapped, GappedRows::bytes(m_ + n_ + 2)), m_ + n_ + 2);
        const uint8_t *rows = pair_.rows.codes, *columns = pair_.columns.codes;
        int64_t i = result.row_end, j = result.column_end;
        trace_line_ = at_once ? 1 : i + j + 1;
        uint8_t state = kDiagonal;  // or the gap that the path is in
        int run = 0;                // number of steps of the current kind
        // Steps are written when their kind changes: i and j have moved on by then.
        auto add = [&](bool has_row, bool has_column) {
            gapped.add(has_row ? rows + i + run : nullptr, has_column ? columns + j + run : nullptr, run);
            run = 0;
        };
        while (i > 0 && j > 0) {
            if (i + j < trace_line_) trace_before(i, j);
            if (scratch_.is_stopped()) return;
            const uint8_t cell = trace_[(i + j - trace_line_) * trace_width(blocks_, n_) + j - trace_column_];
            if (state == kDiagonal) {
                const uint8_t source = cell & kSource;
                if (source == kDiagonal) {
                    ++run, --i, --j;
                    continue;
                }
                add(true, true);
                if (source == kStart) break;
                state = source;
            }
            const bool is_e = state < kFirstF, goes_on = cell & kGoesOn << (state - kFirstE);
            ++run;
            (is_e ? j : i) -= 1;
            if (!goes_on) {
                add(!is_e, is_e);
                state = kDiagonal;
            }
        }
        add(true, true);
        if (!kLocal) {  // the rest of one sequence is one gap, or overhangs
            if (i > 0 && !pair_.free_rows_begin) gapped.add(rows + i, nullptr, static_cast<int>(i)), i = 0;
            if (j > 0 && !pair_.free_columns_begin) gapped.add(nullptr, columns + j, static_cast<int>(j)), j = 0;
        }
        result.row_begin = static_cast<int32_t>(i), result.column_begin = static_cast<int32_t>(j);
        if (scoring_.depth != Depth::alignment) return;
        gapped.count(scoring_, result);
        auto *path = static_cast<uint32_t *>(scratch_.get(Slot::paths, sizeof(uint32_t) * (gapped.runs() + 1)));
        result.path_length = gapped.encode(path);
        result.path = path;
    }

    const Scoring &scoring_;
    const PieceCosts &costs_;
    const LanePair &pair_;
    const TakenPairs *const taken_;
    UnitScratch &scratch_;
    const int m_, n_;
    const int64_t width_;
    const bool traced_, other_ends_;
    const PieceBlocks blocks_;
    std::optional<FewLetters> few_;
    std::optional<ManyLetters> many_;
    uint8_t *rows_ = nullptr, *groups_ = nullptr, *columns_ = nullptr, *trace_ = nullptr;
    int64_t trace_line_ = 1, trace_column_ = 0;  // the first line and column that have directions
    T *scores_ = nullptr, *top_ = nullptr, *at_ = nullptr, *kept_ = nullptr;
    T *H_[3] = {}, *E_[kPieces][2] = {}, *F_[kPieces][2] = {};  // of this anti-diagonal and of previous ones
    Best bottom_, right_;
};

}  // namespace tropalign::TROPALIGN_ISA
