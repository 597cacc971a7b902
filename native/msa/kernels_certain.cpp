// The kernel of certain pairs of this instruction set (certain.hpp).
#include <algorithm>
#include <array>
#include <vector>

#include "../simd/vec.hpp"
#include "certain.hpp"

namespace tropalign::TROPALIGN_ISA {
namespace {

using LossVec = Vec<int32_t, kVectorBytes>;
inline constexpr int kLossLanes = kVectorBytes / 4;

[[gnu::always_inline]] inline LossVec lower(LossVec a, LossVec b) { return a < b ? a : b; }
[[gnu::always_inline]] inline LossVec at(const int32_t *p, int64_t k) {
    return load<int32_t, kVectorBytes>(p + k * kLossLanes);
}
[[gnu::always_inline]] inline void put(int32_t *p, int64_t k, LossVec v) {
    store<int32_t, kVectorBytes>(p + k * kLossLanes, v);
}
inline bool any_up_to(LossVec v, LossVec limit) { return any_gt<int32_t, kVectorBytes>(limit + 1, v); }

/// Diagonals k = j - i + m of a row's corners (i, j) that may be needed; empty if low > high.
struct Range {
    int64_t low, high;
};

/// Indices: corner (i, j) lies on diagonal k = j - i + m, residue y_j at j + m + 1. So the residue behind corner
/// (i, j) lies at i + k + 1.
class CertainPairs {
  public:
    CertainPairs(const Losses &losses, const uint8_t *x, int32_t m, CertainLanes &lanes, CertainScratch &scratch)
        : losses_(losses), x_(x), m_(m), lanes_(lanes), scratch_(scratch) {
        longest_ = *std::max_element(lanes.length, lanes.length + lanes.n);
        n_diagonals_ = int64_t{m_} + longest_ + 1;
        while (int64_t{1} << 2 * block_bits_ < m_) ++block_bits_;
        block_bits_ += 2;  // a block computed again takes much less memory than the rows that are kept
        open_ = splat<int32_t, kVectorBytes>(losses.open);
        most_ = splat<int32_t, kVectorBytes>(-1);
        for (int l = 0; l < lanes.n; ++l) most_[l] = std::min(lanes.most[l], kNoLoss - 1);
        make_tables();
        make_bounds();
        total_ = most_;
        overhang_.resize(m_ + 1);
        for (int32_t i = m_ - 1; i >= 0; --i) overhang_[i] = overhang_[i + 1] + losses.end[x[i]];
    }

    void run() {
        best_ = no_loss();
        Range range = last_row(most_);
        for (int32_t i = m_ - 1; i >= 0; --i) {
            if (is_kept(i + 1)) keep(i + 1, range);
            range = row_of_rest(i, range, most_);
            starts_at_first_column(i, range);
            if (range.low > range.high) break;
        }
        if (range.low <= range.high) {
            keep(0, range);
            starts_in_first_row(range);
        }
        clear(rest_(), rest_gap_(), range);
        bool any = false;
        for (int l = 0; l < lanes_.n; ++l) {
            const bool is_known = best_[l] <= most_[l] - losses_.slack;
            lanes_.loss[l] = is_known ? best_[l] : -1;
            any |= is_known;
            std::fill_n(lanes_.column[l], m_, -1);
            std::fill_n(lanes_.is_certain[l], m_, 0);
            limit_[l] = is_known ? best_[l] + losses_.slack : -1;
        }
        for (int l = lanes_.n; l < kLossLanes; ++l) limit_[l] = -1;
        if (any) judge();
    }

  private:
    struct Kept {
        Range range;
        size_t begin;
    };

    static LossVec no_loss() { return splat<int32_t, kVectorBytes>(kNoLoss); }
    int32_t *rest_() { return scratch_.rest.data() + kLossLanes; }
    int32_t *rest_gap_() { return scratch_.rest_gap.data() + kLossLanes; }
    int32_t *before_() { return scratch_.before.data() + kLossLanes; }
    int32_t *before_gap_() { return scratch_.before_gap.data() + kLossLanes; }
    int32_t *border_() { return scratch_.border.data() + kLossLanes; }

