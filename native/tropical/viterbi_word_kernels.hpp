// Words of symbols (viterbi_words.hpp): lanes are states, several sequences in turns.
#pragma once
#include <bit>

#include "viterbi_few.hpp"

namespace tropalign::TROPALIGN_ISA {
namespace {

/// The next word of a stream.
template <int N>
[[gnu::always_inline]] inline void word_step(const WordModel &model, ForwardStream &stream, int64_t n_before) {
    constexpr int32_t kStride = N * kLanes;
    const double *from =
        model.words.from.data() + model.word_at(stream.steps.codes + stream.next) * (kStride * kStride);
    best_sums<N>(from, stream.values).each([&](int j, V v) {
        if (stream.kept) put(stream.kept + j * kLanes, v);
        put(stream.values + j * kLanes, v);
    });
    if (stream.kept) stream.kept += kStride;
    stream.next += model.length;
    if ((n_before + 1) % kWordsPerShift == 0) shift(stream.values, kStride, stream);
}

template <int N, int Q>
void words_in_turns(const WordModel &model, ForwardStream *streams, const int64_t *begins) {
    ForwardStream own[Q];  // so that the compiler knows that nothing else points to them
    int64_t n = INT64_MAX, n_before[Q];
    for (int q = 0; q < Q; ++q) {
        own[q] = streams[q];
        n = std::min(n, (own[q].end - own[q].next) / model.length);
        n_before[q] = (own[q].next - begins[q]) / model.length;
    }
    for (int64_t k = 0; k < n; ++k)
#pragma GCC unroll 4
        for (int q = 0; q < Q; ++q) word_step<N>(model, own[q], n_before[q] + k);
    std::copy(own, own + Q, streams);
}

template <int N>
void forward_words_of(const WordModel &model, ForwardStream *streams, int64_t n_streams) {
    constexpr int kTurns = N == 1 ? 4 : N <= 4 ? 2 : 1;
    constexpr int32_t kStride = N * kLanes;
    for (int64_t s = 0; s < n_streams; s += kTurns) {
        const int64_t n = std::min<int64_t>(kTurns, n_streams - s);
        int64_t begins[kTurns];
        for (int64_t q = 0; q < n; ++q) {
            ForwardStream &stream = streams[s + q];
            begins[q] = stream.next;
            if (!stream.kept || stream.next == stream.end) continue;
            std::copy(stream.values, stream.values + kStride, stream.kept);
            stream.kept += kStride;
        }
        if (n == kTurns) words_in_turns<N, kTurns>(model, streams + s, begins);
        for (int64_t q = 0; q < n; ++q) words_in_turns<N, 1>(model, streams + s + q, begins + q);
    }
}

void forward_words(const WordModel &model, ForwardStream *streams, int64_t n_streams) {
    using Forward = void (*)(const WordModel &, ForwardStream *, int64_t);
    constexpr Forward kForward[] = {forward_words_of<1>, forward_words_of<2>, forward_words_of<3>, forward_words_of<4>,
                                    forward_words_of<5>, forward_words_of<6>, forward_words_of<7>, forward_words_of<8>};
    kForward[model.words.stride / kLanes - 1](model, streams, n_streams);
}

/// Of the states in `found`, from which equally good paths lead into `state`, that with the lowest states within the
/// word.
[[gnu::noinline]] int64_t lowest_way(const uint16_t *inner, uint64_t found) {
    int64_t best = std::countr_zero(found);
    for (; found; found &= found - 1)
        if (inner[std::countr_zero(found)] < inner[best]) best = std::countr_zero(found);
    return best;
}

/// All products of two words of `halves`. The states within a product are those within its second half, the one between
/// the halves, and those within the first: `bits` for each half's.
template <int N>
void multiply_words_of(const Words &halves, int32_t n_states, int bits, Words &products) {
    constexpr int64_t kStride = N * kLanes, kSquare = kStride * kStride;
    const int64_t n = halves.n_words;
    for (int64_t word = 0; word < n * n; ++word) {
        const int64_t a = word / n * kSquare, b = word % n * kSquare;
        double *from = products.from.data() + word * kSquare, *into = products.into.data() + word * kSquare;
        uint16_t *inner = products.inner.data() + word * kSquare;
        std::fill(inner, inner + kSquare, uint16_t{0});
        for (int64_t r = 0; r < kStride; ++r) {
            const double *first = halves.from.data() + a + r * kStride;
            const Maxima<N> best = best_sums<N>(halves.from.data() + b, first);
            best.each([&](int j, V v) { put(from + r * kStride + j * kLanes, v); });
            for (int64_t s = 0; s < kStride; ++s) {
                const double sum = from[r * kStride + s], *second = halves.into.data() + b + s * kStride;
                into[s * kStride + r] = sum;
                if (sum == kNever || s >= n_states) continue;
                uint64_t found = 0;
                for (int32_t t = 0; t < kStride; t += kLanes)
                    found |= uint64_t{lanes_at_least(at(first + t) + at(second + t), all(sum))} << t;
                const uint16_t *after = halves.inner.data() + b + s * kStride;
                const int64_t between = (found & (found - 1)) ? lowest_way(after, found) : std::countr_zero(found);
                const uint32_t before = halves.inner.data()[a + between * kStride + r];
                const uint32_t states = uint32_t{after[between]} << 2 * bits | static_cast<uint32_t>(between) << bits;
                inner[s * kStride + r] = static_cast<uint16_t>(states | before);
            }
        }
    }
}

void multiply_words(const Words &halves, int32_t n_states, int bits, Words &products) {
    using Multiply = void (*)(const Words &, int32_t, int, Words &);
    constexpr Multiply kMultiply[] = {multiply_words_of<1>, multiply_words_of<2>, multiply_words_of<3>,
                                      multiply_words_of<4>, multiply_words_of<5>, multiply_words_of<6>,
                                      multiply_words_of<7>, multiply_words_of<8>};
    kMultiply[halves.stride / kLanes - 1](halves, n_states, bits, products);
}

/// One word back from the state of step k, the end of word number n (from 1 on); returns the state before it.
template <int32_t kStride>
[[gnu::always_inline]] inline int64_t word_back(const WordModel &model, const TraceStream<uint8_t> &stream, int64_t k,
                                                int64_t n, int64_t state) {
    const int32_t stride = kStride ? kStride : model.words.stride;
    const double *after = stream.kept + n * stride, *before = after - stride;
    const int64_t row = (model.word_at(stream.steps.codes + k - model.length + 1) * stride + state) * stride;
    const double *into = model.words.into.data() + row;
    V sum = all(after[state]);
    if (n > 1 && (n - 1) % kWordsPerShift == 0) sum = sum + highest_of(before, stride);  // what the shift took off
    uint64_t found = 0;
    for (int32_t s = 0; s < stride; s += kLanes)
        found |= uint64_t{lanes_at_least(at(before + s) + at(into + s), sum)} << s;
    const uint16_t *inner = model.words.inner.data() + row;
    const int64_t best = (found & (found - 1)) ? lowest_way(inner, found) : std::countr_zero(found | 1ull << 63);
    uint8_t *path = stream.path + (k - stream.first);
    if (model.length == 2) {
        path[-1] = static_cast<uint8_t>(inner[best]);
    } else {
        constexpr uint32_t kMask = (1 << kInnerBits) - 1;
        const uint32_t states = inner[best];
        path[-1] = static_cast<uint8_t>(states >> 2 * kInnerBits);
        path[-2] = static_cast<uint8_t>(states >> kInnerBits & kMask);
        path[-3] = static_cast<uint8_t>(states & kMask);
    }
    path[-model.length] = static_cast<uint8_t>(best);
    return best;
}

template <int32_t kStride, int Q>
void words_back_in_turns(const WordModel &model, TraceStream<uint8_t> *streams) {
    int64_t n = INT64_MAX, left[Q], states[Q];
    TraceStream<uint8_t> own[Q];
    for (int q = 0; q < Q; ++q) {
        own[q] = streams[q];
        left[q] = (own[q].end - 1 - own[q].first) / model.length;
        n = std::min(n, left[q]);
        states[q] = own[q].path[own[q].end - 1 - own[q].first];
    }
    for (int64_t i = 0; i < n; ++i)
#pragma GCC unroll 4
        for (int q = 0; q < Q; ++q)
            states[q] = word_back<kStride>(model, own[q], own[q].end - 1 - i * model.length, left[q] - i, states[q]);
    for (int q = 0; q < Q; ++q) streams[q].end -= n * model.length;
}

template <int32_t kStride>
void trace_words_of(const WordModel &model, TraceStream<uint8_t> *streams, int64_t n_streams) {
    int64_t s = 0;
    for (; s + 4 <= n_streams; s += 4) words_back_in_turns<kStride, 4>(model, streams + s);
    for (s = 0; s < n_streams; ++s) words_back_in_turns<kStride, 1>(model, streams + s);
}

void trace_words(const WordModel &model, TraceStream<uint8_t> *streams, int64_t n_streams) {
    switch (model.words.stride) {
        case 8:
            return trace_words_of<8>(model, streams, n_streams);
        case 16:
            return trace_words_of<16>(model, streams, n_streams);
        case 24:
            return trace_words_of<24>(model, streams, n_streams);
        case 32:
            return trace_words_of<32>(model, streams, n_streams);
        case 64:
            return trace_words_of<64>(model, streams, n_streams);
        default:
            return trace_words_of<0>(model, streams, n_streams);
    }
}

}  // namespace
}  // namespace tropalign::TROPALIGN_ISA
