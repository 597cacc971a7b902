// Soft alignment: sums over alignments of w = exp(score / temperature), forward and backward, and from them the
// probability of each pair of residues. Gaps are counted without the cost of opening them, o = exp(-open / T):
//
//     M(i,j) = w(i,j) (T(i-1,j-1) [+ 1, local])            A = E + M + o F     continues with a residue of a column
//     E(i,j) = e A(i,j-1)                                  B = F + M           continues with a residue of a row
//     F(i,j) = e B(i-1,j)            e = exp(-extend / T)  T = M + o (E + F)   continues with a pair
//
// Of two adjacent gaps, that of the rows (F) precedes that of the columns: each such alignment counts once. The
// backward sums of M, E and F are the derivatives of the sum over all alignments, Z.
//
// A strip has a row per lane of two vectors, and in step t lane l computes column t - l, from 0:
//
//     lane 0   0 1 2 3 4 ...              w, M, E and F of all steps are kept, a vector each
//     lane 1     0 1 2 3 ...
//
// Numbers are in a linear domain, scaled by powers of two per lane and window of steps: true number = number *
// 2^scale. A window is so short that nothing that matters leaves the range of the type. An alignment that ends some
// columns later has at most that many more pairs; with gaps in their place it ends here, at most two of them new. So
// numbers rise by at most highest score + extend + 3 bits per column (3 for the number of alignments) and 2 open once.
// They fall by at most extend bits per column and 2 open once, and the numbers of a lane belong to columns one apart.
// Of those, numbers matter down to the digits of the type. If not even one step fits, or a result is not finite, a
// table of float is computed in double.
//
// Bound: 28 instructions per cell with AVX2 (300 x 300, windows of 7 steps), a fifth of them for exponentials and a
// fifth for scales and borders of windows. Zen 5 finishes four per cycle, so that instructions are the limit. With one
// vector per strip, the limit was the longest chain of a step: from F through a move down and two factors to F.
//
// The sweep of posteriors of multiple alignment (msa/posterior_sweep.hpp) has a pair per lane, scores by letters
// and a scale per row, so that it serves many short pairs of bounded scores; here a pair has a table of its own,
// whose scores, divided by the temperature, are unbounded.
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>

#include "../simd/denormals.hpp"
#include "../simd/real.hpp"
#include "soft_tile.hpp"

namespace tropalign::TROPALIGN_ISA {
namespace {

/// A sum of numbers with scales of their own.
struct ScaledSum {
    double value = 0;
    int64_t scale = INT32_MIN;

    void add(double number, int64_t its_scale) {
        if (!(number > 0)) return;
        int exponent;
        number = std::frexp(number, &exponent);
        its_scale += exponent;
        if (its_scale > scale) value = shifted(value, scale - its_scale), scale = its_scale;
        value += shifted(number, its_scale - scale);
    }
    static double shifted(double number, int64_t by) {
        return std::ldexp(number, static_cast<int>(std::clamp<int64_t>(by, -5000, 5000)));
    }
};

#define TROPALIGN_INLINE __attribute__((always_inline))

/// Two vectors that act as one. A step of a strip depends on the step before: one vector waits for results most of the
/// time, two overlap. (A vector type of twice the registers' size compiles to loops over memory.)
template <class U>
struct Twin {
    using Item = std::remove_cvref_t<decltype(U{}[0])>;
    static constexpr int kHalf = static_cast<int>(sizeof(U) / sizeof(Item)), kLanes = 2 * kHalf;
    U low, high;

    TROPALIGN_INLINE static Twin all(Item x) { return {U{} + x, U{} + x}; }
    TROPALIGN_INLINE static Twin loaded(const Item *from) {
        return {load<Item, sizeof(U)>(from), load<Item, sizeof(U)>(from + kHalf)};
    }
    TROPALIGN_INLINE void stored(Item *to) const {
        store<Item, sizeof(U)>(to, low), store<Item, sizeof(U)>(to + kHalf, high);
    }
    TROPALIGN_INLINE Item operator[](int l) const { return l < kHalf ? low[l] : high[l - kHalf]; }
    void set(int l, Item x) { (l < kHalf ? low : high)[l % kHalf] = x; }

