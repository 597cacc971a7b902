// Wavefronts (Marco-Sola et al. 2021): for each penalty and diagonal, how far down an alignment of that penalty
// reaches.
//
// Diagonal k has the cells (i, j) with j - i = k; an offset is an i. Wave s holds for each diagonal of a band the
// furthest i that penalty s reaches, and the same for alignments that end in a gap of the columns' residues (E) or
// of the rows' (F):
//
//     E(s,k) = max(M(s - open - column, k - 1), E(s - column, k - 1))             j advances, i stays
//     F(s,k) = max(M(s - open - row, k + 1), F(s - row, k + 1)) + 1               i advances, j stays
//     M(s,k) = max(M(s - mismatch, k) + 1, E(s,k), F(s,k)), then on while the residues are equal
//
//     the waves of a row each, all kept:    lane   0 1 2 3 | 4 5 6 7 | guard       diagonal = lowest + lane
//                                           s = 0  . . . . | 9 . . . |   .         "." is kNowhere
//                                           s = 1  . . . . | . . . . |   .
//                                           ...
//                                           s = 9  . . . . |17 . . . |   .
//
// The offset of a wave also holds for all cells above it: along a diagonal penalties never fall
// (docs/exactness.md). So a lane may hold a smaller offset than possible, or repeat that of an earlier wave, and
// nothing must be cut off at the matrix' edges except the residues: an offset is limited to the end of the
// sequence that ends first. A wave is computed only where an alignment within the limit can be: as wide as gaps
// from the corner can have come by then, and as narrow as gaps back to the last diagonal require. That is a
// rhombus in the plane of diagonals and penalties, a fourth of the area without a limit.
//
// Per vector of lanes: 6 loads, 7 sums and maxima, 3 stores, a comparison. Only lanes that are further than any
// wave before compare residues, eight at a time and then a vector; that takes most of the time.
#pragma once
#include <algorithm>
#include <cstdint>
#include <numeric>

#include "../simd/bytes.hpp"
#include "scoring.hpp"

// Scores as penalties, for two sequences whose residues have one score with themselves and another with each
// other.
//
// An alignment of m residues of the rows and n of the columns, whose gaps hold f of the rows and e of the columns,
// pairs m - f = n - e residues. So with u + v = match
//
//     match * pairs = u (n - e) + v (m - f)
//     score = u n + v m - [(match - mismatch) * mismatches + open * gaps + (extend + u) e + (extend + v) f]
//
// and the best alignment has the lowest penalty [...], in which a match costs nothing (after Eizenga and Paten 2022;
// their u = v = match / 2 requires doubling everything). Penalties are integers and as small as possible: u is near
// match / 2, so that all of them have the common divisor of `match - mismatch`, `open` and `2 extend + match`.

namespace tropalign {

struct Penalties {
    int64_t mismatch, open, column, row;  // a mismatch, a gap, each residue of a gap of the columns' or the rows'
    int64_t divisor;                      // common divisor, removed from the penalties
    int64_t per_column, per_row;          // u and v

    explicit Penalties(const Scoring &scoring) {
        const int64_t both = 2 * int64_t{scoring.extend} + scoring.match;
        mismatch = int64_t{scoring.match} - scoring.mismatch;
        open = scoring.open;
        divisor = std::max<int64_t>(1, std::gcd(std::gcd(mismatch, open), both));
        mismatch /= divisor, open /= divisor;
        column = (both / divisor + 1) / 2, row = both / divisor - column;
        per_column = divisor * column - scoring.extend, per_row = divisor * row - scoring.extend;
    }

    /// True if a mismatch and each residue of a gap cost something.
    bool all_cost() const { return mismatch > 0 && column > 0 && row > 0; }

    /// Return the score of m residues of the rows against n of the columns at this penalty.
    int32_t score(int64_t m, int64_t n, int64_t penalty) const {
        return static_cast<int32_t>(per_column * n + per_row * m - divisor * penalty);
    }
};

}  // namespace tropalign

namespace tropalign::TROPALIGN_ISA {

/// Return how many of the residues at a and b, at most `most`, are equal before two differ. Reads some bytes
/// beyond.
[[gnu::always_inline]] inline int equal_letters(const uint8_t *a, const uint8_t *b, int most) {
    uint64_t x, y;
    std::memcpy(&x, a, 8), std::memcpy(&y, b, 8);
    if (x != y) return std::min(most, __builtin_ctzll(x ^ y) / 8);
    constexpr int W = kVectorBytes;
    for (int n = 8; n < most; n += W) {
        const auto p = load<int8_t, W>(a + n), q = load<int8_t, W>(b + n);
        const uint64_t bits = different_bits<W>(p, q);
        if (bits) return std::min(most, n + __builtin_ctzll(bits) / kDifferentBits);
    }
    return most;
}

/// Return how many of the residues before a and b, at most `most`, are equal.
inline int equal_letters_before(const uint8_t *a, const uint8_t *b, int most) {
    constexpr int W = kVectorBytes;
    for (int n = 0; n < most; n += W) {
        const auto p = load<int8_t, W>(a - n - W), q = load<int8_t, W>(b - n - W);
        const uint64_t bits = different_bits<W>(p, q);
        if (bits) return std::min(most, n + (W * kDifferentBits - 64 + __builtin_clzll(bits)) / kDifferentBits);
    }
    return most;
}

/// Diagonals from `lowest` to `highest`, and the highest penalty of an alignment.
struct WaveBand {
    int64_t lowest, highest, limit;
};

class Wavefront {
    static constexpr int B = kVectorBytes, L = Lanes<int32_t, B>::count;
    using V = Vec<int32_t, B>;
    static constexpr int32_t kNowhere = INT32_MIN / 2;

