// Every operation of native/simd against plain loops, at every width and lane type of the instruction set that this is
// compiled for. Prints a line per operation with the number of vectors compared, and fails on the first difference.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>

#ifdef PLAIN_LOOPS  // as a processor without intrinsics gets it
#undef __SSE2__
#endif
#include "../../native/simd/bytes.hpp"
#include "../../native/simd/masks.hpp"
#include "../../native/simd/parts.hpp"
#include "../../native/simd/quad_lanes.hpp"
#include "../../native/simd/real.hpp"
#include "../../native/simd/row_lanes.hpp"

namespace tropalign::TROPALIGN_ISA {
namespace {

std::mt19937_64 random_bits(7);

/// Random lanes; half of them at or beside the ends of the type and zero, and often equal to each other.
template <class T>
T random_lane() {
    using Limits = std::numeric_limits<T>;
    if (random_bits() % 2) return static_cast<T>(random_bits());
    const T ends[] = {
        Limits::min(), static_cast<T>(Limits::min() + 1), static_cast<T>(-1), 0, 1, static_cast<T>(Limits::max() - 1),
        Limits::max()};
    return ends[random_bits() % 7];
}

template <class T, int B>
struct Case {
    static constexpr int L = Lanes<T, B>::count;
    using V = Vec<T, B>;
    using Bits = typename Lanes<T, B>::Bits;
    static constexpr int per_lane = Lanes<T, B>::bits_per_lane;
    alignas(64) T a[L], b[L];

