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
// A strip has a row per lane, and in step t lane l computes column t - l, from 0:
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

template <class T, bool is_local>
class SoftSweep {
    using V = Vec<T, kVectorBytes>;
    using Int = std::conditional_t<sizeof(T) == 8, int64_t, int32_t>;
    using I = Vec<Int, kVectorBytes>;
    static constexpr int L = Real<V>::lanes, kBlock = L < 4 ? L : 4;
    static constexpr int kFraction = std::numeric_limits<T>::digits - 1,
                         kBias = std::numeric_limits<T>::max_exponent - 1;
    static constexpr int kMostSteps = 16, kKept = kFraction + 3;

  public:
    SoftSweep(const SoftTable &table, const SoftScoring &scoring, Scratch<SoftSlot> &scratch)
        : table_(table), free_(scoring.free_ends), m_(table.n_rows), n_(table.n_columns), n_strips_((m_ + L - 1) / L),
          stride_((n_ + L + 3) / 4 * 4), unit_(std::numbers::log2e_v<long double> / scoring.temperature),
          open_(static_cast<double>(scoring.open * unit_)), extend_(static_cast<double>(scoring.extend * unit_)),
          o_(static_cast<T>(std::exp2(-open_))), e_(static_cast<T>(std::exp2(-extend_))), scratch_(scratch) {}

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
    static V power(I exponent) {
        exponent = exponent < -kBias ? I{} - kBias : exponent;
        exponent = exponent > kBias ? I{} + kBias : exponent;
        return (V)((exponent + kBias) << kFraction);
    }
    /// Return `first`, then all lanes but the last.
    template <class U, class Item>
    static U moved_down(U v, Item first) {
        return [&]<int... l>(std::integer_sequence<int, l...>) __attribute__((always_inline)) {
            return __builtin_shufflevector(v, U{} + first, (l ? l - 1 : L)...);
        }(std::make_integer_sequence<int, L>{});
    }
    /// Return all lanes but the first, then `last`.
    template <class U, class Item>
    static U moved_up(U v, Item last) {
        return [&]<int... l>(std::integer_sequence<int, l...>) __attribute__((always_inline)) {
            return __builtin_shufflevector(v, U{} + last, (l + 1)...);
        }(std::make_integer_sequence<int, L>{});
    }
    static V loaded(const T *from) { return load<T, kVectorBytes>(from); }
    static void stored(T *to, V v) { store<T, kVectorBytes>(to, v); }