  public:
    Wavefront(const Penalties &penalties, const LanePair &pair, UnitScratch &scratch)
        : mismatch_(static_cast<int>(penalties.mismatch)), open_(static_cast<int>(penalties.open)),
          column_(static_cast<int>(penalties.column)), row_(static_cast<int>(penalties.row)), pair_(pair),
          scratch_(scratch), m_(pair.rows.length), n_(pair.columns.length) {}

    /// Upper bound on the vectors of a band's waves within its limit.
    int64_t vectors(const WaveBand &band) const { return (band.limit + 1) * ((band.highest - band.lowest + L) / L); }

    /// Bytes that a sweep of a band takes.
    int64_t bytes(const WaveBand &band) const {
        return (wave_rows(band) + state_rows()) * stride_of(band) * 4 + (band.limit + 1) * int64_t{sizeof(Range)};
    }

    /// Return the lowest penalty of an alignment of both sequences within the band; -1 if no alignment is within
    /// the limit, if `hopeless(penalty, progress)` returns true, or if a stop is requested: both are checked every
    /// kAsked waves; progress is i + j of the furthest cell.
    template <class Hopeless>
    int sweep(const WaveBand &band, Hopeless hopeless) {
        if (band.limit < way(n_ - m_)) return -1;
        lay_out(band);
        const int last = n_ - m_ - lowest_, limit = static_cast<int>(band.limit);
        for (int s = 0; s <= limit; ++s) {
            set_range(s, limit);
            if (s == 0) begin();
            else advance(s);
            if (best_[last] >= m_) return s;
            if (s % kAsked == kAsked - 1 && (scratch_.is_stopped() || hopeless(s, progress()))) return -1;
        }
        return -1;
    }

    /// True if penalty s reaches row i of diagonal k, for a cell that costs at least s.
    bool reaches(int s, int k, int i) const {
        const int lane = k - lowest_;
        return s >= 0 && lane >= ranges_[s].begin && lane < ranges_[s].end && wave(s)[lane] >= i;
    }

  private:
    static constexpr int kAsked = 16;
    struct Range {
        int begin, end;  // lanes that a wave computes
    };

    /// Lanes from one wave to the next: whole vectors, then a guard. An odd number of vectors, since neighbours at
    /// powers of two fall into a few sets of a cache.
    static int64_t stride_of(const WaveBand &band) { return (((band.highest - band.lowest + L) / L + 1) | 1) * L; }

    /// Return the least cost of a gap from a diagonal to another, `by` diagonals further.
    int64_t way(int64_t by) const { return by > 0 ? open_ + by * column_ : by < 0 ? open_ - by * row_ : 0; }

    /// Return the number of stored waves, including two empty ones before the first.
    static int64_t wave_rows(const WaveBand &band) { return band.limit + 3; }
    /// Return the stored rows: an empty one, E and F of the waves that later ones read, and the furthest offsets.
    int64_t state_rows() const { return int64_t{column_} + row_ + 4; }

    int32_t *wave(int s) const { return waves_ + s * stride_; }

    void lay_out(const WaveBand &band) {
        lowest_ = static_cast<int>(band.lowest), highest_ = static_cast<int>(band.highest);
        stride_ = stride_of(band);
        n_lanes_ = static_cast<int>((band.highest - band.lowest + L) / L * L);
        auto *waves = static_cast<int32_t *>(scratch_.get(Slot::masks, wave_rows(band) * stride_ * 4));
        nothing_ = waves + stride_;
        waves_ = nothing_ + stride_;
        std::fill(waves, waves_, kNowhere);
        const int64_t rows = state_rows();
        e_ = static_cast<int32_t *>(scratch_.get(Slot::state, rows * stride_ * 4)) + stride_;
        std::fill(e_ - stride_, e_ + (rows - 1) * stride_, kNowhere);
        f_ = e_ + (column_ + 1) * stride_, best_ = f_ + (row_ + 1) * stride_;
        std::fill(best_, best_ + n_lanes_, -1);
        ranges_ = static_cast<Range *>(scratch_.get(Slot::heads, (band.limit + 1) * sizeof(Range)));
        low_from_ = high_from_ = 0, low_to_ = std::min(lowest_, 0), high_to_ = std::max(highest_, 0);
        far_ = std::max(mismatch_, open_ + std::max(column_, row_));
    }