    TROPALIGN_INLINE friend Twin operator+(Twin a, Twin b) { return {a.low + b.low, a.high + b.high}; }
    TROPALIGN_INLINE friend Twin operator-(Twin a, Twin b) { return {a.low - b.low, a.high - b.high}; }
    TROPALIGN_INLINE friend Twin operator*(Twin a, Twin b) { return {a.low * b.low, a.high * b.high}; }
    TROPALIGN_INLINE friend Twin operator>>(Twin a, int by) { return {a.low >> by, a.high >> by}; }
    TROPALIGN_INLINE friend Twin fma(Twin a, Twin b, Twin c) {
        return {TROPALIGN_ISA::fma(a.low, b.low, c.low), TROPALIGN_ISA::fma(a.high, b.high, c.high)};
    }
    TROPALIGN_INLINE friend Twin larger(Twin a, Twin b) {
        return {TROPALIGN_ISA::larger(a.low, b.low), TROPALIGN_ISA::larger(a.high, b.high)};
    }
    TROPALIGN_INLINE friend Twin smaller(Twin a, Twin b) {
        return {TROPALIGN_ISA::smaller(a.low, b.low), TROPALIGN_ISA::smaller(a.high, b.high)};
    }
    /// Return x where a > b, otherwise y.
    template <class C>
    TROPALIGN_INLINE friend Twin where_above(Twin<C> a, Twin<C> b, Twin x, Twin y) {
        return {a.low > b.low ? x.low : y.low, a.high > b.high ? x.high : y.high};
    }
    /// Return `first`, then all lanes but the last.
    TROPALIGN_INLINE Twin moved_down(Item first) const {
        return [&]<int... l>(std::integer_sequence<int, l...>) TROPALIGN_INLINE {
            return Twin{__builtin_shufflevector(U{} + first, low, (kHalf - 1 + l)...),
                        __builtin_shufflevector(low, high, (kHalf - 1 + l)...)};
        }(std::make_integer_sequence<int, kHalf>{});
    }
    /// Return all lanes but the first, then `last`.
    TROPALIGN_INLINE Twin moved_up(Item last) const {
        return [&]<int... l>(std::integer_sequence<int, l...>) TROPALIGN_INLINE {
            return Twin{__builtin_shufflevector(low, high, (1 + l)...),
                        __builtin_shufflevector(high, U{} + last, (1 + l)...)};
        }(std::make_integer_sequence<int, kHalf>{});
    }
};

template <class T, bool is_local>
class SoftSweep {
    using Int = std::conditional_t<sizeof(T) == 8, int64_t, int32_t>;
    using One = Vec<T, kVectorBytes>;
    using OneInt = Vec<Int, kVectorBytes>;
    using V = Twin<One>;
    using I = Twin<OneInt>;
    static constexpr int L = V::kLanes, kBlock = V::kHalf < 4 ? V::kHalf : 4;
    static constexpr int kFraction = std::numeric_limits<T>::digits - 1,
                         kBias = std::numeric_limits<T>::max_exponent - 1;
    static constexpr int kMostSteps = 16, kKept = kFraction + 3;

  public:
    SoftSweep(const SoftTable &table, const SoftScoring &scoring, Scratch<SoftSlot> &scratch)
        : table_(table), free_(scoring.free_ends), m_(table.n_rows), n_(table.n_columns), n_strips_((m_ + L - 1) / L),
          stride_((n_ + L + 3) / 4 * 4), unit_(std::numbers::log2e_v<long double> / scoring.temperature),
          open_(static_cast<double>(scoring.open * unit_)), extend_(static_cast<double>(scoring.extend * unit_)),
          near_unit_(static_cast<T>(unit_)), unit_rest_(static_cast<T>(unit_ - near_unit_)),
          lowest_(static_cast<T>(-(kBias + 2) / unit_)), o_(static_cast<T>(std::exp2(-open_))),
          e_(static_cast<T>(std::exp2(-extend_))), scratch_(scratch) {}