    void make_tables() {
        const int64_t n_places = 2 * int64_t{m_} + longest_ + 3, width = n_places * kLossLanes;
        row_of_.assign(kCertainCodes, -1);
        int n_rows = 0;
        for (int32_t i = 0; i < m_; ++i)
            if (row_of_[x_[i]] < 0) row_of_[x_[i]] = n_rows++;
        width_ = width;
        filled(scratch_.pair, n_rows * width), filled(scratch_.gap, width), filled(scratch_.paired, width);
        std::array<int32_t, kCertainCodes> most_of{};  // loss of unpaired residues of x that a residue of y can save
        unpaired_.assign(m_ + 1, 0);
        for (int32_t i = 0; i < m_; ++i) unpaired_[i + 1] = unpaired_[i] + least_unpaired(x_[i]);
        for (int b = 0; b < losses_.n_codes; ++b)
            for (int a = 0; a < losses_.n_codes; ++a)
                if (row_of_[a] >= 0)
                    most_of[b] = std::max(most_of[b], least_unpaired(a) - losses_.pair[a * losses_.n_codes + b]);
        const size_t size = (n_diagonals_ + 2) * kLossLanes;
        for (Buffer<int32_t> *one :
             {&scratch_.rest, &scratch_.rest_gap, &scratch_.before, &scratch_.before_gap, &scratch_.border})
            filled(*one, size);
        for (int l = 0; l < lanes_.n; ++l) {
            int64_t paired = 0;
            scratch_.paired[(int64_t{m_} + 1) * kLossLanes + l] = 0;
            for (int32_t j = 0; j < lanes_.length[l]; ++j) {
                const int b = lanes_.codes[l][j];
                const int64_t place = (int64_t{j} + m_ + 1) * kLossLanes + l;
                scratch_.gap[place] = losses_.gap[b];
                paired += most_of[b];
                scratch_.paired[place + kLossLanes] = static_cast<int32_t>(std::min<int64_t>(paired, kNoLoss));
                for (int a = 0; a < losses_.n_codes; ++a)
                    if (row_of_[a] >= 0)
                        scratch_.pair[row_of_[a] * width + place] = losses_.pair[a * losses_.n_codes + b];
            }
        }
        scratch_.kept.clear();
        kept_.assign((m_ >> block_bits_) + 2, {{0, -1}, 0});
    }

    /// Least losses of |j - i| unpaired residues of x or y, by diagonal.
    void make_bounds() {
        apart_.assign(n_diagonals_, kNoLoss);
        apart_[m_] = 0;
        most_unpaired_ = unpaired_by_diagonal(x_, m_, -1);
        for (int l = 0; l < lanes_.n; ++l) unpaired_by_diagonal(lanes_.codes[l], lanes_.length[l], 1);
    }

    /// Lower the bounds of the diagonals on one side of the middle one; return the greatest loss of a residue.
    int32_t unpaired_by_diagonal(const uint8_t *codes, int32_t length, int64_t step) {
        std::vector<int32_t> costs(length);
        for (int32_t i = 0; i < length; ++i) costs[i] = least_unpaired(codes[i]);
        std::sort(costs.begin(), costs.end());
        int64_t loss = 0, k = m_;
        for (const int32_t cost : costs) {
            loss = std::min<int64_t>(loss + cost, kNoLoss), k += step;
            apart_[k] = std::min(apart_[k], static_cast<int32_t>(loss));
        }
        return length ? costs.back() : 0;
    }

    /// A lower bound of the part behind corner (i, j) on diagonal k: at most `longest_` - j residues of x are paired.
    int32_t least_behind(int32_t i, int64_t k) const {
        const int64_t j = k - m_ + i, loss = unpaired_[m_] - unpaired_[i] - (longest_ - j) * most_unpaired_;
        return static_cast<int32_t>(std::clamp<int64_t>(loss, 0, kNoLoss));
    }

