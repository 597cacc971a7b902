// MSV with a lane per target, and striped (recurrence and source in msv.hpp).
#include <array>
#include <utility>

#include "../simd/bytes.hpp"
#include "msv.hpp"

namespace tropalign::TROPALIGN_ISA {
namespace {

constexpr int B = kVectorBytes;
using V = Vec<uint8_t, B>;

[[gnu::always_inline]] inline V every(int x) { return splat<uint8_t, B>(static_cast<uint8_t>(x)); }
[[gnu::always_inline]] inline V plus(V a, V b) { return adds<uint8_t, B>(a, b); }
[[gnu::always_inline]] inline V minus(V a, V b) { return subs<uint8_t, B>(a, b); }

/// The highest M of all, in two parts, so that a maximum does not wait for the previous one.
struct Highest {
    V even{}, odd{};

    template <bool is_odd>
    [[gnu::always_inline]] void add(V v) {
        V &part = is_odd ? odd : even;
        part = vmax(part, v);
    }
    [[gnu::always_inline]] V value() const { return vmax(even, odd); }
};

/// Compute positions 0 to n of a row in memory, from left to right: M from the position to the left, in the row
/// before. `costs(k)`: the costs of position k.
template <class Costs>
[[gnu::always_inline]] inline void next_row(uint8_t *state, size_t n, V before, V xB, V bias, Highest &highest,
                                            const Costs &costs) {
    const auto next = [&]<bool is_odd>(size_t k) __attribute__((always_inline)) {
        uint8_t *at = state + k * B;
        const V m = minus(plus(vmax(before, xB), bias), costs(k));
        before = load<uint8_t, B>(at);
        store<uint8_t, B>(at, m);
        highest.add<is_odd>(m);
    };
    size_t k = 0;
#pragma GCC unroll 2
    for (; k + 2 <= n; k += 2) {
        next.template operator()<false>(k);
        next.template operator()<true>(k + 1);
    }
    if (k < n) next.template operator()<false>(k);
}

[[gnu::always_inline]] inline V begin(V highest, V end, V enter) {
    return minus(vmax(every(kByteBase), minus(highest, end)), enter);
}

// ---- a lane per target

void lanes(const MsvTables &tables, const TargetGroup &targets, const uint8_t *enter, uint8_t *state,
           uint8_t *highest) {
    const V bias = every(tables.bias), end = every(tables.end);
    const NodeByteCosts *const nodes = tables.nodes.data();
    const auto M = static_cast<size_t>(tables.M);  // in a register: a store of bytes may alias anything
    for (int first = 0; first < kGroupTargets; first += B) {
        const V enters = load<uint8_t, B>(enter + first);
        std::fill_n(state, M * B, uint8_t{0});
        Highest best;
        for (int32_t i = 0; i < targets.n_rows; ++i) {
            const auto codes = load<int8_t, B>(targets.codes + static_cast<size_t>(i) * kGroupTargets + first);
            const V xB = begin(best.value(), end, enters);
            next_row(state, M, V{}, xB, bias, best, [&](size_t k) __attribute__((always_inline)) {
                return (V)lookup32<B>(reinterpret_cast<const int8_t *>(nodes[k].of), codes);
            });
        }
        store<uint8_t, B>(highest + first, best.value());
    }
}

// ---- striped

uint8_t highest_lane(V v) {
    uint8_t lanes[B], highest = 0;
    store<uint8_t, B>(lanes, v);
    for (const uint8_t lane : lanes) highest = std::max(highest, lane);
    return highest;
}

/// M of a row: N vectors in registers. Members rather than an array, which GCC 12 keeps in memory.
template <int N>
struct Row {
    Row<N - 1> before;
    V last{};