    /// Return the sums; nothing if numbers leave the range of the type.
    std::optional<SoftSums> run() {
        if (!choose_steps()) return std::nullopt;
        lay_out();
        set_border();
        for (int s = 0; s < n_strips_; ++s) set_weights(s), forward(s);
        sum_ends();
        for (int s = n_strips_ - 1; s >= 0; --s) backward(s), put_posteriors(s);
        if (!is_local) add_border();
        if (!std::isfinite(n_gaps_) || !std::isfinite(gap_residues_)) return std::nullopt;
        return SoftSums{std::numbers::ln2 * (std::log2(z_.value) + static_cast<double>(z_.scale)), n_gaps_,
                        gap_residues_};
    }

  private:
    TROPALIGN_INLINE static One power(OneInt exponent) {
        exponent = exponent < -kBias ? OneInt{} - kBias : exponent;
        exponent = exponent > kBias ? OneInt{} + kBias : exponent;
        return (One)((exponent + kBias) << kFraction);
    }
    TROPALIGN_INLINE static V power(I exponent) { return {power(exponent.low), power(exponent.high)}; }
    TROPALIGN_INLINE static One loaded(const T *from) { return load<T, kVectorBytes>(from); }
    TROPALIGN_INLINE static void stored(T *to, One v) { store<T, kVectorBytes>(to, v); }

    bool choose_steps() {
        const T *scores = static_cast<const T *>(table_.scores);
        const int64_t count = int64_t{m_} * n_;
        V most{};
        int64_t k = 0;
        for (; k + L <= count; k += L) most = larger(most, V::loaded(scores + k));
        T highest = 0;
        for (; k < count; ++k) highest = std::max(highest, scores[k]);
        for (int l = 0; l < L; ++l) highest = std::max(highest, most[l]);
        const double bits = static_cast<double>(highest * unit_), rise = bits + extend_ + 3;
        const double room = 2 * kBias - 12 - kKept - 4 * open_ - bits - rise;
        if (!(room >= rise + extend_) || !(2 * (open_ + extend_) + kKept < kBias - 6)) return false;
        if (!(bits + 2 * open_ + 4 * extend_ + 8 < kBias)) return false;  // e times the ratio of two lanes' scales
        steps_ = static_cast<int>(std::min<double>(kMostSteps, room / (rise + extend_)));
        target_ = -std::max(0, kBias - 4 - kKept - static_cast<int>(std::ceil(2 * open_ + rise + steps_ * extend_)));
        n_windows_ = (n_ + L + steps_ - 1) / steps_;
        return true;
    }

    void lay_out() {
        const size_t cells = static_cast<size_t>(n_strips_) * stride_ * L;
        auto get = [&](SoftSlot slot, size_t count) { return static_cast<T *>(scratch_.get(slot, count * sizeof(T))); };
        weights_ = get(SoftSlot::weights, cells), m_kept_ = get(SoftSlot::matches, cells);
        e_kept_ = get(SoftSlot::column_gaps, cells), f_kept_ = get(SoftSlot::row_gaps, cells);
        const size_t windows = static_cast<size_t>(n_strips_) * n_windows_ * L;
        scales_ = static_cast<Int *>(scratch_.get(SoftSlot::scales, windows * sizeof(Int)));
        const size_t columns = n_ + 2 * L + kMostSteps + 2;  // zeros on both sides
        rows_ = get(SoftSlot::rows, static_cast<size_t>(L) * stride_);
        std::fill_n(rows_, static_cast<size_t>(L) * stride_, T{0});
        T *borders = get(SoftSlot::borders, columns * 3);
        border_t_ = borders + L, border_b_ = border_t_ + columns;
        border_scale_ = reinterpret_cast<Int *>(borders + 2 * columns) + L;
        clear_borders();
    }

    void clear_borders() {
        const int end = n_ + L + kMostSteps + 2;
        std::fill(border_t_ - L, border_t_ + end, T{0}), std::fill(border_b_ - L, border_b_ + end, T{0});
        std::fill(border_scale_ - L, border_scale_ + end, static_cast<Int>(-target_));
    }

