// Functions shared by the kernels of best paths: vectors of states, emissions, shifts.
#pragma once
#include <algorithm>
#include <cstring>
#include <limits>

#include "../simd/real.hpp"
#include "viterbi_kernels.hpp"

namespace tropalign::TROPALIGN_ISA {
namespace {

using V = Vec<double, kVectorBytes>;
constexpr int kLanes = kVectorBytes / 8;
constexpr double kNever = -std::numeric_limits<double>::infinity();
/// Vectors of A in registers.
constexpr int kMostVectors = 8;

[[gnu::always_inline]] inline V at(const double *p) { return load<double, kVectorBytes>(p); }
[[gnu::always_inline]] inline void put(double *p, V v) { store<double, kVectorBytes>(p, v); }

/// Return x in every lane. (`every` of simd/real.hpp adds it to 0, which costs an addition.)
[[gnu::always_inline]] inline V all(double x) { return spread<V>(x); }

/// rounded_log of viterbi_model.hpp, in lanes.
[[gnu::always_inline]] inline V rounded(V x) {
    const V near = (x + kRounder) - kRounder;
    return ((x < kMostRounded) & (x > -kMostRounded)) ? near : x;
}

/// The emissions of the states at step k, padded to whole vectors.
class Emissions {
  public:
    Emissions(const ViterbiModel &model, const ViterbiSteps &steps, double *room)
        : model_(model), steps_(steps), room_(room) {
        std::fill(room_, room_ + model.stride, kNever);
    }

    [[gnu::always_inline]] const double *row(int64_t k) const {
        if (steps_.codes) return model_.emission + int64_t{steps_.codes[k]} * model_.stride;
        std::memcpy(room_, steps_.frames + k * model_.n_states, model_.n_states * sizeof(double));
        for (int32_t s = 0; s < model_.stride; s += kLanes) put(room_ + s, rounded(at(room_ + s)));
        return room_;
    }

  private:
    const ViterbiModel &model_;
    const ViterbiSteps &steps_;
    double *room_;
};

[[gnu::always_inline]] inline double highest_of(const double *values, int32_t stride) {
    V best = at(values);
    for (int32_t s = kLanes; s < stride; s += kLanes) best = larger(best, at(values + s));
    return highest_lane(best);
}

/// Shift the values of a step so that the highest is 0.
inline void shift(double *values, int32_t stride, ForwardStream &stream) {
    const double highest = highest_of(values, stride);
    if (highest == kNever) return;
    V wide{};
    for (int32_t s = 0; s < stride; s += kLanes) {
        const V value = at(values + s) - highest;
        put(values + s, value);
        wide = ((value < kLowestExact) & (value > kNever)) ? all(1) : wide;
    }
    stream.is_exact &= highest_lane(wide) == 0;
    stream.shifted += highest;
}

/// Finish a step whose A of all states are `sums`: store these if requested, and add the emissions.
[[gnu::always_inline]] inline void end_step(const double *sums, const double *emission, int32_t stride,
                                            ForwardStream &stream) {
    double *const values = stream.values;
    for (int32_t s = 0; s < stride; s += kLanes) {
        const V a = at(sums + s);
        if (stream.kept) put(stream.kept + s, a);
        put(values + s, a + at(emission + s));
    }
    if (stream.kept) stream.kept += stride;
    if (stream.next % kStepsPerShift == 0) shift(values, stride, stream);
}

/// Eight vectors of maxima as named members: arrays of them would be spilled.
template <int N>
struct Maxima {
    V a0, a1, a2, a3, a4, a5, a6, a7;

    [[gnu::always_inline]] Maxima() { a0 = a1 = a2 = a3 = a4 = a5 = a6 = a7 = all(kNever); }

    /// Initialise with the sums of a state's value and its row of transitions.
    [[gnu::always_inline]] void begin(double value, const double *row) {
        const V v = all(value);
        a0 = at(row) + v;
        if constexpr (N > 1) a1 = at(row + kLanes) + v;
        if constexpr (N > 2) a2 = at(row + 2 * kLanes) + v;
        if constexpr (N > 3) a3 = at(row + 3 * kLanes) + v;
        if constexpr (N > 4) a4 = at(row + 4 * kLanes) + v;
        if constexpr (N > 5) a5 = at(row + 5 * kLanes) + v;
        if constexpr (N > 6) a6 = at(row + 6 * kLanes) + v;
        if constexpr (N > 7) a7 = at(row + 7 * kLanes) + v;
    }
    /// Update the maxima with a state's sums.
    [[gnu::always_inline]] void take(double value, const double *row) {
        const V v = all(value);
        a0 = larger(at(row) + v, a0);
        if constexpr (N > 1) a1 = larger(at(row + kLanes) + v, a1);
        if constexpr (N > 2) a2 = larger(at(row + 2 * kLanes) + v, a2);
        if constexpr (N > 3) a3 = larger(at(row + 3 * kLanes) + v, a3);
        if constexpr (N > 4) a4 = larger(at(row + 4 * kLanes) + v, a4);
        if constexpr (N > 5) a5 = larger(at(row + 5 * kLanes) + v, a5);
        if constexpr (N > 6) a6 = larger(at(row + 6 * kLanes) + v, a6);
        if constexpr (N > 7) a7 = larger(at(row + 7 * kLanes) + v, a7);
    }
    [[gnu::always_inline]] void take(const Maxima &other) {
        a0 = larger(a0, other.a0);
        if constexpr (N > 1) a1 = larger(a1, other.a1);
        if constexpr (N > 2) a2 = larger(a2, other.a2);
        if constexpr (N > 3) a3 = larger(a3, other.a3);
        if constexpr (N > 4) a4 = larger(a4, other.a4);
        if constexpr (N > 5) a5 = larger(a5, other.a5);
        if constexpr (N > 6) a6 = larger(a6, other.a6);
        if constexpr (N > 7) a7 = larger(a7, other.a7);
    }
    template <class Use>
    [[gnu::always_inline]] void each(Use use) const {
        use(0, a0);
        if constexpr (N > 1) use(1, a1);
        if constexpr (N > 2) use(2, a2);
        if constexpr (N > 3) use(3, a3);
        if constexpr (N > 4) use(4, a4);
        if constexpr (N > 5) use(5, a5);
        if constexpr (N > 6) use(6, a6);
        if constexpr (N > 7) use(7, a7);
    }
};

}  // namespace
}  // namespace tropalign::TROPALIGN_ISA