    /// Compute the next row; `entering`: the value that the first vector takes from the last one of the row
    /// before.
    [[gnu::always_inline]] void next(const uint8_t *costs, V entering, V xB, V bias, Highest &highest) {
        V from = entering;
        if constexpr (N > 1) from = before.last;
        last = minus(plus(vmax(from, xB), bias), load<uint8_t, B>(costs + (N - 1) * B));
        highest.add<N % 2 != 0>(last);
        if constexpr (N > 1) before.next(costs, entering, xB, bias, highest);
    }
    [[gnu::always_inline]] void next(const uint8_t *costs, V xB, V bias, Highest &highest) {
        next(costs, (V)shift_in<B>((Vec<int8_t, B>)last, Vec<int8_t, B>{}), xB, bias, highest);
    }
};
template <>
struct Row<0> {};

/// A row of Q vectors in memory.
struct LongRow {
    uint8_t *state;
    size_t Q;

    void next(const uint8_t *costs, V xB, V bias, Highest &highest) {
        const auto last = load<int8_t, B>(state + (Q - 1) * B);
        next_row(state, Q, (V)shift_in<B>(last, Vec<int8_t, B>{}), xB, bias, highest,
                 [&](size_t q) __attribute__((always_inline)) { return load<uint8_t, B>(costs + q * B); });
    }
};

template <class Any>
uint8_t sweep(const MsvTables &tables, const uint8_t *codes, int32_t L, uint8_t enter, Any row) {
    const V bias = every(tables.bias), end = every(tables.end);
    const uint8_t *const costs = tables.stripes.front().of;
    const size_t stride = static_cast<size_t>(tables.Q) * B;
    const int overflow = 255 - tables.bias;
    Highest highest;
    V xB = begin(V{}, end, every(enter));
    // Most rows leave J unchanged: only values above this change it, or overflow.
    int silent = std::min(kByteBase + tables.end, overflow - 1);
    for (int32_t i = 0; i < L; ++i) {
        row.next(costs + codes[i] * stride, xB, bias, highest);
        const V loud = minus(highest.value(), every(silent));
        if (!any_gt<int8_t, B>((Vec<int8_t, B>)(loud > 127 ? every(127) : loud), Vec<int8_t, B>{})) [[likely]]
            continue;
        const int best = highest_lane(highest.value());
        if (best >= overflow) return static_cast<uint8_t>(best);
        silent = best;
        xB = begin(every(best), end, every(enter));
    }
    return highest_lane(highest.value());
}

constexpr int kMostVectors = kVectorRegisters == 32 ? 24 : 11;

using Sweep = uint8_t (*)(const MsvTables &, const uint8_t *, int32_t, uint8_t);
template <int Q>
uint8_t sweep_short(const MsvTables &tables, const uint8_t *codes, int32_t L, uint8_t enter) {
    return sweep(tables, codes, L, enter, Row<Q>());
}
template <int... Q>
constexpr std::array<Sweep, sizeof...(Q)> sweeps(std::integer_sequence<int, Q...>) {
    return {sweep_short<Q + 1>...};
}
constexpr auto kSweeps = sweeps(std::make_integer_sequence<int, kMostVectors>());

uint8_t striped(const MsvTables &tables, const uint8_t *codes, int32_t L, uint8_t enter, uint8_t *state) {
    if (tables.Q <= kMostVectors) return kSweeps[tables.Q - 1](tables, codes, L, enter);
    std::fill_n(state, static_cast<size_t>(tables.Q) * B, uint8_t{0});
    return sweep(tables, codes, L, enter, LongRow{state, static_cast<size_t>(tables.Q)});
}

// Measured as in kernels_ssv.cpp.
constexpr float kLanesCyclesOf[] = {6, 6, 9, 4.3F, 2.5F, 1.75F};  // by Features; the first two not measured
constexpr float kLanesCycles = kLanesCyclesOf[static_cast<int>(kFeatures)];
constexpr float kStripeCycles = 1.4F, kLeastStripesCycles = 11;

}  // namespace

#define TROPALIGN_STRING_(x) #x
#define TROPALIGN_STRING(x) TROPALIGN_STRING_(x)
extern const MsvKernels msv_kernels = {
    TROPALIGN_STRING(TROPALIGN_ISA), B, kLanesCycles, kStripeCycles, kLeastStripesCycles, lanes, striped};

}  // namespace tropalign::TROPALIGN_ISA
