// The Viterbi filter striped over nodes (recurrence in viterbi.hpp). A vector of B bytes has one or more targets,
// each in a part of P bytes:
//
//     B = 64, P = 16    | target 0: 8 stripes | target 1 | target 2 | target 3 |
//
// A first pass over a row takes D down each stripe as if none came from the stripe before. The values that leave
// the stripes are then carried through any number of them at once: with a(z) leaving stripe z, and T(z) the loss
// of D within it,
//
//     a(z) <- max(a(z), a(z - n) - T(z - n + 1) - ... - T(z))        for n = 1, 2, 4, ...
//
// and a second pass takes that down the stripes. Scores of this step are unsigned, 0 the lowest: a difference that
// saturates at 0 equals many small ones that each saturate at the lowest score.
#pragma once
#include <algorithm>
#include <cstring>
#include <type_traits>

#include "../simd/parts.hpp"
#include "target_slots.hpp"
#include "viterbi.hpp"

namespace tropalign::TROPALIGN_ISA {

/// `vectors` vectors of targets in parallel, which share the loads of the transitions.
template <int B, int P, int vectors>
class StripedSweep {
  public:
    static constexpr int kStripes = P / 2, kParts = B / P, kSlots = vectors * kParts;

    StripedSweep(const ViterbiStripes &tables, std::span<ViterbiTarget> targets, void *scratch)
        : tables_(tables), state_(static_cast<V *>(scratch)), slots_(targets) {}

    void run() {
        while (refill()) {
            const int32_t rows = slots_.common_rows();
            V first[vectors];  // E of the first vectors
            each([&](auto t) { first[t] = state_[2 * t + 1]; });
            for (int32_t r = 0; r < rows; ++r) row(r, first);
            each([&](auto t) { state_[2 * t + 1] = first[t]; });
            slots_.advance(rows);
        }
    }

  private:
    using V = Vec<int16_t, B>;
    using U = Vec<uint16_t, B>;

    bool refill() {
        return slots_.refill([&](int s, ViterbiTarget &target) { target.end = xC_[s * kStripes]; },
                             [&](int s, const ViterbiTarget &target) { begin(s, target); }, [](int) {});
    }

    void begin(int s, const ViterbiTarget &target) {
        std::fill_n(xC_ + s * kStripes, kStripes, kViterbiLowest);
        std::fill_n(move_ + s * kStripes, kStripes, target.move);
        int16_t lowest[kStripes];
        std::fill_n(lowest, kStripes, kViterbiLowest);
        for (int32_t q = 0; q < tables_.Q; ++q)
            for (int which = 0; which < 2; ++which) {
                V *vector = state_ + 2 * (q * vectors + s / kParts) + which;
                std::memcpy(reinterpret_cast<char *>(vector) + s % kParts * P, lowest, P);
            }
    }

    [[gnu::always_inline]] void row(int32_t r, V (&first)[vectors]) {
        const int16_t *match[kSlots];
        for (int s = 0; s < kSlots; ++s) {
            const size_t code = slots_[s].target ? slots_[s].codes[r] : kResidues;
            match[s] = tables_.match.data() + code * static_cast<size_t>(tables_.Q * kStripes);
        }
        V xB[vectors], xE[vectors], d[vectors], above[vectors];  // above: E of this vector
        each([&](auto t) {
            xB[t] = plus(vmax(at(xC_, t), splat<int16_t, B>(kViterbiBase)), at(move_, t));
            xE[t] = d[t] = splat<int16_t, B>(kViterbiLowest);
            above[t] = first[t];
        });
        const int16_t *steps = tables_.steps.data();
        const auto step = [&](int which) { return in_all_parts<B, P>(steps + which * kStripes); };
        V *state = state_;
        size_t node = 0;
        for (int32_t q = 0; q < tables_.Q; ++q, state += 2 * vectors, steps += kSteps * kStripes, node += kStripes) {
            V m[vectors], i[vectors], entry[vectors];
            each([&](auto t) {
                m[t] = plus(vmax(plus(xB[t], step(kStepBM)), above[t]), of_parts<B, P>(match + t * kParts, node));
                xE[t] = vmax(xE[t], m[t]);
                i[t] = state[2 * t];
            });
            each([&](auto t) { entry[t] = plus(m[t], step(kStepMM)); });
            each([&](auto t) { entry[t] = vmax(entry[t], plus(i[t], step(kStepIM))); });
            each([&](auto t) { i[t] = plus(i[t], step(kStepII)); });
            each([&](auto t) { state[2 * t] = vmax(i[t], plus(m[t], step(kStepMI))); });
            // E goes to the next vector, whose old value is read before.
            each([&](auto t) { above[t] = next(state, t); });
            each([&](auto t) { next(state, t) = vmax(entry[t], plus(d[t], step(kStepDM))); });
            each([&](auto t) { d[t] = plus(d[t], step(kStepDD)); });
            each([&](auto t) { d[t] = vmax(d[t], plus(m[t], step(kStepMD))); });
        }
        add_carried(d);
        each([&](auto t) { first[t] = flipped(shift_stripes<B, P, 1>(flipped(state[2 * t + 1]))); });
        each([&](auto t) { end_row(t, xE[t]); });
    }

