// A unit from residues to sparse rows. The forward sweep goes down the rows, the backward sweep up again, and
// multiplies its values by the matches that the forward sweep kept. If those of all rows would not stay in the
// cache, the forward sweep first stores a checkpoint (the values that a row passes down) per block of rows, and
// each block is computed again just before the backward sweep passes it:
//
//     row 1      forward   +----------+ checkpoint 0    ^ 5. backward
//                          |  block 0 |  4. again       |
//                          +----------+ checkpoint 1    ^ 3. backward
//                1. forward|  block 1 |  2. again       |
//                          +----------+
//     row m                   last row: totals
//
// Numbers are scaled by powers of two, per lane, after every `between` rows, and the backward sweep by the
// inverse, so that a posterior is just the product of the values of two sweeps. For the next `between` rows, the
// residues determine the largest factor by which they multiply numbers, 2^growth. The largest S of a row is
// brought near 2^(kSafe - growth); so it stays below 2^kSafe, and a value that the backward sweep loses as too
// small for the type (underflow) has a posterior below 2^-kNegligible. Conversely, a value that the forward sweep
// loses has such a posterior as long as the backward sweep's numbers also stay below 2^kSafe:
//
//     exponent   smallest             0             kSafe
//     forward        |--- lost <------|------------- S |
//     backward       |                |              B |   B * lost < 2^(kSafe + smallest) = 2^-kNegligible
//
// If they may not, the pair is computed again in a type with a wider range (double, then long double).
#pragma once
#include <bit>
#include <limits>

#include "../simd/denormals.hpp"
#include "posterior_rows.hpp"
#include "posterior_unit.hpp"

namespace tropalign::TROPALIGN_ISA {

inline constexpr int kNegligible = 24;
template <class T>
inline constexpr int kSafe = 1 - std::numeric_limits<T>::min_exponent - kNegligible;

template <class V>
using IntegerLanes =
    Vec<std::conditional_t<sizeof(typename Real<V>::T) == 8, int64_t, int32_t>, sizeof(V)>;  // never for long double

/// Return the power of two that brings numbers up to `highest` near 2^target.
template <class V>
V factor_for(V highest, int target) {
    using T = typename Real<V>::T;
    if constexpr (Real<V>::lanes == 1) {
        return highest > 0 && std::isfinite(highest) ? std::ldexp(T{1}, target - std::ilogb(highest)) : T{1};
    } else {
        using I = IntegerLanes<V>;
        constexpr int bias = std::numeric_limits<T>::max_exponent - 1, fraction = std::numeric_limits<T>::digits - 1;
        const I exponent = (I)highest >> fraction;  // with the bias; sums stay above 0
        I wanted = 2 * bias + target - exponent;
        wanted = wanted > 2 * bias ? I{} + bias : wanted;  // also for 0
        return (V)(wanted << fraction);
    }
}

template <class V, class Letters>
class Sweep {
    using T = typename Real<V>::T;
    static constexpr int L = Real<V>::lanes;

  public:
    Sweep(const PosteriorModel &model, const PosteriorUnit &unit, int lowest, PosteriorScratch &scratch)
        : model_(model), unit_(unit), constants_(model), lowest_(lowest), lanes_(scratch.lane),
          buffers_(scratch.buffers), N_(*std::max_element(unit.n, unit.n + unit.n_lanes)),
          blocks_(model, unit.m, N_, sizeof(V)), sizes_(posterior_sizes(blocks_, N_, sizeof(V), L)),
          down_(get<V>(PosteriorBuffer::down)), up_(get<V>(PosteriorBuffer::up)), kept_(get<V>(PosteriorBuffer::kept)),
          checkpoints_(get<V>(PosteriorBuffer::checkpoints)), factors_(get<V>(PosteriorBuffer::factors)),
          out_{get<V>(PosteriorBuffer::values), get<uint16_t>(PosteriorBuffer::hits), (N_ + 4) / 4 * 4},
          found_(get<uint32_t>(PosteriorBuffer::found)) {
        std::memset(out_.hits, 0, 4 * static_cast<size_t>(out_.hit_stride));
        columns_.N = N_;
        columns_.first_end = *std::min_element(unit.n, unit.n + unit.n_lanes);
        make_ends();
        make_letters();
    }

    bool run(const std::atomic<bool> &stopped) {
        for (int l = 0; l < unit_.n_lanes; ++l) lanes_[l].n_elements = 0, lanes_[l].row_sizes.resize(unit_.m);
        begin();
        for (int block = 0; block < blocks_.count; ++block) {
            if (stopped) return false;
            if (block > 0) save(block - 1);
            forward(block, block + 1 == blocks_.count);
        }
        for (int block = blocks_.count - 1; block >= 0 && sound_; --block) {
            if (stopped) return false;
            if (block + 1 < blocks_.count) {
                if (block == 0) begin();
                else restore(block - 1);
                forward(block, true);
            }
            backward(block);
        }
        finish();
        return true;
    }

