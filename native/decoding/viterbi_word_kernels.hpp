// Words of symbols (viterbi_words.hpp): lanes are states, several sequences in alternation.
#pragma once
#include <bit>
#include <utility>

#include "viterbi_few.hpp"

namespace tropalign::TROPALIGN_ISA {
namespace {

/// Return the number of the word at `codes`.
template <int kLength>
[[gnu::always_inline]] inline int64_t word_at(const uint8_t *codes, int64_t n_symbols) {
    int64_t word = codes[0];
    if constexpr (kLength > 1) word = word * n_symbols + codes[1];
    if constexpr (kLength > 2) word = word * n_symbols + codes[2];
    if constexpr (kLength > 3) word = word * n_symbols + codes[3];
    return word;
}

/// A stream between two shifts. V of the previous word is in its kept row, if rows are kept; for few states also
/// in a register: a store followed by a load takes some ten cycles.
template <int N>
struct WordRun {
    const uint8_t *codes;
    const double *before;
    double *after;
    V values;
};

/// Compute A of a step whose values are one vector.
template <size_t... Rows>
[[gnu::always_inline]] inline V best_sums_of(const double *from, V values, std::index_sequence<Rows...>) {
    V even = all(kNever), odd = even;
    auto take = [&]<size_t row>() {
        const V sum = at(from + row * kLanes) + __builtin_shufflevector(values, values, ((void)Rows, row)...);
        if constexpr (row == 0) even = sum;
        else if constexpr (row == 1) odd = sum;
        else if constexpr (row % 2 == 0) even = larger(sum, even);
        else odd = larger(sum, odd);
    };
    (take.template operator()<Rows>(), ...);
    return larger(even, odd);
}

/// Process the next word of a run.
template <int N, int kLength>
[[gnu::always_inline]] inline void word_step(const double *from, int64_t n_symbols, WordRun<N> &run, int64_t row) {
    constexpr int64_t kSquare = int64_t{N} * N * kLanes * kLanes;
    const double *word = from + word_at<kLength>(run.codes, n_symbols) * kSquare;
    if constexpr (N == 1) {
        run.values = best_sums_of(word, run.values, std::make_index_sequence<kLanes>{});
        put(run.after, run.values);
    } else {
        best_sums<N>(word, run.before).each([&](int j, V v) { put(run.after + j * kLanes, v); });
    }
    run.codes += kLength;
    run.before = run.after;
    run.after += row;
}

/// Process Q streams in alternation, until the shortest has no whole word left; n_before words of each came
/// before.
template <int N, int kLength, int Q>
void words_in_turns(const WordModel &model, ForwardStream *streams, int64_t n_before) {
    constexpr int32_t kStride = N * kLanes;
    const double *from = model.words.from.data();
    const int64_t n_symbols = model.n_symbols, row = streams[0].kept ? kStride : 0;
    int64_t n = INT64_MAX;
    for (int q = 0; q < Q; ++q) n = std::min(n, (streams[q].end - streams[q].next) / kLength);
    double unkept[Q][kStride];
    for (int64_t k = 0; k < n;) {
        const int64_t n_run = std::min(n - k, kWordsPerShift - (n_before + k) % kWordsPerShift);
        WordRun<N> runs[Q];
        for (int q = 0; q < Q; ++q)
            runs[q] = {streams[q].steps.codes + streams[q].next, streams[q].values, row ? streams[q].kept : unkept[q],
                       at(streams[q].values)};
        for (int64_t i = 0; i < n_run; ++i)
#pragma GCC unroll 4
            for (int q = 0; q < Q; ++q) word_step<N, kLength>(from, n_symbols, runs[q], row);
        k += n_run;
        for (int q = 0; q < Q; ++q) {
            std::copy(runs[q].before, runs[q].before + kStride, streams[q].values);
            streams[q].next += n_run * kLength;
            streams[q].kept += n_run * row;
            if ((n_before + k) % kWordsPerShift == 0) shift(streams[q].values, kStride, streams[q]);
        }
    }
}

template <int N, int kLength>
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
        if (n == kTurns) words_in_turns<N, kLength, kTurns>(model, streams + s, 0);
        for (int64_t q = 0; q < n; ++q)
            words_in_turns<N, kLength, 1>(model, streams + s + q, (streams[s + q].next - begins[q]) / kLength);
    }
}

