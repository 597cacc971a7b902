// The placement kernels of this instruction set (recurrence below; PaPaRa: Berger and Stamatakis 2011).
#include <algorithm>
#include <bit>

#include "../simd/vec.hpp"
#include "interface.hpp"

namespace tropalign::TROPALIGN_ISA {

// Scores of a read against 64 branches, one lane per branch (the inter-reference organisation of Alachiotis et al.
// 2012).
//
//     E(b,a) = max(H(b,a-1) - (c ? 0 : gap_open), E(b,a-1) - (c ? 0 : gap_extend))  column a left out; c: its gap flag
//     F(b,a) = max(H(b-1,a) - insert_open, F(b-1,a) - insert_extend)                base b inserted
//     H(b,a) = max(H(b-1,a-1) + (a has b's state ? match : mismatch) + (c ? on_gap : 0), E(b,a), F(b,a))
//
// Columns are processed in strips of two or four, whose F and H stay in registers; H and E of a strip's last
// column go through an array with one entry per base. Nine instructions per cell.

/// An 8-bit lane holds how far H is below the maximum that the bases so far can score, and the highest number
/// means no difference:
///
///     lane = 127 - (gain (b + 1) - H(b,a))            gain: the maximum score of a base
///
/// A step never increases this number, so that a lane that reaches the lowest number, where lanes saturate, stays
/// there. Such a score is 255 or more below the maximum, and counts as 0: for a read of n bases, scores above gain n -
/// 255 are exact. For a short read these are all scores (place_word_bits). Wider lanes hold H itself.
template <class T>
class PlaceSweep {
    static constexpr bool kIsLack = sizeof(T) == 1;
    static constexpr T kImpossible = sizeof(T) == 4 ? -(1 << 29) : std::numeric_limits<T>::min();
    /// kTop: H of the row above the first; kDead: a value that is never live (see `limit`).
    static constexpr T kTop = kIsLack ? 127 : 0, kDead = kIsLack ? kImpossible : 0;
    static constexpr int kBytes = kVectorBytes, kLanes = kBytes / static_cast<int>(sizeof(T));
    static constexpr int kStrip = kVectorRegisters == 32 ? 4 : 2;
    static constexpr int kBlock = 8;  // rows that are tested together
    using V = Vec<T, kBytes>;

  public:
    PlaceSweep(const PlaceScoring &scoring, const LanePlanes &planes, const ReadLetters &read, PlaceScratch &scratch)
        : planes_(planes), read_(read), match_score_(scoring.match), gain_(kIsLack ? gain_of(scoring) : 0),
          match_(splat<T, kBytes>(static_cast<T>(scoring.match - scoring.mismatch))),
          mismatch_(splat<T, kBytes>(static_cast<T>(scoring.mismatch - gain_))),
          on_gap_(splat<T, kBytes>(static_cast<T>(scoring.on_gap))),
          gap_open_(splat<T, kBytes>(static_cast<T>(scoring.gap_open))),
          gap_extend_(splat<T, kBytes>(static_cast<T>(scoring.gap_extend))),
          gap_goes_on_(splat<T, kBytes>(static_cast<T>(std::min(scoring.gap_open, scoring.gap_extend)))),
          inserts_{splat<T, kBytes>(static_cast<T>(scoring.insert_open + gain_)),
                   splat<T, kBytes>(static_cast<T>(scoring.insert_extend + gain_))} {
        scratch.rows.resize((2 * static_cast<size_t>(read.length) + 2) * kBytes + 64);
        scratch.profile.resize(static_cast<size_t>(read.n_sets) * kStrip * kBytes + 64);
        rows_ = aligned(scratch.rows), profile_ = aligned(scratch.profile);
    }

