// SSV with a lane per target, and striped (recurrence and source in ssv.hpp).
#include <array>
#include <utility>

#include "../simd/bytes.hpp"
#include "ssv.hpp"

namespace tropalign::TROPALIGN_ISA {
namespace {

constexpr int B = kVectorBytes;
using V = Vec<int8_t, B>;
using Unsigned = Vec<uint8_t, B>;

constexpr int8_t kBegin = -128;

constexpr int kMostBand = kVectorRegisters == 32 ? 20 : 10, kMostStripes = kVectorRegisters == 32 ? 24 : 12,
              kMostPaired = kVectorRegisters == 32 ? 10 : 6;

/// The highest of all V, in two parts, so that a maximum does not wait for the previous one.
struct Highest {
    V even, odd;

    [[gnu::always_inline]] explicit Highest(V begin) : even(begin), odd(begin) {}
    template <int n>
    [[gnu::always_inline]] void add(V v) {
        V &part = n % 2 ? odd : even;
        part = (V)vmax((Unsigned)part, (Unsigned)v);
    }
    [[gnu::always_inline]] V value() const { return (V)vmax((Unsigned)even, (Unsigned)odd); }
};

/// V of N neighbouring nodes, or of N vectors of stripes. Members rather than an array, which GCC 12 keeps in memory.
template <int N>
struct Diagonals {
    V last;
    Diagonals<N - 1> before;

