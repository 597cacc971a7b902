// The best score of all alignments through each boundary of blocks of rows, in bytes, a lane per pair: the recurrences
// of the partition function with sums in place of products and the maximum in place of sums.
//
// A byte has room for the scores near the best of a row alone, so that they are kept relative to a base per lane: the
// best score at the boundary above a block, which `steps` says by how much it rises. Scores that are far lower are at
// the lowest byte, which is too high for them and makes a corridor wider, never narrower. The way up takes the same
// bases: there a score is relative to the best one of the whole alignment less the base, and
//
//     score down to a boundary + score from there on = how much lower than the best an alignment is
#pragma once
#include <bit>

#include "../simd/bytes.hpp"
#include "corridor.hpp"

namespace tropalign::TROPALIGN_ISA {

template <int B>
class CorridorSweep {
    using V = Vec<int8_t, B>;
    static constexpr int kParts = B / kPartLanes;

  public:
    CorridorSweep(const CorridorModel &model, const CorridorUnit &unit, CorridorScratch &scratch)
        : model_(model), unit_(unit), crossings_(scratch.crossings), N_(unit.longest_y()), first_end_(N_ + 1),
          n_blocks_((unit.longest_x() + kCorridorRows - 1) / kCorridorRows), columns_(size_t(N_) + 1),
          lowest_(splat<int8_t, B>(-128)), open_(splat<int8_t, B>(model.open)),
          extend_(splat<int8_t, B>(model.extend)) {
        auto get = [&](CorridorBuffer buffer, size_t n) {
            return static_cast<V *>(scratch.buffers.get(buffer, n * B));
        };
        profile_ = get(CorridorBuffer::profile, 32 * columns_);
        rows_ = get(CorridorBuffer::rows, kCorridorRows * columns_);
        kept_ = get(CorridorBuffer::kept, size_t(n_blocks_ + 1) * 2 * columns_);
        up_ = get(CorridorBuffer::up, 2 * columns_);
        ends_ = get(CorridorBuffer::ends, 2 * columns_);
        steps_ = get(CorridorBuffer::steps, 2 * size_t(n_blocks_ + 1));
        hits_ = static_cast<uint64_t *>(scratch.buffers.get(CorridorBuffer::hits, columns_ * sizeof(uint64_t)));
        make_profile(get(CorridorBuffer::letters, columns_));
        make_ends();
        crossings_.begin(n_blocks_);
    }

    bool run(const std::atomic<bool> &stopped) {
        for (size_t j = 0; j < columns_; ++j) kept_[2 * j] = V{}, kept_[2 * j + 1] = lowest_;
        for (int block = 0; block < n_blocks_; ++block) {
            if (stopped) return false;
            down(block);
        }
        end_ = subs<int8_t, B>(V{}, best_);
        for (size_t k = 0; k < 2 * columns_; ++k) up_[k] = lowest_;
        steps_[2 * n_blocks_] = V{};
        for (int block = n_blocks_ - 1; block >= 0; --block) {
            if (stopped) return false;
            up(block);
            if (block + 1 < n_blocks_) cross(block + 1);
        }
        return true;
    }

  private:
    void make_profile(V *letters) {
        auto *bytes = reinterpret_cast<int8_t *>(letters);
        std::memset(bytes, kPosteriorPad, columns_ * B);
        bool occurs[32] = {};
        occurs[kPosteriorPad] = true;
        for (int p = 0; p < unit_.n_parts; ++p) {
            const CorridorUnit::Part &part = unit_.parts[p];
            for (int i = 0; i < part.m; ++i) occurs[part.x[i]] = true;
            for (int l = 0; l < part.n_lanes; ++l)
                for (int j = 1; j <= part.n[l]; ++j)
                    bytes[size_t(j) * B + size_t(p * kPartLanes + l)] = int8_t(part.y[l][j - 1]);
        }
        for (int a = 0; a < 32; ++a)
            for (size_t j = 1; occurs[a] && j < columns_; ++j)
                profile_[size_t(a) * columns_ + j] = lookup32<B>(model_.scores[a], letters[j]);
    }