    /// Score the lanes from `first_lane` on, with all four ends free. Scores of `least` or more are exact, others
    /// never too high.
    void run(int first_lane, int32_t least, int32_t *score, uint16_t *ends) {
        least_ = least;
        // Free rows: those whose row above may have an H of 0 that leads to `least`.
        const int32_t needed = least > 0 ? (least + match_score_ - 1) / match_score_ : 0;  // bases
        free_rows_ = std::clamp(read_.length - needed + 1, 0, read_.length);
        live_rows_ = free_rows_;
        const V impossible = splat<T, kBytes>(kImpossible), a_base = splat<T, kBytes>(static_cast<T>(gain_));
        V above = splat<T, kBytes>(kTop);  // H of 0, row by row
        for (int32_t b = 0; b < read_.length; ++b) {
            above = subs<T, kBytes>(above, a_base);
            rows_[2 * b] = above, rows_[2 * b + 1] = impossible;
        }
        V best = above;  // score of a read that overlaps nothing
        for (int64_t a = 0; a < planes_.n_columns; a += kStrip) {
            const uint64_t *columns = planes_.words + a * planes_.n_planes;
            make_profile(columns, kStrip, first_lane, planes_.n_empty - a);
            const V ended = kStrip == 4 ? strip4(columns, first_lane) : strip2(columns, first_lane);
            best = vmax(best, ended);
            if (ends) note_ends(ended, a, first_lane, ends);
        }
        if (planes_.to_end) {
            V ended = splat<T, kBytes>(kDead);
            for (int32_t b = 0; b < read_.length; ++b) ended = vmax(subs<T, kBytes>(ended, a_base), rows_[2 * b]);
            const V at_end = lanes_of_bits<T, kBytes>(planes_.to_end >> first_lane);
            ended = (ended & at_end) | (splat<T, kBytes>(kDead) & ~at_end);
            best = vmax(best, ended);
            if (ends) note_ends(ended, planes_.n_columns, first_lane, ends);
        }
        for (int l = 0; l < kLanes; ++l) score[first_lane + l] = score_of(best[l]);
    }

    /// Score the lanes from `first_lane` on, with the ends of the read not free.
    void run_whole(int first_lane, int32_t *score) {
        const V zero{}, impossible = splat<T, kBytes>(kImpossible);
        const int64_t n = read_.length, spare = planes_.n_columns - planes_.n_empty - n;
        for (int64_t b = 0; b < 2 * n; ++b) rows_[b] = impossible;
        V best = impossible;
        for (int64_t a = 0; a < n + spare; ++a) {
            const uint64_t *column = planes_.words + (planes_.n_empty + a) * planes_.n_planes;
            make_profile(column, 1, first_lane, 0);
            const V open = open_of(column, first_lane), extend = extend_of(column, first_lane);
            const int64_t first = std::max<int64_t>(0, a - spare), last = std::min(n - 1, a);
            V above = first == 0 ? zero : impossible, f = impossible;
            V diagonal = first == 0 ? zero : rows_[2 * (first - 1)];
            for (int64_t b = first; b <= last; ++b) {
                V h = rows_[2 * b], e = rows_[2 * b + 1];
                const V left = h;
                cell(h, e, diagonal, profile_[read_.letter[b] * kStrip], open, extend, above, f, inserts_);
                rows_[2 * b] = h, rows_[2 * b + 1] = e;
                diagonal = left;
            }
            if (last == n - 1) best = vmax(best, above);
        }
        for (int l = 0; l < kLanes; ++l) score[first_lane + l] = static_cast<int32_t>(best[l]);
        cells_ += n * (spare + 1) * kLanes;
    }

    int64_t cells() const { return cells_; }

  private:
    /// Costs of the first and of a further inserted base.
    struct Inserts {
        V open, extend;
    };

    static V *aligned(std::vector<uint8_t> &memory) {
        return reinterpret_cast<V *>((reinterpret_cast<uintptr_t>(memory.data()) + 63) & ~uintptr_t{63});
    }

    static int32_t gain_of(const PlaceScoring &s) { return std::max(s.match, s.mismatch) + std::max(s.on_gap, 0); }

    /// Return the score that a lane of the last row holds.
    int32_t score_of(T lane) const {
        if constexpr (kIsLack) return lane == kDead ? 0 : lane - kTop + gain_ * read_.length;
        return lane;
    }

    V lanes(const uint64_t *column, int plane, int first_lane) const {
        return lanes_of_bits<T, kBytes>(column[plane] >> first_lane);
    }

    /// Compute the score of each of the read's residues in each column of the strip; 0 in its first n_empty
    /// columns.
    [[gnu::always_inline]] void make_profile(const uint64_t *columns, int n_columns, int first_lane, int64_t n_empty) {
        for (int c = 0; c < n_columns; ++c) {
            const uint64_t *column = columns + c * planes_.n_planes;
            if (c < n_empty) {
                for (int s = 0; s < read_.n_sets; ++s)
                    profile_[s * kStrip + c] = splat<T, kBytes>(static_cast<T>(-gain_));
                continue;
            }
            const V base = planes_.bases_are_free ? mismatch_
                                                  : mismatch_ + (lanes(column, planes_.n_states, first_lane) & on_gap_);
            for (int s = 0; s < read_.n_sets; ++s) {
                uint64_t matches = 0;
                for (uint32_t set = read_.sets[s]; set; set &= set - 1) matches |= column[std::countr_zero(set)];
                profile_[s * kStrip + c] = base + (lanes_of_bits<T, kBytes>(matches >> first_lane) & match_);
            }
        }
    }