    static void filled(Buffer<int32_t> &buffer, size_t size) {
        if (buffer.size() < size) buffer = Buffer<int32_t>(size);
        std::fill_n(buffer.data(), size, kNoLoss);
    }

    /// Fill the row behind all of x: overhangs of y.
    Range last_row(LossVec limit) {
        Range range{n_diagonals_, -1};
        for (int l = 0; l < lanes_.n; ++l) {
            int64_t loss = 0;
            for (int64_t j = lanes_.length[l]; j >= 0 && loss <= limit[l]; --j) {
                rest_()[j * kLossLanes + l] = static_cast<int32_t>(loss);  // k = j - m + m
                range = {std::min(range.low, j), std::max(range.high, j)};
                if (j > 0) loss += losses_.end[lanes_.codes[l][j - 1]];
            }
        }
        return range;
    }

    /// Compute the row of corners (i, j) from that of (i + 1, j), up to `limit`.
    Range row_of_rest(int32_t i, Range old, LossVec limit) {
        bool has_border = false;
        if (overhang_[i] < kNoLoss) {
            const auto overhang = static_cast<int32_t>(overhang_[i]);
            for (int l = 0; l < lanes_.n; ++l) {
                const int64_t k = int64_t{lanes_.length[l]} - i + m_;
                if (overhang > limit[l] || overhang + least_before(i, k)[l] > total_[l]) continue;
                border_()[k * kLossLanes + l] = overhang;
                old = old.low > old.high ? Range{k, k} : Range{std::min(old.low, k), std::max(old.high, k)};
                has_border = true;
            }
        }
        if (old.low > old.high) return old;
        const Range found = has_border ? row<true>(i, old, limit) : row<false>(i, old, limit);
        if (has_border)
            for (int l = 0; l < lanes_.n; ++l)
                border_()[(int64_t{lanes_.length[l]} - i + m_) * kLossLanes + l] = kNoLoss;
        return found;
    }

    template <bool kHasBorder>
    Range row(int32_t i, Range old, LossVec limit) {
        int32_t *rest = rest_(), *rest_gap = rest_gap_();
        const int32_t *pair = scratch_.pair.data() + row_of_[x_[i]] * width_ + (int64_t{i} + 1) * kLossLanes;
        const int32_t *gap = scratch_.gap.data() + (int64_t{i} + 1) * kLossLanes, *border = border_();
        const LossVec row_gap = splat<int32_t, kVectorBytes>(losses_.gap[x_[i]]), open = open_, none = no_loss();
        Range range{old.low, std::min(old.high + 1, n_diagonals_ - 1)};
        LossVec along = none, found = none, diagonal = at(rest, range.high);
        for (int64_t k = range.high; k >= range.low; --k) {
            const LossVec above = at(rest, k - 1);
            const LossVec down = lower(above + open, at(rest_gap, k - 1)) + row_gap;
            along = lower(found + open, along) + at(gap, k);
            found = lower(lower(diagonal + at(pair, k), along), lower(down, none));
            if constexpr (kHasBorder) found = lower(found, at(border, k));
            put(rest, k, found), put(rest_gap, k, down);
            diagonal = above;
        }
        while (range.low > 0) {  // a gap of y that reaches further
            along = lower(found + open, along) + at(gap, range.low - 1);
            if (!is_within(along, limit, i, range.low - 1)) break;
            found = lower(along, none);
            put(rest, --range.low, found);
        }
        return trimmed(i, range, limit);
    }

    Range trimmed(int32_t i, Range range, LossVec limit) {
        int32_t *values = rest_(), *gaps = rest_gap_();
        for (; range.low <= range.high && !is_within(at(values, range.low), limit, i, range.low); ++range.low)
            put(values, range.low, no_loss()), put(gaps, range.low, no_loss());
        for (; range.low <= range.high && !is_within(at(values, range.high), limit, i, range.high); --range.high)
            put(values, range.high, no_loss()), put(gaps, range.high, no_loss());
        return range;
    }