    /// Of each column: all ones in the lanes that end there, and the lowest number in the others.
    void make_ends() {
        std::memset(ends_, 0, 2 * columns_ * B);
        for (int p = 0; p < unit_.n_parts; ++p)
            for (int l = 0; l < unit_.parts[p].n_lanes; ++l) {
                const int n = unit_.parts[p].n[l];
                reinterpret_cast<int8_t *>(ends_ + 2 * n)[p * kPartLanes + l] = -1;
                first_end_ = std::min(first_end_, n);
            }
        for (size_t j = 0; j < columns_; ++j) ends_[2 * j + 1] = ~ends_[2 * j] & lowest_;
    }
    [[gnu::always_inline]] V at_ends(int j, V v) const { return (v & ends_[2 * j]) | ends_[2 * j + 1]; }
    /// The number in the lanes that are all ones in `chosen`, the lowest in the others.
    [[gnu::always_inline]] V among(V chosen, V v) const { return (v & chosen) | (lowest_ & ~chosen); }

    int letter(int part, int i) const {
        return part < unit_.n_parts && i < unit_.parts[part].m ? unit_.parts[part].x[i] : kPosteriorPad;
    }
    V *kept(int boundary) const { return kept_ + size_t(boundary) * 2 * columns_; }

    /// The scores of a block's rows, each lane's by the letter of its own x; and in which lanes a row is the last.
    bool make_rows(int block, V (&last)[kCorridorRows]) {
        bool has_last = false;
        for (int r = 0; r < kCorridorRows; ++r) {
            const int i = block * kCorridorRows + r;
            const int8_t *of_part[kParts];
            last[r] = V{};
            for (int p = 0; p < kParts; ++p) {
                const V *profile = profile_ + size_t(letter(p, i)) * columns_;
                of_part[p] = reinterpret_cast<const int8_t *>(profile) + p * kPartLanes;
                if (p < unit_.n_parts && i + 1 == unit_.parts[p].m) {
                    std::memset(reinterpret_cast<int8_t *>(&last[r]) + p * kPartLanes, -1, kPartLanes);
                    has_last = true;
                }
            }
            put_row(of_part, rows_ + size_t(r) * columns_, std::make_integer_sequence<int, kParts>{});
        }
        return has_last;
    }
    /// Each part's lanes from where its letter has them.
    template <int... p>
    void put_row(const int8_t *const (&of_part)[kParts], V *row, std::integer_sequence<int, p...>) const {
        static_assert(kPartLanes == sizeof(int64_t));
        auto lanes_at = [](const int8_t *at) {
            int64_t lanes;
            std::memcpy(&lanes, at, sizeof lanes);
            return lanes;
        };
        const int8_t *const from[] = {of_part[p]...};
        for (size_t j = 1; j < columns_; ++j) row[j] = (V)Vec<int64_t, B>{lanes_at(from[p] + j * B)...};
    }

    /// The rows of a block, downwards, into what is kept of the boundary behind it.
    void down(int block) {
        const V step = vmax(highest_, V{});
        start_ = subs<int8_t, B>(start_, step), best_ = subs<int8_t, B>(best_, step);
        steps_[2 * block] = step, steps_[2 * block + 1] = start_;
        V last[kCorridorRows];
        if (make_rows(block, last)) down_rows<true>(block, last);
        else down_rows<false>(block, last);
    }

    template <bool has_last>
    [[gnu::noinline]] void down_rows(int block, const V *last) {
        const V open = open_, extend = extend_, step = steps_[2 * block];
        const V *const from = kept(block), *const row = rows_;
        V *const to = kept(block + 1);
        const size_t stride = columns_;
        V diagonal[kCorridorRows], E[kCorridorRows], highest = lowest_, best = best_, is_behind{};
        for (int r = 0; r < kCorridorRows; ++r) diagonal[r] = start_, E[r] = lowest_;
        auto column = [&](int j, auto is_tail) __attribute__((always_inline)) {
            V S = subs<int8_t, B>(from[2 * j], step), F = subs<int8_t, B>(from[2 * j + 1], step);
#pragma GCC unroll 4
            for (int r = 0; r < kCorridorRows; ++r) {
                const V M = adds<int8_t, B>(row[size_t(r) * stride + size_t(j)], diagonal[r]);
                diagonal[r] = S;
                S = vmax(M, adds<int8_t, B>(vmax(E[r], F), open));
                F = vmax(M, adds<int8_t, B>(F, extend));
                E[r] = vmax(M, adds<int8_t, B>(E[r], extend));
                if constexpr (decltype(is_tail)::value) best = vmax(best, at_ends(j, M));
                if constexpr (has_last) best = vmax(best, among(last[r] & ~is_behind, M));
            }
            if constexpr (has_last && decltype(is_tail)::value) is_behind |= ends_[2 * j];
            to[2 * j] = S, to[2 * j + 1] = F;
            highest = vmax(highest, S);
        };
        int j = 1;
        for (; j < first_end_; ++j) column(j, std::false_type{});
        for (; j <= N_; ++j) column(j, std::true_type{});
        // Where a path begins in column 0 or not at all, the row is as high as that.
        highest_ = vmax(highest, start_), best_ = best;
    }