    [[gnu::always_inline]] void begin() {
        last = splat<int8_t, B>(kBegin);
        if constexpr (N > 1) before.begin();
    }
    /// Compute a row of lanes: every V moves to the next node.
    [[gnu::always_inline]] void next_row(const NodeCosts *nodes, V codes, V entering, Highest &highest) {
        V from = entering;
        if constexpr (N > 1) from = before.last;
        last = subs<int8_t, B>(from, lookup32<B>(nodes[N - 1].of, codes));
        highest.add<N>(last);
        if constexpr (N > 1) before.next_row(nodes, codes, entering, highest);
    }
    /// Compute a row of stripes: every V stays in its lane, and the costs move.
    [[gnu::always_inline]] void next_row(const int8_t *costs, Highest &highest) {
        if constexpr (N > 1) before.next_row(costs, highest);
        last = subs<int8_t, B>(last, load<int8_t, B>(costs + (N - 1) * B));
        highest.add<N>(last);
    }
    /// Move every V to the next stripe.
    [[gnu::always_inline]] void next_stripe() {
        last = shift_in<B>(last, splat<int8_t, B>(kBegin));
        if constexpr (N > 1) before.next_stripe();
    }
};
template <>
struct Diagonals<0> {};

// ---- a lane per target

/// Sweep a band of nodes down all rows. V of its last node goes to the border, from which the next band reads it.
template <int N, bool is_first, bool is_last>
V sweep_band(const NodeCosts *nodes, const uint8_t *codes, int32_t n_rows, int8_t *border, V before) {
    Diagonals<N> v;
    v.begin();
    Highest highest(before);
    V entering = splat<int8_t, B>(kBegin);
    for (int32_t i = 0; i < n_rows; ++i) {
        int8_t *at = border + static_cast<size_t>(i) * B;
        V next = entering;
        if constexpr (!is_first) next = load<int8_t, B>(at);
        v.next_row(nodes, load<int8_t, B>(codes + static_cast<size_t>(i) * kGroupTargets), entering, highest);
        if constexpr (!is_last) store<int8_t, B>(at, v.last);
        entering = next;
    }
    return highest.value();
}

using Band = V (*)(const NodeCosts *, const uint8_t *, int32_t, int8_t *, V);

/// Bands of 1 to kMostBand nodes.
template <bool is_first, bool is_last, int... N>
constexpr std::array<Band, sizeof...(N)> bands(std::integer_sequence<int, N...>) {
    return {sweep_band<N + 1, is_first, is_last>...};
}
using Sizes = std::make_integer_sequence<int, kMostBand>;
constexpr auto kOnly = bands<true, true>(Sizes()), kFirst = bands<true, false>(Sizes()),
               kMiddle = bands<false, false>(Sizes()), kLast = bands<false, true>(Sizes());

void lanes(const SsvTables &tables, const TargetGroup &targets, int8_t *border, uint8_t *highest) {
    const int32_t N = tables.band_nodes, n_bands = tables.n_bands;
    for (int first = 0; first < kGroupTargets; first += B) {
        V best = splat<int8_t, B>(kBegin);
        for (int32_t b = 0; b < n_bands; ++b) {
            const auto &sweeps = n_bands == 1 ? kOnly : b == 0 ? kFirst : b < n_bands - 1 ? kMiddle : kLast;
            best = sweeps[N - 1](tables.nodes.data() + static_cast<size_t>(b) * N, targets.codes + first,
                                 targets.n_rows, border, best);
        }
        store<int8_t, B>(highest + first, best);
    }
}

// ---- striped

/// Sweep w neighbouring vectors of diagonals; the first one starts at t = `start`.
template <int w>
V sweep_stripes(const SsvTables &tables, const uint8_t *codes, int32_t L, int32_t start, V before) {
    Diagonals<w> v;
    v.begin();
    Highest highest(before);
    const int8_t *costs = tables.stripes_of(0) + static_cast<ptrdiff_t>(start) * B;
    const auto stride = static_cast<ptrdiff_t>(tables.stripes_stride);
    for (int32_t i = 0, turn = tables.Q - start;; turn += tables.Q) {
        for (const int32_t end = std::min(turn, L); i < end; ++i, costs += B)
            v.next_row(costs + codes[i] * stride, highest);
        if (i == L) return highest.value();
        v.next_stripe();
        costs -= static_cast<ptrdiff_t>(tables.Q) * B;
    }
}

/// Sweep two targets in parallel; the first one is at least as long, and continues alone in the end. `best` holds
/// the highest of each, before and after.
template <int w>
void sweep_pair(const SsvTables &tables, const uint8_t *const *codes, const int32_t *L, int32_t start, V *best) {
    Diagonals<w> v, other;
    v.begin(), other.begin();
    Highest highest(best[0]), others_highest(best[1]);
    const int8_t *costs = tables.stripes_of(0) + static_cast<ptrdiff_t>(start) * B;
    const auto stride = static_cast<ptrdiff_t>(tables.stripes_stride), turn_back = static_cast<ptrdiff_t>(tables.Q) * B;
    const uint8_t *const own_codes = codes[0], *const other_codes = codes[1];
    const int32_t both = L[1], all = L[0];
    int32_t i = 0, turn = tables.Q - start;
    for (;; turn += tables.Q) {
        for (const int32_t end = std::min(turn, both); i < end; ++i, costs += B) {
            v.next_row(costs + own_codes[i] * stride, highest);
            other.next_row(costs + other_codes[i] * stride, others_highest);
        }
        if (i == both) break;
        v.next_stripe(), other.next_stripe();
        costs -= turn_back;
    }
    for (;; turn += tables.Q) {
        for (const int32_t end = std::min(turn, all); i < end; ++i, costs += B)
            v.next_row(costs + own_codes[i] * stride, highest);
        if (i == all) break;
        v.next_stripe();
        costs -= turn_back;
    }
    best[0] = highest.value(), best[1] = others_highest.value();
}

template <int... w>
constexpr auto stripes(std::integer_sequence<int, w...>) {
    return std::array{sweep_stripes<w + 1>...};
}
template <int... w>
constexpr auto pairs(std::integer_sequence<int, w...>) {
    return std::array{sweep_pair<w + 1>...};
}
constexpr auto kStripes = stripes(std::make_integer_sequence<int, kMostStripes>());
constexpr auto kPairs = pairs(std::make_integer_sequence<int, kMostPaired>());

uint8_t highest_lane(V v) {
    uint8_t lanes[B], highest = 0;
    store<int8_t, B>(lanes, v);
    for (const uint8_t lane : lanes) highest = std::max(highest, lane);
    return highest;
}

uint8_t striped(const SsvTables &tables, const uint8_t *codes, int32_t L) {
    V best = splat<int8_t, B>(kBegin);
    for (int32_t start = 0; start < tables.Q; start += tables.w)
        best = kStripes[tables.w - 1](tables, codes, L, start, best);
    return highest_lane(best);
}

void striped_pair(const SsvTables &tables, const uint8_t *const *codes, const int32_t *L, uint8_t *highest) {
    const int first = L[0] < L[1];
    const uint8_t *const ordered[] = {codes[first], codes[1 - first]};
    const int32_t lengths[] = {L[first], L[1 - first]};
    V best[] = {splat<int8_t, B>(kBegin), splat<int8_t, B>(kBegin)};
    for (int32_t start = 0; start < tables.Q; start += tables.w)
        kPairs[tables.w - 1](tables, ordered, lengths, start, best);
    highest[first] = highest_lane(best[0]), highest[1 - first] = highest_lane(best[1]);
}

// Measured on a Zen 5 core with models of 5 to 2,405 nodes, except least_stripes_cycles: a row of two targets in
// three vectors each, on a Zen 4. With VBMI, lanes take 0.87 on the Zen 5 and 2.0 on a Zen 4, whose vectors of
// stripes take 1.4: the constant is in between.
constexpr float kLanesCyclesOf[] = {4, 4, 7.2F, 3.1F, 2, 1};  // by Features; the first two not measured
constexpr float kLanesCycles = kLanesCyclesOf[static_cast<int>(kFeatures)];
constexpr float kStripeCycles = 0.72F, kLeastStripesCycles = 3;

}  // namespace

#define TROPALIGN_STRING_(x) #x
#define TROPALIGN_STRING(x) TROPALIGN_STRING_(x)
extern const SsvKernels ssv_kernels = {TROPALIGN_STRING(TROPALIGN_ISA),
                                       B,
                                       kMostBand,
                                       kMostStripes,
                                       kMostPaired,
                                       kLanesCycles,
                                       kStripeCycles,
                                       kLeastStripesCycles,
                                       lanes,
                                       striped,
                                       striped_pair};

}  // namespace tropalign::TROPALIGN_ISA