    int32_t least_unpaired(int a) const { return std::min(losses_.end[a], losses_.gap[a]); }

    /// Lower bounds of the part before corner (i, j). There, x has i residues and y has j: at least |j - i| residues
    /// are unpaired; those of x that are unpaired lose least_unpaired(a) each, and a residue b of y that is paired with
    /// a saves at most least_unpaired(a) - pair[a][b].
    LossVec least_before(int32_t i, int64_t k) const {
        const auto before = static_cast<int32_t>(std::min<int64_t>(unpaired_[i], kNoLoss));
        const LossVec least = splat<int32_t, kVectorBytes>(before) - at(scratch_.paired.data(), k + i + 1);
        const LossVec apart = splat<int32_t, kVectorBytes>(apart_[k]);
        return least > apart ? least : apart;
    }

    /// True if the rest behind corner (i, j) may be needed: its loss is up to `limit`, and up to `total_` with the part
    /// before it.
    bool is_within(LossVec rest, LossVec limit, int32_t i, int64_t k) const {
        return any_up_to(rest, lower(limit, total_ - least_before(i, k)));
    }

    static void clear(int32_t *values, int32_t *gaps, Range range) {
        for (int64_t k = range.low; k <= range.high; ++k) put(values, k, no_loss()), put(gaps, k, no_loss());
    }

    void starts_at_first_column(int32_t i, Range range) {
        const int64_t k = int64_t{m_} - i;
        if (k >= range.low && k <= range.high) best_ = lower(best_, at(rest_(), k) + overhang_before(i));
    }

    void starts_in_first_row(Range range) {
        for (int l = 0; l < lanes_.n; ++l) {
            int64_t loss = 0;
            for (int64_t k = m_; k <= range.high && loss <= most_[l]; ++k) {
                if (k >= range.low)
                    best_[l] = std::min<int32_t>(best_[l], rest_()[k * kLossLanes + l] + static_cast<int32_t>(loss));
                if (k - m_ >= lanes_.length[l]) break;
                loss += losses_.end[lanes_.codes[l][k - m_]];
            }
        }
    }

    /// Loss of an overhang of the first i residues of x.
    int32_t overhang_before(int32_t i) const {
        return static_cast<int32_t>(std::min<int64_t>(overhang_[0] - overhang_[i], kNoLoss));
    }

    bool is_kept(int32_t i) const { return (i & ((1 << block_bits_) - 1)) == 0; }

    void keep(int32_t i, Range range) {
        std::vector<int32_t> &kept = scratch_.kept;
        kept_[i >> block_bits_] = {range, kept.size()};
        append(kept, rest_(), range), append(kept, rest_gap_(), range);
    }

    static void append(std::vector<int32_t> &to, const int32_t *from, Range range) {
        if (range.low <= range.high)
            to.insert(to.end(), from + range.low * kLossLanes, from + (range.high + 1) * kLossLanes);
    }

    // The second sweep.

    void judge() {
        Range range = first_row();
        const LossVec limit = total_ = limit_ + open_;
        for (int32_t begin = 0; begin < m_; begin += 1 << block_bits_) {
            const int32_t end = std::min(m_, begin + (1 << block_bits_));
            make_block(begin, end, limit - lower(lowest(range), splat<int32_t, kVectorBytes>(overhang_before(begin))));
            for (int32_t i = begin + 1; i <= end; ++i) range = row_before(i, range, limit);
        }
        for (int l = 0; l < lanes_.n; ++l) {
            std::fill_n(lanes_.is_certain[l], first_certain_[l], 0);
            std::fill(lanes_.is_certain[l] + std::max(end_certain_[l], first_certain_[l]), lanes_.is_certain[l] + m_,
                      0);
        }
    }