    /// Cost of leaving a column out: 0 if it has the gap flag.
    V open_of(const uint64_t *column, int first_lane) const {
        V cost = gap_open_;
        if (planes_.n_planes > planes_.n_states + 1) {
            const V goes_on = lanes(column, planes_.n_states + 1, first_lane);
            cost = (gap_open_ & ~goes_on) | (gap_goes_on_ & goes_on);
        }
        return ~lanes(column, planes_.n_states, first_lane) & cost;
    }
    V extend_of(const uint64_t *column, int first_lane) const {
        return ~lanes(column, planes_.n_states, first_lane) & gap_extend_;
    }

    void note_ends(V ended, int64_t column, int first_lane, uint16_t *ends) const {
        uint16_t *strip = ends + column / kPlaceColumns * kPlaceLanes + first_lane;
        const bool is_first = column % kPlaceColumns == 0;
        for (int l = 0; l < kLanes; ++l) {
            const auto score = static_cast<uint16_t>(score_of(ended[l]));
            strip[l] = is_first ? score : std::max(strip[l], score);
        }
    }

    /// Compute one cell from H and E on its left, H diagonally above, and its column's H and F of the row above,
    /// and store the new values in their place. Returns the old H above, which is the next cell's diagonal.
    [[gnu::always_inline]] static V cell(V &h, V &e, V diagonal, V score, V open, V extend, V &above, V &f,
                                         const Inserts &insert) {
        e = vmax(subs<T, kBytes>(h, open), subs<T, kBytes>(e, extend));
        f = vmax(subs<T, kBytes>(above, insert.open), subs<T, kBytes>(f, insert.extend));
        h = vmax(vmax(adds<T, kBytes>(diagonal, score), e), f);
        const V next = above;
        above = h;
        return next;
    }

    // Rows below the last live one are left out. A cell is live if the bases after it could raise its H to
    // `least`:
    //
    //     H(b,a) >= least - match (n - 1 - b)
    //
    // Every cell of an alignment that scores `least` is live, and below a row without a live cell, in this strip
    // and to its left, a cell can become live only from the corner. Cells that are not computed count as dead,
    // which is never too high.
    //
    //              | strip |
    //              | above |
    //       -----c-+-------+          c: the corner
    //       left   | block |

    /// Return the value that H exceeds in a live cell of this row (a row that is not free, or the last free one).
    V limit(int32_t row) const {
        const int32_t needed = least_ - match_score_ * (read_.length - 1 - row);
        return splat<T, kBytes>(static_cast<T>(needed - 1 + kTop - gain_ * (row + 1)));
    }

    /// After a strip of `n_rows` rows, set the number of rows that the next strip starts with.
    void swept(int32_t n_rows) {
        cells_ += int64_t{kStrip} * kLanes * n_rows;
        const V dead = splat<T, kBytes>(kDead), impossible = splat<T, kBytes>(kImpossible);
        while (n_rows > free_rows_) {
            const int32_t first = std::max(free_rows_, n_rows - kBlock);
            V highest = dead;
            for (int32_t b = first; b < n_rows; ++b) highest = vmax(highest, rows_[2 * b]);
            if (any_gt<T, kBytes>(highest, limit(first))) break;
            for (int32_t b = first; b < n_rows; ++b) rows_[2 * b] = dead, rows_[2 * b + 1] = impossible;
            n_rows = first;
        }
        live_rows_ = n_rows;
    }