template <int kLength>
void forward_words_long(const WordModel &model, ForwardStream *streams, int64_t n_streams) {
    using Forward = void (*)(const WordModel &, ForwardStream *, int64_t);
    constexpr Forward kForward[] = {forward_words_of<1, kLength>, forward_words_of<2, kLength>,
                                    forward_words_of<3, kLength>, forward_words_of<4, kLength>,
                                    forward_words_of<5, kLength>, forward_words_of<6, kLength>,
                                    forward_words_of<7, kLength>, forward_words_of<8, kLength>};
    kForward[model.words.stride / kLanes - 1](model, streams, n_streams);
}

void forward_words(const WordModel &model, ForwardStream *streams, int64_t n_streams) {
    if (model.length == 2) return forward_words_long<2>(model, streams, n_streams);
    if (model.length == 3) return forward_words_long<3>(model, streams, n_streams);
    forward_words_long<4>(model, streams, n_streams);
}

/// Among the states of `found`, all with equally good paths into `state`, return the one with the lowest states
/// within the word.
[[gnu::noinline]] int64_t lowest_way(const uint16_t *inner, uint64_t found) {
    int64_t best = std::countr_zero(found);
    for (; found; found &= found - 1)
        if (inner[std::countr_zero(found)] < inner[best]) best = std::countr_zero(found);
    return best;
}

/// The best sums of four states' paths through an intermediate state, and the index of the lowest best intermediate
/// state.
struct BestBetween {
    V best0, best1, best2, best3, state0, state1, state2, state3;

    [[gnu::always_inline]] BestBetween() {
        best0 = best1 = best2 = best3 = all(kNever);
        state0 = state1 = state2 = state3 = all(0);
    }
    /// `way`: from the four states to state t, `stride` apart; `row`: from t on.
    [[gnu::always_inline]] void take(const double *way, int32_t stride, V row, V t) {
        take_one(best0, state0, all(way[0]) + row, t);
        take_one(best1, state1, all(way[stride]) + row, t);
        take_one(best2, state2, all(way[2 * stride]) + row, t);
        take_one(best3, state3, all(way[3 * stride]) + row, t);
    }

  private:
    [[gnu::always_inline]] static void take_one(V &best, V &state, V sum, V t) {
        const auto is_better = sum > best;
        best = is_better ? sum : best;
        state = is_better ? t : state;
    }
};

/// Combine one word and one symbol. The states within the longer word are those within `word`, and the last state of
/// `word`. Ties go to the lowest last state; the states within `word` are already the lowest for a given last state.
template <int N>
void lengthen_word(const double *word, const uint16_t *within, int bits, const double *symbol, double *from,
                   double *into, uint16_t *inner) {
    constexpr int32_t kStride = N * kLanes;
    for (int32_t r = 0; r < kStride; r += 4) {
        for (int32_t s = 0; s < kStride; s += kLanes) {
            BestBetween ways;
            V number = all(0);
            for (int32_t t = 0; t < kStride; ++t, number = number + all(1))
                ways.take(word + r * kStride + t, kStride, at(symbol + t * kStride + s), number);
            double best[4][kLanes], states[4][kLanes];
            put(best[0], ways.best0), put(best[1], ways.best1), put(best[2], ways.best2), put(best[3], ways.best3);
            put(states[0], ways.state0), put(states[1], ways.state1);
            put(states[2], ways.state2), put(states[3], ways.state3);
            for (int32_t q = 0; q < 4; ++q) {
                put(from + (r + q) * kStride + s, at(best[q]));
                for (int32_t lane = 0; lane < kLanes; ++lane) {
                    const auto between = static_cast<int32_t>(states[q][lane]);
                    const int32_t to = (s + lane) * kStride + r + q;
                    into[to] = best[q][lane];
                    inner[to] = static_cast<uint16_t>(between << bits | within[between * kStride + r + q]);
                }
            }
        }
    }
}

template <int N>
void lengthen_words_of(const Words &words, int bits, const Words &symbols, Words &longer) {
    constexpr int64_t kSquare = int64_t{N} * N * kLanes * kLanes;
    for (int64_t word = 0; word < words.n_words; ++word) {
        for (int64_t x = 0; x < symbols.n_words; ++x) {
            const int64_t a = word * kSquare, to = (word * symbols.n_words + x) * kSquare;
            lengthen_word<N>(words.from.data() + a, words.inner.data() + a, bits, symbols.from.data() + x * kSquare,
                             longer.from.data() + to, longer.into.data() + to, longer.inner.data() + to);
        }
    }
}

void lengthen_words(const Words &words, int bits, const Words &symbols, Words &longer) {
    using Lengthen = void (*)(const Words &, int, const Words &, Words &);
    constexpr Lengthen kLengthen[] = {lengthen_words_of<1>, lengthen_words_of<2>, lengthen_words_of<3>,
                                      lengthen_words_of<4>, lengthen_words_of<5>, lengthen_words_of<6>,
                                      lengthen_words_of<7>, lengthen_words_of<8>};
    kLengthen[words.stride / kLanes - 1](words, bits, symbols, longer);
}

