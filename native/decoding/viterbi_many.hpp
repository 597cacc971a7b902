// Values of a model with many states (viterbi.hpp): lanes are states, and only a few sums are computed.
//
// For eight adjacent states s, a group, only few predecessors r can lie on a best path. With the highest
// transition h[r] from r into the group, r raises A[s] of no s if
//
//     V[r] + h[r] <= the lowest A[s] so far                 (sums of doubles are monotone: this holds after rounding)
//
// which for 256 states with random transitions holds for all but 6 %, compared with 28 % for groups of 64. Bounds
// are scanned in 16 bits: V minus the highest V, and h, are rounded up to multiples of 1 / bound_steps, A down,
// and one is subtracted for the rounding of doubles in between.
//
//     least             predecessors that may matter: bits         A of the group
//     guess - margin    1001000010000000 ...                       raised by these      if its lowest is above `least`,
//     its lowest A      1001001010000010 ...                       raised by these      all others cannot matter
//
// The first bound is a group's recent lowest A minus a margin; an eighth of the groups are computed first and show
// how far all of them have moved. The second bound is exact. Margins are adapted so that a sixth of the groups
// need it.
//
// Zen 4 with a busy neighbour, 256 states, random transitions: .035 ns per sum with AVX2, compared with .072 for
// all sums and .076 for groups of 64; at 72 states all sums cost as much.
#pragma once
#include <bit>
#include <cmath>

#include "../simd/bits_above.hpp"
#include "viterbi_vectors.hpp"

namespace tropalign::TROPALIGN_ISA {
namespace {

constexpr int kParts = kGroup / kLanes;
using Words16 = Vec<int16_t, kVectorBytes>;
constexpr double kLowestBound = -0x1p15, kHighestBound = 0x1p15 - 1;
/// Initial margin of guesses below the expected value; it is then adapted so that a sixth of the guesses are
/// wrong.
constexpr double kFirstMargin = 0.25, kWrongShare = 0.17;
/// Steps over which the lowest A of a group is averaged.
constexpr double kRemembered = 8;

/// Return one bit for each of 64 predecessors: V + h is above `low`, and not above `high`.
template <bool kHasHigh>
[[gnu::always_inline]] inline uint64_t states_above(const int16_t *values, const int16_t *highest, Words16 low,
                                                    Words16 high) {
    constexpr int kWords = kVectorBytes / 2;
    const auto sum = [&](int r) {
        return adds<int16_t, kVectorBytes>(load<int16_t, kVectorBytes>(values + r),
                                           load<int16_t, kVectorBytes>(highest + r));
    };
    uint64_t bits = 0;
    for (int r = 0; r < kLookedThrough; r += 2 * kWords) {
        const Words16 first = sum(r), second = sum(r + kWords);
        uint64_t some = bits_above<kVectorBytes>(first, second, low);
        if (kHasHigh) some &= ~bits_above<kVectorBytes>(first, second, high);
        bits |= some << r;
    }
    return bits;
}

/// Known values at the start of a step.
struct ManyValues {
    const double *values;   ///< [rows() + 1] V, then -inf
    const int16_t *bounds;  ///< [rows()] no lower than V less the highest, in bound_steps
    double highest;
};

/// Compute A of a group from the predecessors with V + h above `low`; kAgain: A from those above `high` is known.
/// Without kAgain, six per 64 are processed even if there are fewer, since a mispredicted branch costs as much as two
/// of them: any other state does no harm.
template <bool kAgain>
[[gnu::always_inline]] inline void raise_group(const ViterbiModel &model, int32_t g, const ManyValues &before,
                                               double low, double high, double *sums) {
    Maxima<kParts> even, odd;
    const int64_t rows = model.rows();
    const int16_t *highest = model.highest + g * rows, *bounds = before.bounds;
    const double *from = model.from + g * rows * kGroup, *values = before.values, *end = values + rows;
    const Words16 above = splat<int16_t, kVectorBytes>(static_cast<int16_t>(low));
    const Words16 below = splat<int16_t, kVectorBytes>(static_cast<int16_t>(high));
    for (; values < end; values += kLookedThrough, from += kLookedThrough * kGroup) {
        uint64_t bits = states_above<kAgain>(bounds, highest, above, below);
        const auto take = [&](Maxima<kParts> &best) {
            const auto state = static_cast<uint64_t>(std::countr_zero(bits));
            bits &= bits - 1;
            best.take(values[state], from + state * kGroup);
        };
        if (!kAgain) take(even), take(odd), take(even), take(odd), take(even), take(odd);
        while (bits) take(even), take(odd);
        bounds += kLookedThrough, highest += kLookedThrough;
    }
    even.take(odd);
    even.each([&](int j, V a) { put(sums + j * kLanes, kAgain ? larger(at(sums + j * kLanes), a) : a); });
}

/// Compute A of a group from all predecessors.
[[gnu::noinline]] inline void raise_group_by_all(const ViterbiModel &model, int32_t g, const double *values,
                                                 double *sums) {
    Maxima<kParts> even, odd;
    const double *from = model.from + int64_t{g} * model.rows() * kGroup;
    for (int32_t r = 0; r < model.stride; r += 2, from += 2 * kGroup)
        even.take(values[r], from), odd.take(values[r + 1], from + kGroup);
    even.take(odd);
    even.each([&](int j, V a) { put(sums + j * kLanes, a); });
}

/// Return the lowest A of the reachable states of a group.
[[gnu::always_inline]] inline double lowest_of(const double *sums, const double *reached) {
    V low = larger(at(sums), at(reached));
    for (int s = kLanes; s < kGroup; s += kLanes) low = smaller(low, larger(at(sums + s), at(reached + s)));
    return -highest_lane(-low);
}

/// Computes A of steps, one after the other. Its values of groups are relative to the previous highest V, in
/// bound_steps.
class BestOfMany {
  public:
    /// room: [stride]
    BestOfMany(const ViterbiModel &model, double *room)
        : model_(model), n_groups_(model.n_groups()), n_scouts_(n_groups_ / 8 + 1), usual_(room),
          guesses_(room + n_groups_), lows_(room + 2 * n_groups_), margin_(kFirstMargin * model.bound_steps) {
        std::fill(usual_, usual_ + n_groups_, -4 * model.bound_steps);
    }

