// Starts of alignments with a known end and score, found in a sweep from their end (docs/exactness.md, "Starts").
//
// Both sequences of a lane run backwards from the end cell, so that the sweep's cell (i, j) is the forward cell (rows -
// 1 - i, columns - 1 - j). Every cell whose score is the known one is a start. The choice of the traceback among
// several starts is not known here: the sweep reports their number and the smallest box that contains them all.
//
//     forward                        as swept
//     +-----------------+            +-----------------+
//     |   a\            |            |\end             |
//     |     \     b\    |            | \               |
//     |      \------\   |            |  \------\       |
//     |              \  |            |   \b     \      |
//     |            end\ |            |           \a    |
//     +-----------------+            +-----------------+
//
// Local: every part of an alignment that ends with it scores more than 0, or a shorter one would score as much. So
// the sweep starts in the corner, above the score that represents zero, and only cells that score more than the
// corner are alive: rows above the first live cell are left out, rows below are added when they come alive, and the
// sweep ends when no cell is alive. An alignment that starts elsewhere starts at zero, below the corner, and gains at
// most the known score, so that it reaches no start; if the corner is less than the known score above zero, such cells
// may count as alive, and then more is swept than necessary. Measured on 100 proteins of 30 to 3,000 residues (Zen 4):
// the whole prefix took 15 us per pair with 32-byte vectors and now takes 4; ends run at 11.0 GCUPS instead of 7.2,
// with AVX-512 at 9.5 instead of 6.5.
//
//     |end                |
//     |ooo                |      o: swept, kAliveRows rows at a time
//     |oooooo             |
//     |   ooooooo         |
//     |       oooooo      |
//     |          o a      |
#pragma once
#include "ends.hpp"

namespace tropalign::TROPALIGN_ISA {

/// The start cells of local alignments: cells that reach the known score. A Tracker of a sweep, like LocalBest.
template <class T, int B>
struct StartHits {
    using V = Vec<T, B>;
    static constexpr int kLanes = Lanes<T, B>::count;
    static constexpr int kRows = 1 << 30;
    static constexpr bool kNotesAll = false;
    struct Noted {
        void begin(V) {}
    };
    const Unit &unit;
    int32_t count[kLanes] = {}, row[kLanes] = {}, column[kLanes] = {};  // number of starts, the furthest from the end
    V corner;                                                           // initial score of each lane, as stored
    V below;                                                            // the corner plus the known score minus 1
    int first = 0;                                                      // row that a sweep numbers 0

    /// `known[l].score` is the score of lane l; lanes that cannot hold theirs are marked as saturated.
    StartHits(const Unit &unit, LaneResult *known, int64_t floor, int64_t limit) : unit(unit) {
        alignas(64) T lanes[kLanes], corners[kLanes];
        for (int l = 0; l < kLanes; ++l) {
            lanes[l] = corners[l] = std::numeric_limits<T>::max();
            if (l >= unit.n_lanes) continue;
            const int64_t score = known[l].score, room = limit - floor - score;
            known[l].saturated = room < 0;
            if (known[l].saturated) continue;
            corners[l] = static_cast<T>(floor + std::min(score, room));
            lanes[l] = static_cast<T>(corners[l] + score - 1);
        }
        below = load<T, B>(lanes), corner = load<T, B>(corners);
    }

    /// Return the lanes' scores in the corner; `floor` in all lanes if none has a score.
    V begin(V floor) const { return below == splat<T, B>(std::numeric_limits<T>::max()) ? floor : corner; }
    /// True if a lane is alive in one of `rows` cells, one below the other.
    bool any_alive(const V *h, int rows) const {
        V top = h[0];
        for (int i = 1; i < rows; ++i) top = vmax(top, h[i]);
        return any_gt<T, B>(top, corner);
    }