/// Traceback of a stream: where its last word ends.
struct WordsBack {
    const uint8_t *codes;
    const double *after;  ///< V after it
    uint8_t *path;        ///< the state at its end
    int64_t n_words, state;
};

/// Trace back through the i-th word from the end, starting from the state at the word's end.
template <int32_t kStride, int kLength>
[[gnu::always_inline]] inline void word_back(const Words &words, int64_t n_symbols, WordsBack &way, int64_t i) {
    const int32_t stride = kStride ? kStride : words.stride;
    const double *after = way.after - i * stride, *before = after - stride;
    const int64_t word = word_at<kLength>(way.codes - i * kLength - (kLength - 1), n_symbols);
    const int64_t row = (word * stride + way.state) * stride, n_before = way.n_words - i - 1;
    const double *into = words.into.data() + row;
    V sum = all(after[way.state]);
    if (n_before % kWordsPerShift == 0 && n_before) sum = sum + highest_of(before, stride);  // the amount of the shift
    uint64_t found = 0;
    for (int32_t s = 0; s < stride; s += kLanes)
        found |= uint64_t{lanes_at_least(at(before + s) + at(into + s), sum)} << s;
    const uint16_t *inner = words.inner.data() + row;
    way.state = std::countr_zero(found | 1ull << 63);
    if (found & (found - 1)) [[unlikely]]
        way.state = lowest_way(inner, found);
    uint8_t *path = way.path - i * kLength;
    const uint32_t states = inner[way.state];
    constexpr uint32_t kMask = (1 << kInnerBits) - 1;
    path[-1] = static_cast<uint8_t>(states >> (kLength - 2) * kInnerBits);
    if constexpr (kLength > 3) path[-2] = static_cast<uint8_t>(states >> kInnerBits & kMask);
    if constexpr (kLength > 2) path[1 - kLength] = static_cast<uint8_t>(states & kMask);
    path[-kLength] = static_cast<uint8_t>(way.state);
}

template <int32_t kStride, int kLength, int Q>
void words_back_in_turns(const WordModel &model, TraceStream<uint8_t> *streams) {
    WordsBack ways[Q];
    int64_t n = INT64_MAX;
    const int64_t stride = model.words.stride, n_symbols = model.n_symbols;
    for (int q = 0; q < Q; ++q) {
        const int64_t last = streams[q].end - 1, n_words = (last - streams[q].first) / kLength;
        uint8_t *path = streams[q].path + (last - streams[q].first);
        ways[q] = {streams[q].steps.codes + last, streams[q].kept + n_words * stride, path, n_words, *path};
        n = std::min(n, n_words);
    }
    for (int64_t i = 0; i < n; ++i)
#pragma GCC unroll 4
        for (int q = 0; q < Q; ++q) word_back<kStride, kLength>(model.words, n_symbols, ways[q], i);
    for (int q = 0; q < Q; ++q) streams[q].end -= n * kLength;
}

template <int32_t kStride, int kLength>
void trace_words_of(const WordModel &model, TraceStream<uint8_t> *streams, int64_t n_streams) {
    int64_t s = 0;
    for (; s + 4 <= n_streams; s += 4) words_back_in_turns<kStride, kLength, 4>(model, streams + s);
    for (s = 0; s < n_streams; ++s) words_back_in_turns<kStride, kLength, 1>(model, streams + s);
}

template <int kLength>
void trace_words_long(const WordModel &model, TraceStream<uint8_t> *streams, int64_t n_streams) {
    switch (model.words.stride) {
        case 8:
            return trace_words_of<8, kLength>(model, streams, n_streams);
        case 16:
            return trace_words_of<16, kLength>(model, streams, n_streams);
        case 32:
            return trace_words_of<32, kLength>(model, streams, n_streams);
        case 64:
            return trace_words_of<64, kLength>(model, streams, n_streams);
        default:
            return trace_words_of<0, kLength>(model, streams, n_streams);
    }
}

void trace_words(const WordModel &model, TraceStream<uint8_t> *streams, int64_t n_streams) {
    if (model.length == 2) return trace_words_long<2>(model, streams, n_streams);
    if (model.length == 3) return trace_words_long<3>(model, streams, n_streams);
    trace_words_long<4>(model, streams, n_streams);
}

}  // namespace
}  // namespace tropalign::TROPALIGN_ISA