    [[gnu::noinline]] void step(const ManyValues &before, double *sums) {
        double drift = 0;
        int32_t n_wrong = 0;
        for (int32_t g = 0; g < n_scouts_; ++g) {
            guess(g, -2 * margin_, before, sums);
            n_wrong += settle(g, before, sums);
            if (is_finite(lows_[g])) drift += (lows_[g] - usual_[g]) / n_scouts_;
        }
        for (int32_t g = n_scouts_; g < n_groups_; ++g) guess(g, drift - margin_, before, sums);
        for (int32_t g = n_scouts_; g < n_groups_; ++g) n_wrong += settle(g, before, sums);
        learn(n_wrong);
    }

  private:
    const ViterbiModel &model_;
    const int32_t n_groups_, n_scouts_;
    double *const usual_;    // recent lowest A
    double *const guesses_;  // integers
    double *const lows_;     // the lowest A of this step
    double margin_, n_seen_ = 0;

    static bool is_finite(double x) { return x - x == 0; }

    [[gnu::always_inline]] double low_of(int32_t g, double highest, const double *sums) const {
        return (lowest_of(sums + g * kGroup, model_.reached + g * kGroup) - highest) * model_.bound_steps;
    }

    [[gnu::always_inline]] void guess(int32_t g, double more, const ManyValues &before, double *sums) {
        guesses_[g] = std::floor(std::clamp(usual_[g] + more, kLowestBound, kHighestBound));
        raise_group<false>(model_, g, before, guesses_[g], 0, sums + g * kGroup);
    }

    /// Process predecessors that the guess has left out; return true if there may be any.
    [[gnu::always_inline]] bool settle(int32_t g, const ManyValues &before, double *sums) {
        lows_[g] = low_of(g, before.highest, sums);
        const bool is_wrong = !(lows_[g] >= guesses_[g] + 1);
        if (is_wrong) [[unlikely]]
            look_farther(g, before, sums);
        return is_wrong;
    }

    /// Lower the bound until it is correct; in large steps as long as no predecessor reaches some state of the group.
    [[gnu::noinline]] void look_farther(int32_t g, const ManyValues &before, double *sums) {
        for (double bound = guesses_[g]; !(lows_[g] >= bound + 1);) {
            const double next = lows_[g] == kNever
                                    ? std::floor(bound - std::max(model_.bound_steps, std::abs(bound) / 2))
                                    : std::floor(lows_[g]) - 1;
            if (!(next > kLowestBound)) {
                raise_group_by_all(model_, g, before.values, sums + g * kGroup);
                lows_[g] = low_of(g, before.highest, sums);
                return;
            }
            raise_group<true>(model_, g, before, next, bound, sums + g * kGroup);
            lows_[g] = low_of(g, before.highest, sums);
            bound = next;
        }
    }

    void learn(int32_t n_wrong) {
        n_seen_ = std::min(n_seen_ + 1, kRemembered);
        for (int32_t g = 0; g < n_groups_; ++g)
            if (is_finite(lows_[g])) usual_[g] += (lows_[g] - usual_[g]) / n_seen_;
        margin_ *= n_wrong ? 1 + 0.5 * (static_cast<double>(n_wrong) / n_groups_ - kWrongShare) : 0.8;
        margin_ += 0.01;
    }
};

/// Compute steps of a model that is grouped.
inline void forward_many(const ViterbiModel &model, ForwardStream &stream, double *scratch) {
    const int32_t stride = model.stride, rows = model.rows();
    const Emissions emissions(model, stream.steps, scratch);
    double *sums = scratch + stride, *before = scratch + 2 * stride, *room = before + rows + kGroup;
    auto *bounds = reinterpret_cast<int16_t *>(room + stride);
    double *values = stream.values;
    BestOfMany best(model, room);
    std::fill(before, before + rows + kGroup, kNever);
    std::fill(bounds, bounds + rows, std::numeric_limits<int16_t>::min());
    double highest = kNever;
    const auto look_back = [&] {
        highest = highest_of(values, stride);
        if (highest == kNever) return;
        for (int32_t s = 0; s < stride; ++s) {
            before[s] = values[s];
            bounds[s] = static_cast<int16_t>(
                static_cast<int32_t>(std::max((values[s] - highest) * model.bound_steps, kLowestBound)));
        }
    };
    if (stream.next) look_back();
    for (int64_t &k = stream.next; k < stream.end; ++k) {
        if (k == 0) std::copy(model.start, model.start + stride, sums);
        else if (highest == kNever) std::fill(sums, sums + stride, kNever);
        else best.step({before, bounds, highest}, sums);
        end_step(sums, emissions.row(k), stride, stream);
        look_back();
    }
}

}  // namespace
}  // namespace tropalign::TROPALIGN_ISA