    /// Set T, B and their scales in row 0.
    void set_border() {
        for (int j = 0; j <= n_; ++j) {
            const double log = is_local || free_.target_start || j == 0 ? 0 : -(open_ + j * extend_);
            const double whole = std::floor(log);
            const T one = std::ldexp(static_cast<T>(std::exp2(log - whole)), target_);
            border_t_[j] = is_local ? T{0} : one;
            border_b_[j] = is_local || (j > 0 && !free_.target_start) ? T{0} : one;
            border_scale_[j] = static_cast<Int>(whole) - target_;
        }
        if (!is_local && free_.query_end) z_.add(border_t_[n_], border_scale_[n_]);
    }

    /// Return 2^(score / temperature in bits); 0 below the range of the type.
    One weights_of(One scores) const {
        constexpr T rounder = std::is_same_v<T, float> ? T(0x1.8p23) : T(0x1.8p52);
        scores = larger(scores, One{} + lowest_);
        One whole, rest;
        if constexpr (sizeof(T) == 8 || kFused<One>) {
            whole = (scores * near_unit_ + rounder) - rounder;
            rest = fma(scores, One{} + unit_rest_, fma(scores, One{} + near_unit_, -whole));
        } else {
            using Wide = Vec<double, 2 * kVectorBytes>;
            const Wide bits = __builtin_convertvector(scores, Wide) * static_cast<double>(unit_);
            const Wide near = (bits + 0x1.8p52) - 0x1.8p52;
            whole = __builtin_convertvector(near, One), rest = __builtin_convertvector(bits - near, One);
        }
        constexpr int terms = sizeof(T) == 8 ? 13 : 7;  // of the series of 2^rest, |rest| <= 1/2
        static constexpr auto factors = [] {
            std::array<T, terms + 1> found{};
            long double factor = 1;
            for (int k = 0; k <= terms; ++k) {
                found[k] = static_cast<T>(factor);
                factor *= std::numbers::ln2_v<long double> / (k + 1);
            }
            return found;
        }();
        One sum = One{} + factors[terms];
        for (int k = terms - 1; k >= 0; --k) sum = fma(sum, rest, One{} + factors[k]);
        return sum * power(__builtin_convertvector(whole, OneInt));
    }

    /// Transpose a block of kBlock rows and columns.
    static void turn(const T *from, ptrdiff_t from_row, T *to, ptrdiff_t to_row) {
        if constexpr (sizeof(T) == 4) {
            using Q = Vec<float, 16>;
            const Q a = load<float, 16>(from), b = load<float, 16>(from + from_row),
                    c = load<float, 16>(from + 2 * from_row), d = load<float, 16>(from + 3 * from_row);
            const Q ac = __builtin_shufflevector(a, c, 0, 4, 1, 5), bd = __builtin_shufflevector(b, d, 0, 4, 1, 5);
            const Q ac2 = __builtin_shufflevector(a, c, 2, 6, 3, 7), bd2 = __builtin_shufflevector(b, d, 2, 6, 3, 7);
            store<float, 16>(to, __builtin_shufflevector(ac, bd, 0, 4, 1, 5));
            store<float, 16>(to + to_row, __builtin_shufflevector(ac, bd, 2, 6, 3, 7));
            store<float, 16>(to + 2 * to_row, __builtin_shufflevector(ac2, bd2, 0, 4, 1, 5));
            store<float, 16>(to + 3 * to_row, __builtin_shufflevector(ac2, bd2, 2, 6, 3, 7));
        } else {
            for (int r = 0; r < kBlock; ++r)
                for (int c = 0; c < kBlock; ++c) to[r * to_row + c] = from[c * from_row + r];
        }
    }

    T *of_strip(T *kept, int s) const { return kept + static_cast<ptrdiff_t>(s) * stride_ * L; }
    Int *scale_of(int s, int window) const { return scales_ + (static_cast<ptrdiff_t>(s) * n_windows_ + window) * L; }

