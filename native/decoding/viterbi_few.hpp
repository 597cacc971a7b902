// Values of a model with few states (viterbi.hpp): lanes are states, several sequences in alternation.
#pragma once
#include "viterbi_vectors.hpp"

namespace tropalign::TROPALIGN_ISA {
namespace {

/// Compute A of a step from the values before it. Chains of maxima are short if few vectors leave registers for
/// more of them: rows r, r + 1, ... have separate maxima.
template <int N>
[[gnu::always_inline]] inline Maxima<N> best_sums(const double *from, const double *values) {
    constexpr int32_t kStride = N * kLanes;
    Maxima<N> best;
    best.begin(values[0], from);
    if constexpr (N <= 4) {
        Maxima<N> second;
        second.begin(values[1], from + kStride);
        for (int32_t r = 2; r < kStride; r += 2) {
            best.take(values[r], from + r * kStride);
            second.take(values[r + 1], from + (r + 1) * kStride);
        }
        best.take(second);
    } else {
        for (int32_t r = 1; r < kStride; ++r) best.take(values[r], from + r * kStride);
    }
    return best;
}

/// Compute one step of a stream.
template <int N>
[[gnu::always_inline]] inline void step(const ViterbiModel &model, const Emissions &emissions, ForwardStream &stream) {
    constexpr int32_t kStride = N * kLanes;
    const double *emission = emissions.row(stream.next);
    Maxima<N> best;
    if (stream.next == 0) best.begin(0, model.start);
    else best = best_sums<N>(model.from, stream.values);
    best.each([&](int j, V a) {
        if (stream.kept) put(stream.kept + j * kLanes, a);
        put(stream.values + j * kLanes, a + at(emission + j * kLanes));
    });
    if (stream.kept) stream.kept += kStride;
    if (stream.next % kStepsPerShift == 0) shift(stream.values, kStride, stream);
    ++stream.next;
}

/// Process Q streams in alternation, until the shortest ends.
template <int N, int Q>
void take_turns(const ViterbiModel &model, ForwardStream *streams, double *scratch) {
    constexpr int32_t kStride = N * kLanes;
    int64_t n = streams[0].end - streams[0].next;
    ForwardStream own[Q];  // so that the compiler knows that they are not aliased
    for (int q = 0; q < Q; ++q) {
        n = std::min(n, streams[q].end - streams[q].next);
        own[q] = streams[q];
    }
    if constexpr (Q == 4) {
        const Emissions first(model, own[0].steps, scratch), second(model, own[1].steps, scratch + kStride),
            third(model, own[2].steps, scratch + 2 * kStride), fourth(model, own[3].steps, scratch + 3 * kStride);
        for (int64_t k = 0; k < n; ++k) {
            step<N>(model, first, own[0]);
            step<N>(model, second, own[1]);
            step<N>(model, third, own[2]);
            step<N>(model, fourth, own[3]);
        }
    } else if constexpr (Q == 2) {
        const Emissions first(model, own[0].steps, scratch), second(model, own[1].steps, scratch + kStride);
        for (int64_t k = 0; k < n; ++k) {
            step<N>(model, first, own[0]);
            step<N>(model, second, own[1]);
        }
    } else {
        const Emissions first(model, own[0].steps, scratch);
        for (int64_t k = 0; k < n; ++k) step<N>(model, first, own[0]);
    }
    std::copy(own, own + Q, streams);
}

/// Process all streams of a model whose states fill N vectors.
template <int N>
void forward_few(const ViterbiModel &model, ForwardStream *streams, int64_t n_streams, double *scratch) {
    constexpr int kTurns = N == 1 ? 4 : N <= 4 ? 2 : 1;
    static_assert(kTurns <= kMostStreams);
    int64_t s = 0;
    for (; s + kTurns <= n_streams; s += kTurns) take_turns<N, kTurns>(model, streams + s, scratch);
    for (s = 0; s < n_streams; ++s) take_turns<N, 1>(model, streams + s, scratch);
}

}  // namespace
}  // namespace tropalign::TROPALIGN_ISA