  private:
    static size_t size(int64_t n) { return static_cast<size_t>(n); }
    template <class Item>
    Item *get(PosteriorBuffer buffer) {
        return static_cast<Item *>(buffers_.get(buffer, sizes_[static_cast<size_t>(buffer)]));
    }
    size_t checkpoint_size() const { return kPosteriorDown * (size(N_) + 1) + kPosteriorEdge; }

    void make_ends() {
        V *is_end = get<V>(PosteriorBuffer::is_end);
        std::memset(is_end, 0, sizeof(V) * (size(N_) + 1));
        for (int l = 0; l < unit_.n_lanes; ++l) reinterpret_cast<T *>(is_end + unit_.n[l])[l] = 1;
        columns_.is_end = is_end;
    }

    int code(int l, int j) const { return l < unit_.n_lanes && j <= unit_.n[l] ? unit_.y[l][j - 1] : kPosteriorPad; }

    void make_letters() {
        if constexpr (std::is_same_v<Letters, PermutedLetters<V>>) {
            // The tables are stored after the letters.
            const size_t n = size(N_) * L;
            auto *letters = get<int32_t>(PosteriorBuffer::letters);
            for (int l = 0; l < L; ++l)
                for (int j = 1; j <= N_; ++j) letters[(j - 1) * L + l] = code(l, j);
            auto *tables = reinterpret_cast<float *>(letters + n);
            for (int a = 0; a < 32; ++a)
                for (int b = 0; b < 32; ++b) {
                    tables[a * 64 + b] = static_cast<float>(model_.odds[a][b]);
                    tables[a * 64 + 32 + b] = static_cast<float>(model_.boltzmann[a][b]);
                }
            columns_.letters = {letters, tables};
        } else {
            bool occurs[32] = {};
            for (int i = 0; i < unit_.m; ++i) occurs[unit_.x[i]] = true;
            int n_rows = 0;
            for (int a = 0; a < 32; ++a) row_of_[a] = occurs[a] ? n_rows++ : 0;
            const size_t stride = 2 * size(N_);
            V *profile = get<V>(PosteriorBuffer::letters);
            for (int a = 0; a < 32; ++a) {
                if (!occurs[a]) continue;
                T *values = reinterpret_cast<T *>(profile + row_of_[a] * stride);
                for (int l = 0; l < L; ++l)
                    for (int j = 1; j <= N_; ++j) {
                        const int b = code(l, j);
                        values[(2 * (j - 1)) * L + l] = static_cast<T>(model_.odds[a][b]);
                        values[(2 * (j - 1) + 1) * L + l] = static_cast<T>(model_.boltzmann[a][b]);
                    }
            }
            columns_.letters = {profile, row_of_, static_cast<int64_t>(stride)};
        }
    }

    /// Return log2 of the largest factor of the rows after `row`, up to the next scaling.
    int growth_after(int row) const {
        double sum = 0;
        for (int i = row; i < std::min(row + blocks_.between, unit_.m); ++i) sum += model_.growth[unit_.x[i]];
        return static_cast<int>(std::ceil(sum));
    }
    /// Return log2 of the magnitude to which forward values are scaled. It is at least 2, so that `factor_for` can
    /// scale any value to it.
    int target_after(int row) const { return std::max(2, kSafe<T> - growth_after(row)); }

    /// Set row 0, scaled like the rows after it.
    void begin() {
        const T one = std::ldexp(T{1}, target_after(0));
        edge_ = LeftEdge<V>{};
        V Y1 = every<V>(static_cast<T>(model_.start_insert[0]) * one),
          Y2 = every<V>(static_cast<T>(model_.start_insert[1]) * one);
        edge_.S = every<V>(static_cast<T>(model_.start_match) * one);
        edge_.X1 = Y1, edge_.X2 = Y2, edge_.free = every<V>(static_cast<T>(model_.start_free) * one);
        edge_.T = every<V>(one);
        edge_.hmm_scale = edge_.part_scale = every<V>(T{1});
        for (int j = 1; j <= N_; ++j) {
            V *at = down_ + kPosteriorDown * size(j);
            at[0] = fma(constants_.a1, Y1, fma(constants_.a2, Y2, edge_.free));
            at[1] = at[2] = at[4] = V{};
            at[3] = every<V>(one);
            Y1 = constants_.e1 * Y1, Y2 = constants_.e2 * Y2;
        }
    }