    Case() {
        for (int l = 0; l < L; ++l) {
            a[l] = random_lane<T>();
            b[l] = random_bits() % 4 ? random_lane<T>() : a[l];
        }
    }
    V va() const { return load<T, B>(a); }
    V vb() const { return load<T, B>(b); }
};

int compared = 0;

template <class T, int B>
void fail(const char *operation, int lane, long long got, long long wanted) {
    std::printf("%s of int%d, %d bytes, lane %d: %lld instead of %lld\n", operation, int(8 * sizeof(T)), B, lane, got,
                wanted);
    std::exit(1);
}

/// Compares lanes with what `wanted(lane)` says.
template <class T, int B, class Wanted>
void same(const char *operation, Vec<T, B> got, Wanted wanted) {
    alignas(64) T lanes[Lanes<T, B>::count];
    store<T, B>(lanes, got);
    for (int l = 0; l < Lanes<T, B>::count; ++l)
        if (lanes[l] != static_cast<T>(wanted(l))) fail<T, B>(operation, l, lanes[l], static_cast<T>(wanted(l)));
    ++compared;
}

template <class T>
long long saturated(long long x) {
    return std::clamp<long long>(x, std::numeric_limits<T>::min(), std::numeric_limits<T>::max());
}

template <class T>
T wrapped(long long x) {
    return static_cast<T>(static_cast<unsigned long long>(x));
}

template <class T, int B>
void arithmetic() {
    const Case<T, B> c;
    const bool wraps = sizeof(T) == 4;
    same<T, B>("splat", splat<T, B>(c.a[0]), [&](int) { return c.a[0]; });
    same<T, B>("vmax", vmax(c.va(), c.vb()), [&](int l) { return std::max(c.a[l], c.b[l]); });
    same<T, B>("adds", adds<T, B>(c.va(), c.vb()), [&](int l) {
        const long long sum = static_cast<long long>(c.a[l]) + c.b[l];
        return wraps ? wrapped<T>(sum) : saturated<T>(sum);
    });
    same<T, B>("subs", subs<T, B>(c.va(), c.vb()), [&](int l) {
        const long long difference = static_cast<long long>(c.a[l]) - c.b[l];
        return wraps ? wrapped<T>(difference) : saturated<T>(difference);
    });
}

/// Sums and differences of unsigned bytes.
template <int B>
void unsigned_bytes() {
    const Case<uint8_t, B> c;
    same<uint8_t, B>("vmax", vmax(c.va(), c.vb()), [&](int l) { return std::max(c.a[l], c.b[l]); });
    same<uint8_t, B>("adds", adds<uint8_t, B>(c.va(), c.vb()),
                     [&](int l) { return saturated<uint8_t>(c.a[l] + c.b[l]); });
    same<uint8_t, B>("subs", subs<uint8_t, B>(c.va(), c.vb()),
                     [&](int l) { return saturated<uint8_t>(c.a[l] - c.b[l]); });
}

/// Differences of unsigned words.
template <int B>
void unsigned_words() {
    const Case<uint16_t, B> c;
    same<uint16_t, B>("subs", subs<uint16_t, B>(c.va(), c.vb()),
                      [&](int l) { return saturated<uint16_t>(c.a[l] - c.b[l]); });
}

template <class T, int B>
void comparisons() {
    using C = Case<T, B>;
    const C c;
    const uint64_t bits = widened(gt_bits<T, B>(c.va(), c.vb()));
    bool any = false;
    for (int l = 0; l < C::L; ++l) {
        const bool greater = c.a[l] > c.b[l];
        any |= greater;
        if (((bits >> (l * C::per_lane)) & 1) != greater) fail<T, B>("gt_bits", l, !greater, greater);
    }
    if constexpr (C::L * C::per_lane < 64)
        if (bits >> (C::L * C::per_lane)) fail<T, B>("gt_bits beyond the lanes", -1, 1, 0);
    ++compared;
    if (any_gt<T, B>(c.va(), c.vb()) != any) fail<T, B>("any_gt", -1, !any, any);
    if (any_gt<T, B>(c.va(), c.va())) fail<T, B>("any_gt of equals", -1, 1, 0);
    // One lane alone, each in turn.
    for (int l = 0; l < C::L; ++l) {
        alignas(64) T one[C::L] = {};
        one[l] = 1;
        if (!any_gt<T, B>(load<T, B>(one), Vec<T, B>{})) fail<T, B>("any_gt", l, 0, 1);
    }
    const uint64_t random = random_bits();
    same<T, B>("lanes_of_bits", lanes_of_bits<T, B>(random), [&](int l) { return -static_cast<int>(random >> l & 1); });
}

/// Four answers per lane, kept together.
template <class T, int B>
void masks() {
    using C = Case<T, B>;
    const C c[4];
    Masks<T, B> kept;
    typename Masks<T, B>::Pending pending;
    kept.template put<0>(pending, gt_answer<T, B>(c[0].va(), c[0].vb()));
    kept.template put<1>(pending, gt_answer<T, B>(c[1].va(), c[1].vb()));
    kept.template put<2>(pending, gt_answer<T, B>(c[2].va(), c[2].vb()));
    kept.template put<3>(pending, gt_answer<T, B>(c[3].va(), c[3].vb()));
    for (int k = 0; k < 4; ++k)
        for (int l = 0; l < C::L; ++l) {
            const bool greater = c[k].a[l] > c[k].b[l];
            if (kept.bit(Masks<T, B>::place(l), k) != greater) fail<T, B>("Masks", l, !greater, greater);
        }
    ++compared;
}

template <class T, int B>
void widening() {
    alignas(64) int8_t narrow[64];
    for (int8_t &x : narrow) x = random_lane<int8_t>();
    same<T, B>("widen", widen<T, B>(narrow), [&](int l) { return narrow[l]; });
}

template <int B>
void byte_operations() {
    using C = Case<int8_t, B>;
    const C c;
    alignas(64) int8_t table[32], index[B];
    for (int8_t &x : table) x = random_lane<int8_t>();
    for (int8_t &x : index) x = static_cast<int8_t>(random_bits() % 32);
    same<int8_t, B>("lookup32", lookup32<B>(table, load<int8_t, B>(index)), [&](int l) { return table[index[l]]; });
    same<int8_t, B>("shift_in", shift_in<B>(c.va(), c.vb()), [&](int l) { return l ? c.a[l - 1] : c.b[B - 1]; });
    same<int8_t, B>("shift_out", shift_out<B>(c.va(), c.vb()), [&](int l) { return l + 1 < B ? c.a[l + 1] : c.b[0]; });
    same<int8_t, B>("unpack_low", unpack_low<B>(c.va(), c.vb()),
                    [&](int l) { return (l % 2 ? c.b : c.a)[l / 16 * 16 + l % 16 / 2]; });
    same<int8_t, B>("unpack_high", unpack_high<B>(c.va(), c.vb()),
                    [&](int l) { return (l % 2 ? c.b : c.a)[l / 16 * 16 + 8 + l % 16 / 2]; });
    same<int8_t, B>("shuffle16", shuffle16<B>(c.va(), c.vb()),
                    [&](int l) { return c.b[l] < 0 ? 0 : c.a[l / 16 * 16 + (c.b[l] & 15)]; });
    alignas(64) int8_t block[16][B];
    Vec<int8_t, B> v[16];
    for (int k = 0; k < 16; ++k) {
        for (int8_t &x : block[k]) x = random_lane<int8_t>();
        v[k] = load<int8_t, B>(block[k]);
    }
    transpose16<B>(v);
    for (int k = 0; k < 16; ++k)
        same<int8_t, B>("transpose16", v[k], [&](int l) { return block[l % 16][l / 16 * 16 + k]; });
}

/// Look-ups, choices and counts of bytes, and bits of them.
template <int B>
void chosen_bytes() {
    const Case<int8_t, B> c;
    const Case<uint8_t, B> u;
    const Case<int16_t, B> w;
    alignas(64) int8_t table[128], index[B];
    alignas(64) int16_t places[B / 2];
    for (int8_t &x : table) x = random_lane<int8_t>();
    for (int8_t &x : index) x = static_cast<int8_t>(random_bits() % 128);
    for (int16_t &x : places) x = static_cast<int16_t>(random_bits() % (B / 2));
    const auto choice = load<int8_t, B>(index);
    same<int8_t, B>("lookup128", lookup128<B>(table, choice), [&](int l) { return table[index[l]]; });
    same<int8_t, B>("by_bit", by_bit<1, B>(choice, c.va(), c.vb()),
                    [&](int l) { return index[l] & 2 ? c.a[l] : c.b[l]; });
    same<int16_t, B>("lookup_words", lookup_words<B>(w.va(), load<int16_t, B>(places)),
                     [&](int l) { return w.a[places[l]]; });
    same<uint8_t, B>("plus_equal", plus_equal<B>(u.va(), u.va(), u.vb()),
                     [&](int l) { return static_cast<uint8_t>(u.a[l] + (u.a[l] == u.b[l])); });
    same<uint8_t, B>("differences_or", differences_or<B>(u.va(), u.vb(), (Vec<uint8_t, B>)choice),
                     [&](int l) { return (u.a[l] ^ u.b[l]) | ((u.a[l] | u.b[l]) & index[l]); });
    const uint64_t top = top_bits<B>(u.va()), equal = equal_bits<B>(u.va(), u.vb());
    const uint64_t different = different_bits<B>(c.va(), c.vb());
    for (int l = 0; l < B; ++l) {
        const uint64_t owned = different >> (l * kDifferentBits) & ((1u << kDifferentBits) - 1);
        const uint64_t wanted = c.a[l] != c.b[l] ? (1u << kDifferentBits) - 1 : 0;
        if (owned != wanted) fail<int8_t, B>("different_bits", l, owned, wanted);
        if ((top >> l & 1) != u.a[l] >> 7) fail<uint8_t, B>("top_bits", l, top >> l & 1, u.a[l] >> 7);
        if ((equal >> l & 1) != (u.a[l] == u.b[l])) fail<uint8_t, B>("equal_bits", l, equal >> l & 1, u.a[l] == u.b[l]);
        alignas(64) uint8_t one[B] = {};
        if (any_bit<B>(load<uint8_t, B>(one))) fail<uint8_t, B>("any_bit of none", l, 1, 0);
        one[l] = static_cast<uint8_t>(1 << random_bits() % 8);
        if (!any_bit<B>(load<uint8_t, B>(one))) fail<uint8_t, B>("any_bit", l, 0, 1);
    }
}

/// Words in parts of P bytes.
template <int B, int P, int n>
void parts() {
    const Case<uint16_t, B> c;
    same<uint16_t, B>("shift_stripes", shift_stripes<B, P, n>(c.va()),
                      [&](int l) { return l % (P / 2) < n ? 0 : c.a[l - n]; });
    same<uint16_t, B>("in_all_parts", in_all_parts<B, P>(c.a), [&](int l) { return c.a[l % (P / 2)]; });
    const int16_t *from[B / P];
    int16_t numbers[B / P][P / 2 + 1];
    for (int k = 0; k < B / P; ++k) {
        from[k] = numbers[k];
        for (int16_t &x : numbers[k]) x = random_lane<int16_t>();
    }
    same<int16_t, B>("of_parts", of_parts<B, P>(from, 1), [&](int l) { return numbers[l / (P / 2)][1 + l % (P / 2)]; });
    if constexpr (2 * n < P / 2) parts<B, P, 2 * n>();
}

/// Vectors of neighbouring cells, which are as wide as the instruction set has them.
template <int Step>
void row_lanes() {
    const Case<int32_t, kVectorBytes> c;
    constexpr int n = Lanes<int32_t, kVectorBytes>::count;
    same<int32_t, kVectorBytes>("shifted", shifted<Step>(c.va(), c.vb()),
                                [&](int l) { return l < Step ? c.a[n - Step + l] : c.b[l - Step]; });
    same<int32_t, kVectorBytes>("last_of", last_of(c.va()), [&](int) { return c.a[n - 1]; });
    const uint32_t bits = lane_bits(c.va(), c.vb());
    for (int l = 0; l < n; ++l)
        if ((bits >> l & 1) != (c.a[l] > c.b[l]))
            fail<int32_t, kVectorBytes>("lane_bits", l, bits >> l & 1, c.a[l] > c.b[l]);
    if constexpr (2 * Step < n) row_lanes<2 * Step>();
}

template <int B>
void chosen_lanes() {
    const Case<int32_t, B> c;
    const auto bits = static_cast<uint32_t>(random_bits());
    uint32_t found[B / 4], *next = found;
    store_chosen<B>(found, c.va(), bits);
    for (int l = 0; l < B / 4; ++l)
        if ((bits >> l & 1) && *next++ != static_cast<uint32_t>(c.a[l]))
            fail<int32_t, B>("store_chosen", l, next[-1], c.a[l]);
}

template <int B>
void products() {
    const Case<int16_t, B> c;
    same<int32_t, B>("multiply_add", multiply_add<B>(c.va(), c.vb()), [&](int l) {
        return wrapped<int32_t>(static_cast<long long>(c.a[2 * l]) * c.b[2 * l] +
                                static_cast<long long>(c.a[2 * l + 1]) * c.b[2 * l + 1]);
    });
}

/// Random numbers, some of them equal or 0.
template <class T>
T random_real() {
    return random_bits() % 8 ? static_cast<T>(static_cast<int64_t>(random_bits())) / static_cast<T>(1 << 20) : T{0};
}

template <class V>
void real_lanes(const char *operation, const V &got, auto wanted) {
    for (int l = 0; l < Real<V>::lanes; ++l)
        if (lane_of(got, l) != wanted(l)) {
            std::printf("%s of %d lanes of %zu bytes, lane %d: %.20g instead of %.20g\n", operation, Real<V>::lanes,
                        sizeof(typename Real<V>::T), l, static_cast<double>(lane_of(got, l)),
                        static_cast<double>(wanted(l)));
            std::exit(1);
        }
    ++compared;
}

/// A vector of floating-point numbers, or one of them.
template <class V>
void reals() {
    using T = typename Real<V>::T;
    constexpr int L = Real<V>::lanes;
    alignas(64) T a[L], b[L], c[L];
    for (int l = 0; l < L; ++l) {
        a[l] = random_real<T>();
        b[l] = random_bits() % 4 ? random_real<T>() : a[l];
        c[l] = random_real<T>();
    }
    V va, vb, vc;
    std::memcpy(&va, a, sizeof va), std::memcpy(&vb, b, sizeof vb), std::memcpy(&vc, c, sizeof vc);
    real_lanes("every", every<V>(a[0]), [&](int) { return a[0]; });
    real_lanes("larger", larger(va, vb), [&](int l) { return a[l] > b[l] ? a[l] : b[l]; });
    real_lanes("smaller", smaller(va, vb), [&](int l) { return a[l] < b[l] ? a[l] : b[l]; });
    const V none = every<V>(std::numeric_limits<T>::quiet_NaN());
    real_lanes("larger of no number", larger(none, vb), [&](int l) { return b[l]; });
    // Squares, since roots are of what is not negative; processors round both as the standard library does.
    real_lanes("root", root(V(va * va)), [&](int l) { return std::sqrt(T(a[l] * a[l])); });
    const V fused = fma(va, vb, vc);
    real_lanes("fma", fused, [&](int l) {
        const T once = std::fma(a[l], b[l], c[l]);
        volatile T product = a[l] * b[l];
        const T twice = product + c[l];
        return kFused<V> || lane_of(fused, l) != twice ? once : twice;
    });
    if constexpr (sizeof(V) >= 16) {
        real_lanes("spread", spread<V>(T(-0.0)), [&](int) { return T(-0.0); });
        if constexpr (std::is_same_v<T, double>)
            if (highest_lane(va) != *std::max_element(a, a + L)) fail<int8_t, 16>("highest_lane", 0, 0, 1);
        if constexpr (std::is_same_v<T, float> && L >= 4) {
            alignas(64) int32_t index[L];
            for (int32_t &x : index) x = static_cast<int32_t>(random_bits() % (2 * L));
            real_lanes("picked", picked(va, vb, load<int32_t, sizeof(V)>(index)),
                       [&](int l) { return index[l] < L ? a[index[l]] : b[index[l] - L]; });
        }
    }
    const uint32_t bits = lanes_at_least(va, vb);
    for (int l = 0; l < L; ++l)
        if ((bits >> l & 1) != (a[l] >= b[l])) fail<int8_t, 16>("lanes_at_least", l, bits >> l & 1, a[l] >= b[l]);
    if (bits >> L) fail<int8_t, 16>("lanes_at_least beyond the lanes", -1, 1, 0);
}

/// Quads of floats; `at(l)` of an operation's result is what lane l should be.
template <int N>
void quads() {
    using V = QuadLanes<N>;
    constexpr int L = 4 * N;
    alignas(64) float a[L], b[L];
    const float *from[N];
    uint32_t all = 0, bits = 0, above = 0;
    for (int l = 0; l < L; ++l) {
        a[l] = random_real<float>();
        b[l] = random_bits() % 4 ? random_real<float>() : a[l];
        above |= (a[l] > b[l] ? 1u : 0u) << l;
    }
    for (int k = 0; k < N; ++k) {
        from[k] = b + L - 4 - 4 * k;
        if (random_bits() % 2) bits |= 15u << 4 * k;
    }
    all = floats_above<N>(lanes_at<N>(a), lanes_at<N>(b));
    if (all != above) fail<int32_t, 16 * N>("floats_above", -1, all, above);
    const V va = lanes_at<N>(a), vb = lanes_at<N>(b);
    auto beside = [&](int l, int by) { return a[l / 4 * 4 + (l + by) % 4]; };
    real_lanes("same_quads", same_quads<N>(b), [&](int l) { return b[l % 4]; });
    real_lanes("own_quads", own_quads<N>(from, 0), [&](int l) { return from[l / 4][l % 4]; });
    real_lanes("rotated", rotated<N, 1>(va), [&](int l) { return beside(l, 1); });
    real_lanes("every_of_quads", every_of_quads<N, 2>(va), [&](int l) { return a[l / 4 * 4 + 2]; });
    real_lanes("two_and_two", two_and_two<N, 1, 3, 0, 2>(va, vb), [&](int l) {
        const int at[] = {1, 3, 0, 2};
        return (l % 4 < 2 ? a : b)[l / 4 * 4 + at[l % 4]];
    });
    real_lanes("up_after", up_after<N>(vb, va), [&](int l) { return l % 4 ? a[l - 1] : b[l]; });
    real_lanes("up", up<N>(va), [&](int l) { return l % 4 ? a[l - 1] : 0.0f; });
    real_lanes("down", down<N>(va), [&](int l) { return l % 4 < 3 ? a[l + 1] : 0.0f; });
    real_lanes("sum_of_quads", sum_of_quads<N>(va), [&](int l) {
        const float first = a[l / 4 * 4] + a[l / 4 * 4 + 1], second = a[l / 4 * 4 + 2] + a[l / 4 * 4 + 3];
        return first + second;
    });
    real_lanes("largest_of_quads", largest_of_quads<N>(va), [&](int l) {
        const float *quad = a + l / 4 * 4;
        return *std::max_element(quad, quad + 4);
    });
    real_lanes("where_bits", where_bits<N>(bits, va), [&](int l) { return bits >> l & 1 ? a[l] : 0.0f; });
    real_lanes("where_seen", where_seen<N>(with_differences<N>(V{}, va, vb), va), [&](int l) {
        bool differs = false;
        for (int k = l / 4 * 4; k < l / 4 * 4 + 4; ++k) differs |= a[k] != b[k];
        return differs ? a[l] : 0.0f;
    });
}

template <class T, int B>
void lanes() {
    arithmetic<T, B>();
    comparisons<T, B>();
    masks<T, B>();
    widening<T, B>();
}

template <int B>
void vectors(int rounds) {
    for (int k = 0; k < rounds; ++k) {
        lanes<int8_t, B>();
        lanes<int16_t, B>();
        lanes<int32_t, B>();
        unsigned_bytes<B>();
        unsigned_words<B>();
        byte_operations<B>();
        chosen_bytes<B>();
        chosen_lanes<B>();
        parts<B, B, 1>();
        parts<B, 16, 1>();
        if constexpr (B == kVectorBytes) row_lanes<1>();
        reals<Vec<float, B>>();
        reals<Vec<double, B>>();
        quads<B / 16>();
        reals<float>();
        reals<long double>();
        products<B>();
    }
    std::printf("%d bytes: %d vectors compared\n", B, compared);
    compared = 0;
}

}  // namespace
}  // namespace tropalign::TROPALIGN_ISA

int main(int argc, char **argv) {
    using namespace tropalign::TROPALIGN_ISA;
    const int rounds = argc > 1 ? std::stoi(argv[1]) : 1000;
    vectors<16>(rounds);
    if constexpr (kVectorBytes >= 32) vectors<32>(rounds);
    if constexpr (kVectorBytes >= 64) vectors<64>(rounds);
}