    LossVec lowest(Range range) {
        LossVec found = no_loss();
        for (int64_t k = range.low; k <= range.high; ++k) found = lower(found, at(before_(), k));
        return lower(found, limit_ + open_);
    }

    Range first_row() {
        Range range{n_diagonals_, -1};
        for (int l = 0; l < lanes_.n; ++l) {
            int64_t loss = 0;
            for (int64_t j = 0; j <= lanes_.length[l] && loss <= limit_[l]; ++j) {
                before_()[(j + m_) * kLossLanes + l] = static_cast<int32_t>(loss);
                range = {std::min(range.low, j + m_), std::max(range.high, j + m_)};
                if (j < lanes_.length[l]) loss += losses_.end[lanes_.codes[l][j]];
            }
        }
        std::fill_n(first_certain_, 16, 0);
        for (int l = 0; l < lanes_.n; ++l)  // nothing paired at all
            end_certain_[l] =
                before_()[(int64_t{lanes_.length[l]} + m_) * kLossLanes + l] <= limit_[l] - overhang_[0] ? 0 : m_;
        return range;
    }

    /// Compute the rest for the rows `begin` + 1 to `end` again.
    void make_block(int32_t begin, int32_t end, LossVec limit) {
        std::vector<int32_t> &block = scratch_.block;
        block.clear();
        Range range;
        if (is_kept(end)) {
            const Kept &kept = kept_[end >> block_bits_];
            range = kept.range;
            const int64_t size = (range.high - range.low + 1) * kLossLanes;
            if (size > 0) {
                const int32_t *from = scratch_.kept.data() + kept.begin;
                std::copy_n(from, size, rest_() + range.low * kLossLanes);
                std::copy_n(from + size, size, rest_gap_() + range.low * kLossLanes);
            }
        } else {
            range = last_row(limit);
        }
        range = trimmed(end, range, limit);
        rows_.assign(end - begin, {{0, -1}, 0});
        for (int32_t i = end; i > begin; --i) {
            rows_[i - begin - 1] = {range, block.size()};
            append(block, rest_(), range), append(block, rest_gap_(), range);
            if (i > begin + 1) range = row_of_rest(i - 1, range, limit);
        }
        clear(rest_(), rest_gap_(), range);
        block_begin_ = begin;
    }