    void save(int checkpoint) {
        V *to = checkpoints_ + size(checkpoint) * checkpoint_size();
        std::memcpy(to, down_, sizeof(V) * kPosteriorDown * (size(N_) + 1));
        std::memcpy(to + kPosteriorDown * (size(N_) + 1), &edge_, sizeof edge_);
    }
    void restore(int checkpoint) {
        const V *from = checkpoints_ + size(checkpoint) * checkpoint_size();
        std::memcpy(down_, from, sizeof(V) * kPosteriorDown * (size(N_) + 1));
        std::memcpy(&edge_, from + kPosteriorDown * (size(N_) + 1), sizeof edge_);
    }

    /// Compute the rows of a block, including the unit's last row if the block has it; keep all of them or none.
    void forward(int block, bool keeps) {
        const int begin = blocks_.begin(block), end = blocks_.end(block), last = unit_.m - 1;
        const size_t stride = 2 * (size(N_) + 1);
        auto kept = [&](int i) { return keeps ? kept_ + size(i - begin) * stride : kept_; };
        int i = begin;
        for (; i + 2 <= std::min(end, last); i += 2) {
            const bool scales = i > 0 && i % blocks_.between == 0, measures = (i + 2) % blocks_.between == 0;
            const uint8_t *x = unit_.x + i;
            if (scales && measures) forward_rows<2, true, true>(constants_, columns_, x, edge_, down_, kept(i));
            else if (scales) forward_rows<2, true, false>(constants_, columns_, x, edge_, down_, kept(i));
            else if (measures) forward_rows<2, false, true>(constants_, columns_, x, edge_, down_, kept(i));
            else forward_rows<2, false, false>(constants_, columns_, x, edge_, down_, kept(i));
            edge_.hmm_scale = edge_.part_scale = every<V>(T{1});
            if (measures) choose_scale(i + 2);
        }
        if (i < std::min(end, last)) {
            forward_rows<1, true, false>(constants_, columns_, unit_.x + i, edge_, down_, kept(i));
            edge_.hmm_scale = edge_.part_scale = every<V>(T{1});
            ++i;
        }
        if (end > last)
            forward_last(constants_, model_, columns_, unit_.x[last], edge_, down_, kept(last), hmm_total_,
                         part_total_);
    }

    /// Choose the scale after `rows` rows.
    void choose_scale(int rows) {
        V *factor = factors_ + 2 * size(rows / blocks_.between);
        factor[0] = edge_.hmm_scale = factor_for(edge_.hmm_highest, target_after(rows));
        factor[1] = edge_.part_scale = factor_for(edge_.part_highest, target_after(rows));
    }

    void backward(int block) {
        const int begin = blocks_.begin(block), last = unit_.m - 1;
        int i = blocks_.end(block);  // rows from here on are done
        const size_t stride = 2 * (size(N_) + 1);
        if (i > last) {
            begin_backward();
            backward_last(constants_, model_, columns_, unit_.x[last], right_, up_, kept_ + size(last - begin) * stride,
                          out_);
            keep(last, 1);
            i = last;
        }
        if ((i - begin) % 2) {
            --i;
            backward_rows<1, false>(constants_, columns_, unit_.x + i, right_, up_, kept_ + size(i - begin) * stride,
                                    out_);
            keep(i, 1);
        }
        for (; i > begin; i -= 2) {
            const uint8_t *x = unit_.x + i - 2;
            const V *kept = kept_ + size(i - 2 - begin) * stride;
            if (i % blocks_.between == 0) {
                right_.hmm_scale = factors_[2 * size(i / blocks_.between)];
                right_.part_scale = factors_[2 * size(i / blocks_.between) + 1];
                right_.highest = V{};
                backward_rows<2, true>(constants_, columns_, x, right_, up_, kept, out_);
                check_range(right_.highest, i - blocks_.between);
                if (sound_ == 0) return;
            } else {
                backward_rows<2, false>(constants_, columns_, x, right_, up_, kept, out_);
            }
            keep(i - 2, 2);
        }
    }

    /// Check that backward numbers up to `highest` stay in range for the rows between this one and the next
    /// scaling.
    void check_range(V highest, int row) {
        sound_ &= ~lanes_at_least(highest, every<V>(std::ldexp(T{1}, kSafe<T> - growth_after(row))));
    }