    /// Second pass: add the values that leave stripes to those that follow.
    [[gnu::always_inline]] void add_carried(V (&d)[vectors]) {
        each([&](auto t) {
            d[t] = flipped(shift_stripes<B, P, 1>(carried<1>(flipped(d[t]), tables_.crossing.data())));
        });
        const int16_t *steps = tables_.steps.data();
        V *state = state_;
        for (int32_t q = 0; q < tables_.Q; ++q, state += 2 * vectors, steps += kSteps * kStripes) {
            const V dm = in_all_parts<B, P>(steps + kStepDM * kStripes);
            const V dd = in_all_parts<B, P>(steps + kStepDD * kStripes);
            each([&](auto t) { next(state, t) = vmax(next(state, t), plus(d[t], dm)); });
            each([&](auto t) { d[t] = plus(d[t], dd); });
        }
    }

    template <int n>
    [[gnu::always_inline]] static U carried(U a, const uint16_t *costs) {
        if constexpr (n >= kStripes) return a;
        else {
            const U left = subs<uint16_t, B>(shift_stripes<B, P, n>(a), in_all_parts<B, P>(costs));
            return carried<2 * n>(vmax(a, left), costs + kStripes);
        }
    }

    /// Update xC; few rows raise it.
    [[gnu::always_inline]] void end_row(int t, V xE) {
        const V end = subs<int16_t, B>(xE, splat<int16_t, B>(kViterbiEnd));
        if (any_gt<int16_t, B>(end, at(xC_, t))) raise_ends(t, xE);
    }
    [[gnu::noinline]] void raise_ends(int t, V xE) {
        alignas(64) int16_t highest[kParts * kStripes];
        store<int16_t, B>(highest, flipped(highest_last<B, P>(flipped(xE))));
        for (int part = 0; part < kParts; ++part) {
            const int best = highest[part * kStripes + kStripes - 1];
            int16_t *ends = xC_ + (t * kParts + part) * kStripes;
            const int end = best == kViterbiHighest ? best : best - kViterbiEnd;
            std::fill_n(ends, kStripes, static_cast<int16_t>(std::max<int>(ends[0], end)));
        }
    }

    /// Call `what` for each vector. Its number is a constant, as GCC 12 keeps no array in registers that is
    /// indexed in a loop.
    template <class Do>
    [[gnu::always_inline]] static void each(Do what) {
        what(std::integral_constant<int, 0>{});
        if constexpr (vectors == 2) what(std::integral_constant<int, 1>{});
    }

    [[gnu::always_inline]] static V plus(V a, V b) { return adds<int16_t, B>(a, b); }
    [[gnu::always_inline]] static U flipped(V v) { return (U)v ^ splat<uint16_t, B>(0x8000); }
    [[gnu::always_inline]] static V flipped(U v) { return (V)(v ^ splat<uint16_t, B>(0x8000)); }
    [[gnu::always_inline]] static V at(const int16_t *words, int t) {
        return load<int16_t, B>(words + t * kParts * kStripes);
    }
    [[gnu::always_inline]] static V &next(V *state, int t) { return state[2 * vectors + 2 * t + 1]; }

    const ViterbiStripes &tables_;
    V *const state_;  ///< [Q + 1][vectors]: I, E
    TargetSlots<ViterbiTarget, kSlots> slots_;
    alignas(64) int16_t xC_[kSlots * kStripes] = {}, move_[kSlots * kStripes] = {};
};

}  // namespace tropalign::TROPALIGN_ISA