    void set_weights(int s) {
        for (int l = 0; l < L; ++l) {
            const int row = s * L + l;
            T *to = rows_ + l * stride_ + l + 1;
            if (row >= m_) {
                std::fill_n(to, n_, T{0});
                continue;
            }
            const T *from = static_cast<const T *>(table_.scores) + static_cast<ptrdiff_t>(row) * n_;
            int j = 0;
            for (; j + V::kHalf <= n_; j += V::kHalf) stored(to + j, weights_of(loaded(from + j)));
            T rest[V::kHalf] = {};
            std::copy_n(from + j, n_ - j, rest);
            stored(rest, weights_of(loaded(rest)));
            std::copy_n(rest, n_ - j, to + j);
        }
        T *weights = of_strip(weights_, s);
        for (int t = 0; t < stride_; t += kBlock)
            for (int l = 0; l < L; l += kBlock) turn(rows_ + l * stride_ + t, stride_, weights + t * L + l, L);
    }

    /// Bring the largest of the numbers of each lane near 2^target; lanes without numbers keep their scale.
    template <class... Numbers>
    TROPALIGN_INLINE void rescale(I &scale, Numbers &...numbers) const {
        V highest{};
        ((highest = larger(highest, numbers)), ...);
        const I bits = {(OneInt)highest.low, (OneInt)highest.high};  // in the order of the numbers
        I by = I::all(target_ + kBias) - (bits >> kFraction);
        by = where_above(bits, I{}, by, I{});
        scale = scale - by;
        const V first = power(by >> 1), second = power(by - (by >> 1));
        ((numbers = numbers * first * second), ...);
    }

    void forward(int s) {
        const T *weights = of_strip(weights_, s);
        T *m_kept = of_strip(m_kept_, s), *e_kept = of_strip(e_kept_, s), *f_kept = of_strip(f_kept_, s);
        V A{}, B{}, T1{}, T2{};  // T of the last step, and of the one before, of the lane above
        T1.set(0, border_t_[0]);
        const V o = V::all(o_), e = V::all(e_);
        I scale = I::all(border_scale_[0]);
        for (int window = 0; window < n_windows_; ++window) {
            const int begin = window * steps_, end = std::min(begin + steps_, n_ + L);
            V one = is_local ? power(I{} - scale) : V{};
            rescale(scale, A, B, T1, T2, one);
            if (begin < L) continue_scales<1>(scale, larger(larger(A, B), larger(T1, T2)));
            scale.stored(scale_of(s, window));
            T in_t[kMostSteps], in_b[kMostSteps];
            take_border(border_t_, begin + 1, scale[0], in_t), take_border(border_b_, begin, scale[0], in_b);
            const V ratio = power(scale.moved_down(scale[0]) - scale), e_ratio = e * ratio;
            one = power(I{} - scale);
            const V fresh = is_local ? one : V{};
            V ended{};
            for (int t = begin; t < end; ++t) {
                V M = V::loaded(weights + t * L) * (is_local ? T2 + fresh : T2);
                V E = e * A, F = e_ratio * B.moved_down(in_b[t - begin]);
                if (!is_local && free_.query_start && t < L) M.set(t, one[t]), F.set(t, 0);
                const V U = fma(o, F, M);
                A = E + U, B = F + M;
                const V total = fma(o, E, U);
                T2 = T1, T1 = total.moved_down(in_t[t - begin]) * ratio;
                M.stored(m_kept + t * L), E.stored(e_kept + t * L), F.stored(f_kept + t * L);
                if (is_local) ended = ended + M;
                border_t_[t - L + 1] = total[L - 1], border_b_[t - L + 1] = B[L - 1];
            }
            for (int t = std::max(begin, L - 1); t < end; ++t) border_scale_[t - L + 1] = scale[L - 1];
            if (is_local) {
                I own = scale;
                rescale(own, ended);
                own = where_above(ended, V{}, own, z_scale_);
                const I most = where_above(own, z_scale_, own, z_scale_);
                z_lanes_ = z_lanes_ * power(z_scale_ - most) + ended * power(own - most);
                z_scale_ = most;
            }
        }
    }