    bool choose_steps() {
        const T *scores = static_cast<const T *>(table_.scores);
        const int64_t count = int64_t{m_} * n_;
        V most = V{};
        int64_t k = 0;
        for (; k + L <= count; k += L) most = larger(most, loaded(scores + k));
        T highest = 0;
        for (; k < count; ++k) highest = std::max(highest, scores[k]);
        for (int l = 0; l < L; ++l) highest = std::max(highest, most[l]);
        const double bits = static_cast<double>(highest * unit_), rise = bits + extend_ + 3;
        const double room = 2 * kBias - 12 - kKept - 4 * open_ - bits - rise;
        if (!(room >= rise + extend_) || !(2 * (open_ + extend_) + kKept < kBias - 6)) return false;
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
    V weights_of(V scores) const {
        constexpr T rounder = std::is_same_v<T, float> ? T(0x1.8p23) : T(0x1.8p52);
        scores = larger(scores, V{} + static_cast<T>(-(kBias + 2) / unit_));
        V whole, rest;
        if constexpr (sizeof(T) == 8 || kFused<V>) {
            const T unit = static_cast<T>(unit_), unit_rest = static_cast<T>(unit_ - unit);
            whole = (scores * unit + rounder) - rounder;
            rest = fma(scores, V{} + unit_rest, fma(scores, V{} + unit, -whole));
        } else {
            using Wide = Vec<double, 2 * kVectorBytes>;
            const Wide bits = __builtin_convertvector(scores, Wide) * static_cast<double>(unit_);
            const Wide near = (bits + 0x1.8p52) - 0x1.8p52;
            whole = __builtin_convertvector(near, V), rest = __builtin_convertvector(bits - near, V);
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
        V sum = V{} + factors[terms];
        for (int k = terms - 1; k >= 0; --k) sum = fma(sum, rest, V{} + factors[k]);
        return sum * power(__builtin_convertvector(whole, I));
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
            for (; j + L <= n_; j += L) stored(to + j, weights_of(loaded(from + j)));
            T rest[L] = {};
            std::copy_n(from + j, n_ - j, rest);
            stored(rest, weights_of(loaded(rest)));
            std::copy_n(rest, n_ - j, to + j);
        }
        T *weights = of_strip(weights_, s);
        for (int t = 0; t < stride_; t += kBlock)
            for (int l = 0; l < L; l += kBlock) turn(rows_ + l * stride_ + t, stride_, weights + t * L + l, L);
    }

    /// Bring the largest of four numbers of each lane near 2^target; lanes without numbers keep their scale.
    template <class... Numbers>
    void rescale(I &scale, Numbers &...numbers) const {
        V highest = V{};
        ((highest = larger(highest, numbers)), ...);
        I by = target_ + kBias - ((I)highest >> kFraction);
        by = highest > 0 ? by : I{};
        scale -= by;
        const I half = by >> 1;
        const V first = power(half), second = power(by - half);
        ((numbers = numbers * first * second), ...);
    }

    void forward(int s) {
        const T *weights = of_strip(weights_, s);
        T *m_kept = of_strip(m_kept_, s), *e_kept = of_strip(e_kept_, s), *f_kept = of_strip(f_kept_, s);
        V A = V{}, B = V{}, T1 = V{}, T2 = V{};  // T of the last step, and of the one before, of the lane above
        T1[0] = border_t_[0];
        const V o = V{} + o_, e = V{} + e_;
        I scale = I{} + border_scale_[0];
        for (int window = 0; window < n_windows_; ++window) {
            const int begin = window * steps_, end = std::min(begin + steps_, n_ + L);
            V one = is_local ? power(-scale) : V{};
            rescale(scale, A, B, T1, T2, one);
            if (begin < L) {
                for (int l = 1; l < L; ++l)  // lanes without numbers continue the lane before
                    if (!(std::max({A[l], B[l], T1[l], T2[l]}) > 0)) scale[l] = scale[l - 1];
            }
            store<Int, kVectorBytes>(scale_of(s, window), scale);
            T in_t[kMostSteps], in_b[kMostSteps];
            take_border(border_t_, begin + 1, scale[0], in_t), take_border(border_b_, begin, scale[0], in_b);
            const V ratio = power(moved_down(scale, scale[0]) - scale);
            one = power(-scale);
            const V fresh = is_local ? one : V{};
            V ended = V{};
            for (int t = begin; t < end; ++t) {
                V M = loaded(weights + t * L) * (T2 + fresh);
                V E = e * A, F = e * (moved_down(B, in_b[t - begin]) * ratio);
                if (!is_local && free_.query_start && t < L) M[t] = one[t], F[t] = 0;
                const V U = fma(o, F, M);
                A = E + U, B = F + M;
                const V total = fma(o, E, U);
                T2 = T1, T1 = moved_down(total, in_t[t - begin]) * ratio;
                stored(m_kept + t * L, M), stored(e_kept + t * L, E), stored(f_kept + t * L, F);
                if (is_local) ended += M;
                if (t >= L - 1) border_t_[t - L + 1] = total[L - 1], border_b_[t - L + 1] = B[L - 1];
            }
            for (int t = std::max(begin, L - 1); t < end; ++t) border_scale_[t - L + 1] = scale[L - 1];
            if (is_local) {
                I own = scale;
                rescale(own, ended);
                own = ended > 0 ? own : z_scale_;
                const I most = own > z_scale_ ? own : z_scale_;
                z_lanes_ = z_lanes_ * power(z_scale_ - most) + ended * power(own - most);
                z_scale_ = most;
            }
        }
    }

    /// Set the numbers of the columns from j of the row next to a strip, in another scale.
    void take_border(const T *border, int j, Int scale, T *to) const {
        for (int k = 0; k < steps_; k += L) {
            const I by = load<Int, kVectorBytes>(border_scale_ + j + k) - scale;
            const I half = by >> 1;
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
        V E = V{}, F = V{}, X1 = V{}, X2 = V{}, gaps = V{}, residues = V{};
        Int first_scale = border_scale_[n_];  // by the gap in the last column of the row below
        if (border_b_[n_] > 0) first_scale += std::ilogb(border_b_[n_]) - target_;
        X1[L - 1] = std::ldexp(border_t_[n_], static_cast<int>(border_scale_[n_] - first_scale));
        I scale = I{} + first_scale;
        const int last_lane = m_ - 1 - s * L;  // of row m
        const V o = V{} + o_, e = V{} + e_;
        for (int window = n_windows_ - 1; window >= 0; --window) {
            const int begin = window * steps_, end = std::min(begin + steps_, n_ + L);
            V one = is_local ? power(-scale) : V{};
            rescale(scale, E, F, X1, X2, one);
            if (end > n_) {
                for (int l = L - 1; l >= 0; --l) {  // lanes without gaps continue the lane below
                    if (std::max(E[l], F[l]) > 0 || (l == L - 1 && (is_local || window + 1 < n_windows_))) continue;
                    const Int below = l < L - 1 ? scale[l + 1] : first_scale;
                    const int by = static_cast<int>(scale[l] - below);
                    X1[l] = std::ldexp(X1[l], by), X2[l] = std::ldexp(X2[l], by), scale[l] = below;
                }
            }
            T in_x[kMostSteps], in_f[kMostSteps];
            take_border(border_t_, begin - L, scale[L - 1], in_x);
            take_border(border_b_, begin - L + 1, scale[L - 1], in_f);
            const V ratio = power(moved_up(scale, scale[L - 1]) - scale);
            one = power(-scale);
            const I both = load<Int, kVectorBytes>(scale_of(s, window)) + scale - static_cast<Int>(z_.scale);
            const I half = both >> 1;
            V first = power(half);
            const V second = power(both - half) * static_cast<T>(1 / z_.value);
            if (is_last || end > n_) {
                for (int l = 0; l < L; ++l)  // lanes that are not in the table
                    if (l > last_lane || begin > n_ + l) first[l] = 0;
            }
            V row_end_m = is_local ? one : V{}, row_end_f = V{};
            if (!is_local && is_last && free_.target_end)
                row_end_m[last_lane] = one[last_lane], row_end_f[last_lane] = one[last_lane];
            V opened = V{}, extended = V{};
            for (int t = end - 1; t >= begin; --t) {
                V ba = e * E, bb = e * (moved_up(F, in_f[t - begin]) * ratio);
                V end_m = row_end_m, end_e = V{}, end_f = row_end_f;
                if (t >= n_) {
                    for (int l = 0; l < L; ++l) {
                        const int i = s * L + l + 1;
                        const bool is_end = t - l == n_ && i <= m_, is_before = t - l < n_;
                        if (!is_before) end_m[l] = is_end && ends_m(i, n_) ? one[l] : T{0};
                        if (!is_before) end_e[l] = is_end && ends_e(i, n_) ? one[l] : T{0};
                        if (!is_before) end_f[l] = is_end && ends_f(i, n_) ? one[l] : T{0};
                    }
                }
                if (!is_local && free_.query_start && t < L) bb[t] = 0;
                const V bt = X2, sum_m = bt + ba + bb + end_m;
                E = fma(o, bt + end_e, ba), F = fma(o, bt + ba + end_f, bb);
                const V X = loaded(weights + t * L) * sum_m;
                X2 = X1, X1 = moved_up(X, in_x[t - begin]) * ratio;
                border_t_[t] = X[0], border_b_[t] = F[0];
                const V M = loaded(m_kept + t * L) * first, F_kept = loaded(f_kept + t * L) * first;
                opened += fma(M, ba + bb, o * F_kept * ba);
                extended += fma(loaded(e_kept + t * L) * first, E, F_kept * F);
                stored(m_kept + t * L, smaller(M * sum_m * second, V{} + T{1}));
            }
            for (int t = begin; t < end; ++t) border_scale_[t] = scale[0];
            gaps += opened * second, residues += extended * second;
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
    const long double unit_;      // bits per unit of scores
    const double open_, extend_;  // costs in bits
    const T o_, e_;
    Scratch<SoftSlot> &scratch_;
    int steps_ = 0, target_ = 0, n_windows_ = 0;
    T *weights_ = nullptr, *m_kept_ = nullptr, *e_kept_ = nullptr, *f_kept_ = nullptr, *rows_ = nullptr,
      *border_t_ = nullptr, *border_b_ = nullptr;
    Int *scales_ = nullptr, *border_scale_ = nullptr;
    V z_lanes_ = V{};
    I z_scale_ = I{} + Int{-1'000'000'000};
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