    void begin_backward() {
        sound_ = (1u << unit_.n_lanes) - 1;
        const T one = 1, s = static_cast<T>(model_.hmm_share);
        right_ = RightEdge<V>{};
        right_.hmm_end = every<V>(std::sqrt(s)) / hmm_total_;
        right_.hmm_free = constants_.free * right_.hmm_end;
        right_.part_end = every<V>(std::sqrt(one - s)) / part_total_;
        right_.lowest = every<V>(static_cast<T>(lowest_));
        check_range(larger(right_.hmm_end, right_.part_end), (unit_.m - 1) / blocks_.between * blocks_.between);
    }

    /// Write the positions of a row's hits, 16 column + lane, to `found_`; return their number. Four are written
    /// at once, and the excess is overwritten: a loop that ends after a few would always be mispredicted.
    size_t find_hits(const uint16_t *hits) {
        uint32_t *to = found_;
        for (int64_t at = 0; at < out_.hit_stride; at += 4) {
            uint64_t bits;
            std::memcpy(&bits, hits + at, 8);
            bits &= sound_ * uint64_t{0x0001000100010001};
            if (bits == 0) continue;
            const auto base = static_cast<uint32_t>(16 * at);
            const int n = std::popcount(bits);
            for (int k = 0; k < n; k += 4)
                for (int of_four = 0; of_four < 4; ++of_four) {
                    to[k + of_four] = base + static_cast<uint32_t>(std::countr_zero(bits));
                    bits &= bits - 1;
                }
            to += n;
        }
        return static_cast<size_t>(to - found_);
    }

    /// Store the elements of `count` rows starting at i, the last row first.
    void keep(int i, int count) {
        for (int r = count - 1; r >= 0; --r) {
            const T *values = reinterpret_cast<const T *>(out_.values + size(r) * (size(N_) + 1));
            size_t before[kPosteriorLanes];
            uint32_t *top[kPosteriorLanes];
            for (int l = 0; l < unit_.n_lanes; ++l) {
                before[l] = lanes_[l].n_elements;
                if (lanes_[l].elements.size() < before[l] + size(N_))
                    lanes_[l].elements.resize(2 * (before[l] + size(N_)));
                top[l] = lanes_[l].elements.data() + before[l];
            }
            const size_t n_hits = find_hits(out_.hits + r * out_.hit_stride);
            for (size_t k = 0; k < n_hits; ++k) {
                const uint32_t l = found_[k] % 16, j = found_[k] / 16;
                const int value = std::min(static_cast<int>(values[size_t{j} * L + l]), kPosteriorOne);
                *top[l]++ = (j - 1) | static_cast<uint32_t>(value) << 16;
            }
            for (int l = 0; l < unit_.n_lanes; ++l) {
                lanes_[l].n_elements = static_cast<size_t>(top[l] - lanes_[l].elements.data());
                lanes_[l].row_sizes[i + r] = static_cast<uint16_t>(lanes_[l].n_elements - before[l]);
            }
        }
    }

    void finish() {
        for (int l = 0; l < unit_.n_lanes; ++l) {
            const T hmm = lane_of(hmm_total_, l), part = lane_of(part_total_, l),
                    expected = lane_of(up_[kPosteriorUp + 5], l);
            const bool finite =
                std::isfinite(hmm) && std::isfinite(part) && hmm > 0 && part > 0 && std::isfinite(expected);
            lanes_[l].underflowed = !finite || (sound_ >> l & 1) == 0;
            lanes_[l].distance = finite ? static_cast<float>(1 - expected / std::min(unit_.m, unit_.n[l])) : 1.0f;
        }
    }

    const PosteriorModel &model_;
    const PosteriorUnit &unit_;
    const Constants<V> constants_;
    const int lowest_;
    PosteriorLane *const lanes_;
    Scratch<PosteriorBuffer> &buffers_;
    const int N_;
    const PosteriorBlocks blocks_;
    const PosteriorSizes sizes_;
    V *const down_, *const up_, *const kept_, *const checkpoints_, *const factors_;
    const PosteriorRows<V> out_;
    uint32_t *const found_;
    Columns<V, Letters> columns_;
    int32_t row_of_[32];
    static_assert(sizeof(LeftEdge<V>) == kPosteriorEdge * sizeof(V));
    LeftEdge<V> edge_;
    RightEdge<V> right_;
    V hmm_total_, part_total_;
    uint32_t sound_ = 1;  // lanes whose numbers are in range so far
};

template <class V, class Letters>
bool run_posterior_unit(const PosteriorModel &model, const PosteriorUnit &unit, int lowest,
                        const std::atomic<bool> &stopped, PosteriorScratch &scratch) {
    // Denormal numbers are treated as 0: they mean no more here, and the processor's slow path is avoided.
    const DenormalsAsZero flush;
    return Sweep<V, Letters>(model, unit, lowest, scratch).run(stopped);
}

}  // namespace tropalign::TROPALIGN_ISA