    /// In lanes without numbers, continue the scale of the lane before, or of that after if `step` is -1.
    template <int step>
    static void continue_scales(I &scale, V numbers) {
        Int scales[L];
        T highest[L];
        scale.stored(scales), numbers.stored(highest);
        for (int l = step > 0 ? 1 : L - 2; l >= 0 && l < L; l += step)
            scales[l] = highest[l] > 0 ? scales[l] : scales[l - step];
        scale = I::loaded(scales);
    }

    /// Set the numbers of the columns from j of the row next to a strip, in another scale.
    void take_border(const T *border, int j, Int scale, T *to) const {
        for (int k = 0; k < steps_; k += V::kHalf) {
            const OneInt by = load<Int, kVectorBytes>(border_scale_ + j + k) - scale, half = by >> 1;
            stored(to + k, loaded(border + j + k) * power(half) * power(by - half));
        }
    }

    /// True if an alignment may end in cell (i, j) with a pair; with a gap of the columns; of the rows.
    bool ends_m(int i, int j) const {
        return is_local || (j == n_ && (free_.query_end || i == m_)) || (i == m_ && free_.target_end);
    }
    bool ends_e(int i, int j) const {
        return !is_local && j == n_ && (free_.query_end || i == m_) && !(i == m_ && free_.target_end);
    }
    bool ends_f(int i, int j) const {
        return !is_local && i == m_ && (free_.target_end || j == n_) && !(j == n_ && free_.query_end);
    }

    void sum_ends() {
        if (is_local) {
            z_.add(1, 0);  // the empty alignment
            for (int l = 0; l < L; ++l) z_.add(z_lanes_[l], z_scale_[l]);
            return;
        }
        auto add = [&](int i, int j) {
            const int s = (i - 1) / L, l = (i - 1) % L, t = j + l;
            const ptrdiff_t at = t * L + l;
            const double M = of_strip(m_kept_, s)[at], E = of_strip(e_kept_, s)[at], F = of_strip(f_kept_, s)[at];
            z_.add(M * ends_m(i, j) + o_ * (E * ends_e(i, j) + F * ends_f(i, j)), scale_of(s, t / steps_)[l]);
        };
        for (int i = free_.query_end ? 1 : m_; i <= m_; ++i) add(i, n_);
        for (int j = 0; free_.target_end && j < n_; ++j) add(m_, j);
    }