    /// Process four columns; returns the best of the last row.
    [[gnu::noinline]] V strip4(const uint64_t *columns, int first_lane) {
        const int p = planes_.n_planes;
        const V top = splat<T, kBytes>(kTop), impossible = splat<T, kBytes>(kImpossible);
        const V open0 = open_of(columns, first_lane), open1 = open_of(columns + p, first_lane),
                open2 = open_of(columns + 2 * p, first_lane), open3 = open_of(columns + 3 * p, first_lane);
        const V extend0 = extend_of(columns, first_lane), extend1 = extend_of(columns + p, first_lane),
                extend2 = extend_of(columns + 2 * p, first_lane), extend3 = extend_of(columns + 3 * p, first_lane);
        V above0 = top, above1 = top, above2 = top, above3 = top;
        V f0 = impossible, f1 = impossible, f2 = impossible, f3 = impossible, corner = top;
        // Local copies: values read through `this` would be loaded again after each store.
        const Inserts insert = inserts_;
        V *const rows = rows_;
        const V *const profile = profile_;
        const uint8_t *const letter = read_.letter;
        int32_t b = 0, end = live_rows_;
        for (;;) {
            for (V *row = rows + 2 * b; b < end; ++b, row += 2) {
                const V *score = profile + letter[b] * 4;
                V h = row[0], e = row[1], diagonal = corner;
                corner = h;
                diagonal = cell(h, e, diagonal, score[0], open0, extend0, above0, f0, insert);
                diagonal = cell(h, e, diagonal, score[1], open1, extend1, above1, f1, insert);
                diagonal = cell(h, e, diagonal, score[2], open2, extend2, above2, f2, insert);
                cell(h, e, diagonal, score[3], open3, extend3, above3, f3, insert);
                row[0] = h, row[1] = e;
            }
            const V highest = vmax(vmax(above0, above1), vmax(above2, above3));
            if (b == read_.length) return swept(b), highest;
            if (b > 0 && !any_gt<T, kBytes>(vmax(highest, corner), limit(b - 1)))
                return swept(b), splat<T, kBytes>(kDead);
            end = std::min(b + kBlock, read_.length);
        }
    }

    /// Process two columns, for instruction sets with 16 registers.
    [[gnu::noinline]] V strip2(const uint64_t *columns, int first_lane) {
        const int p = planes_.n_planes;
        const V top = splat<T, kBytes>(kTop), impossible = splat<T, kBytes>(kImpossible);
        const V open0 = open_of(columns, first_lane), open1 = open_of(columns + p, first_lane);
        const V extend0 = extend_of(columns, first_lane), extend1 = extend_of(columns + p, first_lane);
        V above0 = top, above1 = top;
        V f0 = impossible, f1 = impossible, corner = top;
        // Local copies: values read through `this` would be loaded again after each store.
        const Inserts insert = inserts_;
        V *const rows = rows_;
        const V *const profile = profile_;
        const uint8_t *const letter = read_.letter;
        int32_t b = 0, end = live_rows_;
        for (;;) {
            for (V *row = rows + 2 * b; b < end; ++b, row += 2) {
                const V *score = profile + letter[b] * 2;
                V h = row[0], e = row[1], diagonal = corner;
                corner = h;
                diagonal = cell(h, e, diagonal, score[0], open0, extend0, above0, f0, insert);
                cell(h, e, diagonal, score[1], open1, extend1, above1, f1, insert);
                row[0] = h, row[1] = e;
            }
            const V highest = vmax(above0, above1);
            if (b == read_.length) return swept(b), highest;
            if (b > 0 && !any_gt<T, kBytes>(vmax(highest, corner), limit(b - 1)))
                return swept(b), splat<T, kBytes>(kDead);
            end = std::min(b + kBlock, read_.length);
        }
    }

    const LanePlanes &planes_;
    const ReadLetters &read_;
    const int32_t match_score_, gain_;  // gain_: for 8-bit lanes, else 0
    const V match_, mismatch_, on_gap_, gap_open_, gap_extend_, gap_goes_on_;
    const Inserts inserts_;
    int32_t least_ = 0, free_rows_ = 0, live_rows_ = 0;
    int64_t cells_ = 0;
    V *rows_, *profile_;  // rows_: H and E of each base, interleaved
};

template <class T>
int64_t score_group(const PlaceScoring &scoring, const LanePlanes &planes, const ReadLetters &read,
                    PlaceScratch &scratch, int32_t least, int32_t *score, uint16_t *ends) {
    PlaceSweep<T> sweep(scoring, planes, read, scratch);
    for (int lane = 0; lane < kPlaceLanes; lane += kVectorBytes / static_cast<int>(sizeof(T))) {
        if (scoring.whole_read) sweep.run_whole(lane, score);
        else sweep.run(lane, least, score, ends);
    }
    return sweep.cells();
}

#define TROPALIGN_STRING_(x) #x
#define TROPALIGN_STRING(x) TROPALIGN_STRING_(x)
extern const PlaceKernels place_kernels = {TROPALIGN_STRING(TROPALIGN_ISA),
                                           {score_group<int8_t>, score_group<int16_t>, score_group<int32_t>}};

}  // namespace tropalign::TROPALIGN_ISA
