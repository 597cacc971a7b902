// The traceback (viterbi.hpp): lanes are states.
#pragma once
#include <bit>

#include "viterbi_vectors.hpp"

namespace tropalign::TROPALIGN_ISA {
namespace {

/// Return the predecessor of state `state` at step k: the lowest state r with V[r] + transition[r, state] =
/// A[state], with the V of the forward pass. kStride is 0 unless it is one of the common values.
template <int32_t kStride, class State>
[[gnu::always_inline]] inline int64_t state_before(const ViterbiModel &model, const Emissions &emissions,
                                                   const TraceStream<State> &stream, int64_t k, int64_t state,
                                                   double *shifted) {
    const int32_t stride = kStride ? kStride : model.stride;
    const double *sums = stream.kept + (k - stream.first) * stride, *before = sums - stride;
    const double *emission = emissions.row(k - 1), *into = model.into + state * stride;
    const V sum = all(sums[state]);
    const bool is_shifted = (k - 1) % kStepsPerShift == 0;
    if (is_shifted) {
        for (int32_t s = 0; s < stride; s += kLanes) put(shifted + s, at(before + s) + at(emission + s));
        ForwardStream unused{};
        shift(shifted, stride, unused);
    }
    for (int32_t part = 0; part < stride; part += 64) {
        const int32_t part_end = std::min(part + 64, stride);
        uint64_t found = 0;
        for (int32_t s = part; s < part_end; s += kLanes) {
            const V value = is_shifted ? at(shifted + s) : at(before + s) + at(emission + s);
            found |= uint64_t{lanes_at_least(value + at(into + s), sum)} << (s - part);
        }
        if (found) return part + std::countr_zero(found);
    }
    return 0;
}

/// Trace Q streams in alternation, until the shortest is complete; `end` is the progress of each.
template <int32_t kStride, int Q, class State>
void trace_in_turns(const ViterbiModel &model, TraceStream<State> *streams, double *scratch) {
    int64_t n = streams[0].end - streams[0].first, states[Q];
    for (int q = 0; q < Q; ++q) {
        n = std::min(n, streams[q].end - streams[q].first);
        states[q] = streams[q].path[streams[q].end - 1 - streams[q].first];
    }
    double *shifted = scratch + Q * model.stride;
    auto one = [&](const Emissions &emissions, int q, int64_t i) {
        TraceStream<State> &stream = streams[q];
        const int64_t k = stream.end - i;  // step of the known state
        states[q] = state_before<kStride>(model, emissions, stream, k, states[q], shifted);
        stream.path[k - 1 - stream.first] = static_cast<State>(states[q]);
    };
    if constexpr (Q == 4) {
        const Emissions first(model, streams[0].steps, scratch),
            second(model, streams[1].steps, scratch + model.stride),
            third(model, streams[2].steps, scratch + 2 * model.stride),
            fourth(model, streams[3].steps, scratch + 3 * model.stride);
        for (int64_t i = 1; i < n; ++i) one(first, 0, i), one(second, 1, i), one(third, 2, i), one(fourth, 3, i);
    } else {
        const Emissions first(model, streams[0].steps, scratch);
        for (int64_t i = 1; i < n; ++i) one(first, 0, i);
    }
    for (int q = 0; q < Q; ++q) streams[q].end -= std::max<int64_t>(n - 1, 0);
}

template <int32_t kStride, class State>
void trace_streams(const ViterbiModel &model, TraceStream<State> *streams, int64_t n_streams, double *scratch) {
    int64_t s = 0;
    if (model.stride <= 32)
        for (; s + 4 <= n_streams; s += 4) trace_in_turns<kStride, 4>(model, streams + s, scratch);
    for (s = 0; s < n_streams; ++s) trace_in_turns<kStride, 1>(model, streams + s, scratch);
}

template <class State>
void trace(const ViterbiModel &model, TraceStream<State> *streams, int64_t n_streams, double *scratch) {
    switch (model.stride) {
        case 8:
            return trace_streams<8>(model, streams, n_streams, scratch);
        case 16:
            return trace_streams<16>(model, streams, n_streams, scratch);
        case 24:
            return trace_streams<24>(model, streams, n_streams, scratch);
        case 32:
            return trace_streams<32>(model, streams, n_streams, scratch);
        case 64:
            return trace_streams<64>(model, streams, n_streams, scratch);
        default:
            return trace_streams<0>(model, streams, n_streams, scratch);
    }
}

}  // namespace
}  // namespace tropalign::TROPALIGN_ISA