    void backward(int s) {
        const T *weights = of_strip(weights_, s);
        T *m_kept = of_strip(m_kept_, s);
        const T *e_kept = of_strip(e_kept_, s), *f_kept = of_strip(f_kept_, s);
        const bool is_last = s + 1 == n_strips_;
        if (is_last) clear_borders();
        // In the borders, of the row below: weight times sum of M, and sum of F.
        V E{}, F{}, X1{}, X2{}, gaps{}, residues{};
        Int first_scale = border_scale_[n_];  // by the gap in the last column of the row below
        if (border_b_[n_] > 0) first_scale += std::ilogb(border_b_[n_]) - target_;
        X1.set(L - 1, std::ldexp(border_t_[n_], static_cast<int>(border_scale_[n_] - first_scale)));
        I scale = I::all(first_scale);
        const int last_lane = m_ - 1 - s * L;  // of row m
        const bool has_row_ends = !is_local && is_last && free_.target_end;
        const V o = V::all(o_), e = V::all(e_);
        T last_m[L], last_e[L], last_f[L];  // 1 if an alignment may end in the last column
        Int lanes[L];
        for (int l = 0; l < L; ++l) {
            const int i = s * L + l + 1;
            last_m[l] = i <= m_ && ends_m(i, n_), last_e[l] = i <= m_ && ends_e(i, n_);
            last_f[l] = i <= m_ && ends_f(i, n_), lanes[l] = l;
        }
        const I lane = I::loaded(lanes);
        for (int window = n_windows_ - 1; window >= 0; --window) {
            const int begin = window * steps_, end = std::min(begin + steps_, n_ + L);
            V one = is_local ? power(I{} - scale) : V{};
            rescale(scale, E, F, X1, X2, one);
            if (end > n_) {  // lanes without gaps continue the lane below
                const I before = scale;
                if (!is_local && window + 1 == n_windows_ && !(std::max(E[L - 1], F[L - 1]) > 0))
                    scale.set(L - 1, first_scale);
                continue_scales<-1>(scale, larger(E, F));
                const I by = before - scale;
                const V factor = power(by >> 1), other = power(by - (by >> 1));
                X1 = X1 * factor * other, X2 = X2 * factor * other;
            }
            T in_x[kMostSteps], in_f[kMostSteps];
            take_border(border_t_, begin - L, scale[L - 1], in_x);
            take_border(border_b_, begin - L + 1, scale[L - 1], in_f);
            const V ratio = power(scale.moved_up(scale[L - 1]) - scale), e_ratio = e * ratio;
            one = power(I{} - scale);
            const I both = I::loaded(scale_of(s, window)) + scale - I::all(static_cast<Int>(z_.scale));
            V first = power(both >> 1);
            const V second = power(both - (both >> 1)) * V::all(static_cast<T>(1 / z_.value));
            if (is_last || end > n_)  // lanes that are not in the table
                first = where_above(lane, I::all(last_lane), V{}, where_above(I::all(begin - n_), lane, V{}, first));
            V row_m = is_local ? one : V{}, row_f{};  // ends before the last column
            if (has_row_ends) row_m.set(last_lane, one[last_lane]), row_f.set(last_lane, one[last_lane]);
            V opened{}, doubled{}, extended{};
            auto step = [&]<bool has_ends>(int t, std::bool_constant<has_ends>) TROPALIGN_INLINE {
                const V ba = e * E, bt = X2;
                V bb = e_ratio * F.moved_up(in_f[t - begin]), bt_e = bt, end_m = is_local ? one : V{}, end_f{};
                if constexpr (has_ends) {
                    const I column = I::all(t) - lane, n = I::all(n_);
                    auto in_column = [&](V before, const T *last) {
                        const V at_n = where_above(column, n, V{}, V::loaded(last) * one);
                        return where_above(n, column, before, at_n);
                    };
                    end_m = in_column(row_m, last_m), end_f = in_column(row_f, last_f);
                    bt_e = bt + in_column(V{}, last_e);
                    if (!is_local && free_.query_start && t < L) bb.set(t, 0);
                }
                const V gap = ba + bb;
                V sum_m = bt + gap, next = bt + ba;
                if (is_local || has_ends) sum_m = sum_m + end_m;
                if (has_ends) next = next + end_f;
                E = fma(o, bt_e, ba), F = fma(o, next, bb);
                const V X = V::loaded(weights + t * L) * sum_m;
                X2 = X1, X1 = X.moved_up(in_x[t - begin]) * ratio;
                border_t_[t] = X[0], border_b_[t] = F[0];
                const V M = V::loaded(m_kept + t * L) * first, F_kept = V::loaded(f_kept + t * L) * first;
                opened = fma(M, gap, opened), doubled = fma(F_kept, ba, doubled);
                extended = fma(V::loaded(e_kept + t * L) * first, E, fma(F_kept, F, extended));
                smaller(M * sum_m * second, V::all(1)).stored(m_kept + t * L);
            };
            if (has_row_ends || end > n_ || (!is_local && free_.query_start && begin < L))
                for (int t = end - 1; t >= begin; --t) step(t, std::true_type());
            else
                for (int t = end - 1; t >= begin; --t) step(t, std::false_type());
            for (int t = begin; t < end; ++t) border_scale_[t] = scale[0];
            gaps = fma(fma(o, doubled, opened), second, gaps), residues = fma(extended, second, residues);
        }
        for (int l = 0; l < L; ++l) n_gaps_ += gaps[l], gap_residues_ += residues[l];
    }