    /// Set the lanes of wave s: those that gaps from the first diagonal may have reached by then, and from which
    /// gaps to the last one stay within the limit.
    void set_range(int s, int limit) {
        const int last = n_ - m_;
        while (high_from_ < highest_ && s >= open_ + (high_from_ + 1) * column_) ++high_from_;
        while (low_from_ > lowest_ && s >= open_ - (low_from_ - 1) * row_) --low_from_;
        while (high_to_ > last && s + int64_t{high_to_ - last} * row_ > limit) --high_to_;
        while (low_to_ < last && s + int64_t{last - low_to_} * column_ > limit) ++low_to_;
        int low = std::max(low_from_, low_to_), high = std::min(high_from_, high_to_);
        if (low > high) std::swap(low, high);
        low -= lowest_, high -= lowest_;
        ranges_[s] = {low / L * L, high / L * L + L};
        fill_beside(s, low - far_ / row_ - 2, high + far_ / column_ + 2);
    }

    /// Clear the lanes on both sides that later waves read: the vectors from lane `low` to lane `high` at most,
    /// and a vector on both sides.
    void fill_beside(int s, int low, int high) {
        const Range range = ranges_[s];
        int32_t *const m = wave(s);
        const V nowhere = splat<int32_t, B>(kNowhere);
        const int begin = std::max(0, std::max(0, low) / L * L - L), end = std::min(n_lanes_, high / L * L + 2 * L);
        for (int c = begin; c < range.begin; c += L) store<int32_t, B>(m + c, nowhere);
        for (int c = range.end; c < end; c += L) store<int32_t, B>(m + c, nowhere);
        for (int64_t c = n_lanes_; c < stride_; c += L) store<int32_t, B>(m + c, nowhere);
    }

    void begin() {
        int32_t *const m = wave(0);
        for (int c = ranges_[0].begin; c < ranges_[0].end; ++c) m[c] = kNowhere;
        m[-lowest_] = best_[-lowest_] = equal_letters(pair_.rows.codes, pair_.columns.codes, std::min(m_, n_));
    }

    void advance(int s) {
        auto before = [&](int by) { return s < by ? nothing_ : wave(s - by); };
        const int32_t *const m_mismatch = before(mismatch_), *const m_e = before(open_ + column_) - 1,
                             *const m_f = before(open_ + row_) + 1;
        int32_t *const m = wave(s), *const e_now = e_ + s % (column_ + 1) * stride_;
        int32_t *const f_now = f_ + s % (row_ + 1) * stride_, *const best = best_;
        const int32_t *const e_then = e_ + (s + 1) % (column_ + 1) * stride_ - 1;
        const int32_t *const f_then = f_ + (s + 1) % (row_ + 1) * stride_ + 1;
        alignas(64) int32_t counted[L];
        for (int l = 0; l < L; ++l) counted[l] = n_ - lowest_ - l;
        const V bottom = splat<int32_t, B>(m_), right = load<int32_t, B>(counted), one = splat<int32_t, B>(1);
        const uint8_t *const rows = pair_.rows.codes, *const columns = pair_.columns.codes + lowest_;
        for (int c = ranges_[s].begin; c < ranges_[s].end; c += L) {
            const V e = vmax(load<int32_t, B>(m_e + c), load<int32_t, B>(e_then + c));
            const V f = vmax(load<int32_t, B>(m_f + c), load<int32_t, B>(f_then + c)) + one;
            const V reached = vmax(vmax(e, f), load<int32_t, B>(m_mismatch + c) + one);
            const V edge = right - splat<int32_t, B>(c);
            V held = bottom < edge ? bottom : edge;
            held = reached < held ? reached : held;
            store<int32_t, B>(e_now + c, e), store<int32_t, B>(f_now + c, f), store<int32_t, B>(m + c, held);
            uint64_t bits = widened(gt_bits<int32_t, B>(held, load<int32_t, B>(best + c))) & kLowest;
            for (; bits; bits &= bits - 1) {
                const int lane = c + __builtin_ctzll(bits) / Lanes<int32_t, B>::bits_per_lane, i = m[lane];
                const int most = std::min(m_ - i, n_ - lowest_ - lane - i);
                best[lane] = m[lane] = i + equal_letters(rows + i, columns + lane + i, most);
            }
        }
    }

    /// Lowest bit of every lane in a mask.
    static constexpr uint64_t kLowest = Lanes<int32_t, B>::bits_per_lane == 1 ? ~uint64_t{0} : 0x1111111111111111;

    int64_t progress() const {
        int64_t most = 0;
        for (int c = 0; c < n_lanes_; ++c)
            if (best_[c] >= 0) most = std::max(most, 2 * int64_t{best_[c]} + lowest_ + c);
        return most;
    }

    const int mismatch_, open_, column_, row_;
    const LanePair &pair_;
    UnitScratch &scratch_;
    const int m_, n_;
    int lowest_ = 0, highest_ = 0, n_lanes_ = 0, far_ = 0;
    int low_from_ = 0, high_from_ = 0, low_to_ = 0, high_to_ = 0;
    int64_t stride_ = 0;
    int32_t *waves_ = nullptr, *nothing_ = nullptr, *e_ = nullptr, *f_ = nullptr, *best_ = nullptr;
    Range *ranges_ = nullptr;
};

}  // namespace tropalign::TROPALIGN_ISA