    [[gnu::always_inline]] V still_of_interest(V) const { return below; }
    template <bool Mirrored>
    [[gnu::always_inline]] V threshold(V) const {
        return below;
    }
    template <int C, bool Mirrored>
    void settle(const Noted &, V, int, int) {}

    template <int C>
    [[gnu::noinline]] void note(Noted &, const V *h, int i, int j) {
        for (int c = 0; c < C; ++c)
            for (uint64_t bits = widened(gt_bits<T, B>(h[c], below)); bits;) {
                constexpr int bits_per_lane = Lanes<T, B>::bits_per_lane;
                const int l = __builtin_ctzll(bits) / bits_per_lane;
                bits &= ~(((uint64_t{2} << (bits_per_lane - 1)) - 1) << (l * bits_per_lane));
                add(l, first + i, j + c);
            }
    }

    void set_start(int l, LaneResult &out) const {
        if (out.saturated) return;
        out.row_begin = unit.lane[l].rows.length - 1 - row[l];
        out.column_begin = unit.lane[l].columns.length - 1 - column[l];
        out.several_starts = count[l] != 1;
    }

  private:
    /// Count a start. Gaps that cost nothing may lead into the padding: cells there are not starts.
    void add(int l, int i, int j) {
        if (i >= unit.lane[l].rows.length || j >= unit.lane[l].columns.length) return;
        ++count[l];
        row[l] = std::max(row[l], i), column[l] = std::max(column[l], j);
    }
};

/// The start cells of global and semiglobal alignments: H along the sweep's last row or column (see Line), and the
/// cells there that have the known score.
template <class T, int L>
struct StartLine {
    alignas(64) int32_t score[L], known[L], count[L], furthest[L], start[L];

    /// Start like Line. The border's own cell may be a start: then everything before was one gap.
    void begin(int l, int32_t first, int32_t border) {
        score[l] = border;
        start[l] = furthest[l] = first;
        count[l] = border == known[l];
    }

    void take(const T *__restrict steps, int from, int n_cells, int32_t extend, bool track) {
        int32_t *__restrict sum = score, *__restrict hits = count, *__restrict place = furthest;
        const int32_t *__restrict first = start, *__restrict wanted = known;
        for (int k = from; k < from + n_cells; ++k, steps += L)
            for (int l = 0; l < L; ++l) {  // no branch, so that the compiler vectorises it
                const int32_t step = steps[l], is_in = -int32_t{first[l] <= k};
                const int32_t s = sum[l] + ((step - extend) & is_in);
                sum[l] = s;
                if (!track) continue;
                const int32_t hit = -int32_t{s == wanted[l]} & is_in;
                hits[l] -= hit;
                place[l] = ((k + 1) & hit) | (place[l] & ~hit);
            }
    }

    /// Residues of lane l between the end and its furthest start on this line.
    int residues(int l) const { return furthest[l] - start[l]; }
};

/// Set the start of lane l from its two lines: the corner, or, if residues may overhang, a cell of the bottom line
/// (the rows' first residue) or of the right one (the columns').
template <class T, int L>
void set_start(const LanePair &pair, const StartLine<T, L> &bottom, const StartLine<T, L> &right, int l,
               LaneResult &out) {
    const int m = pair.rows.length, n = pair.columns.length;
    const bool at_corner = bottom.score[l] == bottom.known[l];
    int starts = at_corner, rows = at_corner ? m : 0, columns = at_corner ? n : 0;
    if (pair.free_columns_end && bottom.count[l] > at_corner) {
        starts += bottom.count[l] - at_corner;
        rows = m, columns = std::max(columns, bottom.residues(l));
    }
    if (pair.free_rows_end && right.count[l] > at_corner) {
        starts += right.count[l] - at_corner;
        columns = n, rows = std::max(rows, right.residues(l));
    }
    out.row_begin = m - rows;
    out.column_begin = n - columns;
    out.several_starts = starts != 1;
}

}  // namespace tropalign::TROPALIGN_ISA