    void put_posteriors(int s) {
        const T *posteriors = of_strip(m_kept_, s);
        for (int t = 0; t < stride_; t += kBlock)
            for (int l = 0; l < L; l += kBlock) turn(posteriors + t * L + l, L, rows_ + l * stride_ + t, stride_);
        for (int l = 0; l < L && s * L + l < m_; ++l)
            std::copy_n(rows_ + l * stride_ + l + 1, n_,
                        static_cast<T *>(table_.posteriors) + static_cast<ptrdiff_t>(s * L + l) * n_);
    }

    /// Add the gaps of row 0.
    void add_border() {
        double E = 0;  // the sum of E, and further right
        for (int j = n_; j >= 0; --j) {
            if (j < n_) E = ScaledSum::shifted(E, border_scale_[j + 1] - border_scale_[j]);
            const double one = ScaledSum::shifted(1, -border_scale_[j]);
            const double bt =
                j < n_ ? ScaledSum::shifted(border_t_[j + 1], border_scale_[j + 1] - border_scale_[j]) : 0;
            const double ba = e_ * E, bb = j == 0 && free_.query_start ? 0 : double{e_} * border_b_[j];
            E = ba + o_ * (bt + (j == n_ && free_.query_end ? one : 0));
            auto probability = [&](double sum, double log) {
                return sum > 0 ? std::exp2(std::log2(sum) + static_cast<double>(border_scale_[j] - z_.scale) + log) /
                                     z_.value
                               : 0;
            };
            if (free_.target_start) n_gaps_ += probability(bb, 0);
            else if (j == 0) n_gaps_ += probability(ba + bb, 0);
            else gap_residues_ += probability(E, -j * extend_);
        }
    }

    const SoftTable &table_;
    const FreeEnds free_;
    const int m_, n_, n_strips_;
    const ptrdiff_t stride_;
    const long double unit_;                  // bits per unit of scores
    const double open_, extend_;              // costs in bits
    const T near_unit_, unit_rest_, lowest_;  // the unit, and the score of a weight of 0
    const T o_, e_;
    Scratch<SoftSlot> &scratch_;
    int steps_ = 0, target_ = 0, n_windows_ = 0;
    T *weights_ = nullptr, *m_kept_ = nullptr, *e_kept_ = nullptr, *f_kept_ = nullptr, *rows_ = nullptr,
      *border_t_ = nullptr, *border_b_ = nullptr;
    Int *scales_ = nullptr, *border_scale_ = nullptr;
    V z_lanes_{};
    I z_scale_ = I::all(-1'000'000'000);
    ScaledSum z_;
    double n_gaps_ = 0, gap_residues_ = 0;
};

template <class T>
std::optional<SoftSums> swept(const SoftTable &table, const SoftScoring &scoring, Scratch<SoftSlot> &scratch) {
    switch (scoring.mode) {
        case Mode::local:
            return SoftSweep<T, true>(table, scoring, scratch).run();
        case Mode::global:
            return SoftSweep<T, false>(table, scoring, scratch).run();
    }
    __builtin_unreachable();
}

SoftSums run(const SoftTable &table, const SoftScoring &scoring, Scratch<SoftSlot> &scratch) {
    const DenormalsAsZero flush;
    std::optional<SoftSums> sums;
    if (!table.is_double) sums = swept<float>(table, scoring, scratch);
    if (!sums && !table.is_double) {
        const size_t count = static_cast<size_t>(table.n_rows) * table.n_columns;
        std::vector<double> scores(count), posteriors(count);
        std::copy_n(static_cast<const float *>(table.scores), count, scores.data());
        sums = swept<double>({scores.data(), posteriors.data(), true, table.n_rows, table.n_columns}, scoring, scratch);
        std::copy_n(posteriors.data(), count, static_cast<float *>(table.posteriors));
    } else if (!sums) {
        sums = swept<double>(table, scoring, scratch);
    }
    constexpr double none = std::numeric_limits<double>::quiet_NaN();
    return sums.value_or(SoftSums{none, none, none});
}

}  // namespace

extern const SoftKernels soft_kernels = {run};

}  // namespace tropalign::TROPALIGN_ISA