    /// Compute the row of corners (i, j) before which all is known, and judge residue i - 1 of x.
    Range row_before(int32_t i, Range old, LossVec limit) {
        int32_t *before = before_(), *before_gap = before_gap_();
        const Kept &rest = rows_[i - block_begin_ - 1];
        const int32_t *of_rest = scratch_.block.data() + rest.begin - rest.range.low * kLossLanes;
        const int32_t *of_gap = of_rest + (rest.range.high - rest.range.low + 1) * kLossLanes;
        const int32_t *pair = scratch_.pair.data() + row_of_[x_[i - 1]] * width_ + int64_t{i} * kLossLanes;
        const int32_t *gap = scratch_.gap.data() + int64_t{i} * kLossLanes;
        const LossVec row_gap = splat<int32_t, kVectorBytes>(losses_.gap[x_[i - 1]]), none = no_loss(), open = open_;
        const int64_t first = int64_t{m_} - i;
        const int32_t overhang = overhang_before(i);
        Range range{std::max<int64_t>(old.low - 1, 0), old.high};
        if (any_up_to(splat<int32_t, kVectorBytes>(overhang + least_behind(i, first)), limit))
            range = old.low > old.high ? Range{first, first}
                                       : Range{std::min(range.low, first), std::max(range.high, first)};
        LossVec along = none, found = none, n_pairs{}, column = splat<int32_t, kVectorBytes>(-1), skips{};
        LossVec diagonal = at(before, range.low);
        auto step = [&](int64_t k) {
            const LossVec below = at(before, k + 1);
            const LossVec down = lower(below + open, at(before_gap, k + 1)) + row_gap;
            const LossVec paired = diagonal + at(pair, k);
            along = lower(found + open, along) + at(gap, k);
            found = lower(lower(paired, along), lower(down, none));
            if (k == first) found = lower(found, splat<int32_t, kVectorBytes>(overhang));
            put(before, k, found), put(before_gap, k, down);
            diagonal = below;
            if (k < rest.range.low || k > rest.range.high) return;
            const LossVec after = at(of_rest, k), total = paired + after;
            n_pairs -= (total <= limit_);
            const LossVec here = splat<int32_t, kVectorBytes>(static_cast<int32_t>(k));
            column = ((total == best_) & (column < 0)) ? here : column;
            skips |= (down + lower(after, at(of_gap, k) - open) <= limit_);
        };
        for (int64_t k = range.low; k <= range.high; ++k) step(k);
        while (range.high < rest.range.high) {  // a gap of y that reaches further
            const LossVec next = lower(found + open, along) + at(gap, range.high + 1);
            if (!any_up_to(next + least_behind(i, range.high + 1), limit)) break;
            step(++range.high);
        }
        for (int l = 0; l < lanes_.n; ++l) {
            if (limit_[l] < 0) continue;
            if (column[l] >= 0) lanes_.column[l][i - 1] = static_cast<int32_t>(i + column[l] - m_ - 1);
            lanes_.is_certain[l][i - 1] = column[l] >= 0 && n_pairs[l] == 1 && !skips[l];
            if (has(rest.range, first) && overhang + of_rest[first * kLossLanes + l] <= limit_[l])
                first_certain_[l] = i;
            const int64_t last = int64_t{lanes_.length[l]} - i + m_;
            if (i < m_ && has(range, last) && before[last * kLossLanes + l] + overhang_[i] <= limit_[l])
                end_certain_[l] = std::min(end_certain_[l], i);
        }
        // Only corners that a good alignment passes are kept.
        auto is_needed = [&](int64_t k) {
            return has(rest.range, k) && any_up_to(at(before, k) + at(of_rest, k), limit);
        };
        for (; range.low <= range.high && !is_needed(range.low); ++range.low)
            put(before, range.low, none), put(before_gap, range.low, none);
        for (; range.low <= range.high && !is_needed(range.high); --range.high)
            put(before, range.high, none), put(before_gap, range.high, none);
        return range;
    }

    static bool has(Range range, int64_t k) { return k >= range.low && k <= range.high; }

    const Losses &losses_;
    const uint8_t *x_;
    const int32_t m_;
    CertainLanes &lanes_;
    CertainScratch &scratch_;
    int32_t longest_ = 0, block_begin_ = 0;
    int block_bits_ = 0;
    int64_t n_diagonals_ = 0, width_ = 0;
    std::vector<int64_t> overhang_;  // of x from residue i on
    std::vector<int64_t> unpaired_;  // least loss of the first i residues of x, unpaired
    std::vector<int> row_of_;        // of each code that x has, in scratch_.pair
    std::vector<int32_t> apart_;     // least loss of the unpaired residues before a corner, by diagonal
    int32_t most_unpaired_ = 0;
    std::vector<Kept> kept_, rows_;
    LossVec open_{}, most_{}, best_{}, limit_{}, total_{};  // total_: greatest loss of an alignment that is needed
    int32_t first_certain_[16] = {}, end_certain_[16] = {};
};

void certain_of_lanes(const Losses &losses, const uint8_t *x, int32_t m, CertainLanes &lanes, CertainScratch &scratch) {
    CertainPairs(losses, x, m, lanes, scratch).run();
}

#define TROPALIGN_STRING_(x) #x
#define TROPALIGN_STRING(x) TROPALIGN_STRING_(x)
}  // namespace

extern const CertainKernels certain_kernels = {TROPALIGN_STRING(TROPALIGN_ISA), kLossLanes, certain_of_lanes};

}  // namespace tropalign::TROPALIGN_ISA