    /// The rows of a block, upwards, and which columns of the boundary behind it alignments cross that are worth it.
    void up(int block) {
        end_ = subs<int8_t, B>(end_, steps_[2 * block + 2]);
        V last[kCorridorRows];
        if (make_rows(block, last)) up_rows<true>(block, last);
        else up_rows<false>(block, last);
    }

    template <bool has_last>
    [[gnu::noinline]] void up_rows(int block, const V *last) {
        const V open = open_, extend = extend_, end = end_, step = steps_[2 * block + 2];
        const V too_low = splat<int8_t, B>(int8_t(-model_.slack - 1));
        const V *const behind = kept(block + 1), *const row = rows_;
        const size_t stride = columns_;
        V right[kCorridorRows], E[kCorridorRows], is_within{};
        for (int r = 0; r < kCorridorRows; ++r) right[r] = E[r] = lowest_;
        auto column = [&](int j, auto is_tail) __attribute__((always_inline)) {
            V M = subs<int8_t, B>(up_[2 * j], step), F = subs<int8_t, B>(up_[2 * j + 1], step);
            const V by_match = adds<int8_t, B>(behind[2 * j], right[kCorridorRows - 1]);
            const V by_gap = adds<int8_t, B>(adds<int8_t, B>(behind[2 * j + 1], F), open);
            hits_[j] = widened(gt_bits<int8_t, B>(vmax(by_match, by_gap), too_low));
            if constexpr (has_last && decltype(is_tail)::value) is_within |= ends_[2 * j];
#pragma GCC unroll 4
            for (int r = kCorridorRows - 1; r >= 0; --r) {
                V C = vmax(right[r], adds<int8_t, B>(vmax(F, E[r]), open));
                if constexpr (decltype(is_tail)::value) C = vmax(C, at_ends(j, end));
                if constexpr (has_last) C = vmax(C, among(last[r] & is_within, end));
                F = vmax(right[r], adds<int8_t, B>(F, extend));
                E[r] = vmax(right[r], adds<int8_t, B>(E[r], extend));
                right[r] = M;
                M = adds<int8_t, B>(row[size_t(r) * stride + size_t(j)], C);
            }
            up_[2 * j] = M, up_[2 * j + 1] = F;
        };
        int j = N_;
        for (; j >= first_end_; --j) column(j, std::true_type{});
        for (; j >= 1; --j) column(j, std::false_type{});
        const V at_start = adds<int8_t, B>(steps_[2 * block + 1], right[kCorridorRows - 1]);
        hits_[0] = widened(gt_bits<int8_t, B>(at_start, too_low));
    }

    /// From hits to the lowest and the highest column of each lane.
    void cross(int boundary) {
        uint64_t all = 0;  // of the parts that have rows behind the boundary
        for (int p = 0; p < unit_.n_parts; ++p)
            if (boundary * kCorridorRows < unit_.parts[p].m)
                all |= ((uint64_t{1} << unit_.parts[p].n_lanes) - 1) << (p * kPartLanes);
        uint64_t missing = all;
        auto enter = [&](int j, int32_t *columns) {
            for (uint64_t here = hits_[j] & missing; here != 0; here &= here - 1)
                columns[size_t(boundary) * kCorridorLanes + size_t(std::countr_zero(here))] = j;
            missing &= ~hits_[j];
        };
        for (int j = 0; j <= N_ && missing != 0; ++j) enter(j, crossings_.lowest.data());
        missing = all & ~missing;
        for (int j = N_; j >= 0 && missing != 0; --j) enter(j, crossings_.highest.data());
    }

    const CorridorModel &model_;
    const CorridorUnit &unit_;
    Crossings &crossings_;
    const int N_;
    int first_end_;
    const int n_blocks_;
    const size_t columns_;
    const V lowest_, open_, extend_;
    V *profile_, *rows_, *kept_, *up_, *ends_,
        *steps_;  // steps_: per block by how much the base rises, and what a start is
    uint64_t *hits_;
    V start_{}, highest_{}, best_ = lowest_, end_;
};

template <int B>
bool find_corridors(const CorridorModel &model, const CorridorUnit &unit, const std::atomic<bool> &stopped,
                    CorridorScratch &scratch) {
    return CorridorSweep<B>(model, unit, scratch).run(stopped);
}

}  // namespace tropalign::TROPALIGN_ISA
