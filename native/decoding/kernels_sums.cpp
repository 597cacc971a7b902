// Steps forward and backward through a hidden Markov model: products of a vector and a matrix, in doubles
// (recurrences in sums.hpp).
//
// Every few steps numbers are scaled by a power of two, from the highest number of the step before, so that
// finding it hardly delays the step:
//
//     x(t) --> product with the matrix --> times emission and scale --> x(t + 1)
//       \--> highest --> exponent -----------------------/
#include <algorithm>
#include <cmath>
#include <type_traits>

#include "sum_vectors.hpp"
#include "word_kernels.hpp"

namespace tropalign::TROPALIGN_ISA {
namespace {

/// Compute sums[j] = sum over i of x[i] * matrix[i, j]. `Padded` is the number of columns, or 0 if it is not a
/// constant.
template <int Padded>
[[gnu::always_inline]] inline void product(const SumSteps &steps, const double *x, double *sums) {
    if constexpr (Padded > 0) {
        static_assert(Padded <= 16);
        tile_sums<4>(x, steps.matrix, Padded, steps.n_states, sums);
        return;
    }
    const double *matrix = steps.matrix;
    for (int64_t j = 0; j < steps.padded; j += kTileColumns) {
        const int64_t width = steps.padded - j < kTileColumns ? steps.padded - j : kTileColumns;
        tile_sums<2>(x, matrix, width, steps.n_states, sums + j);
        matrix += width * steps.n_states;
    }
}

template <class Mask>
[[gnu::always_inline]] inline bool any_of(Mask mask) {
    int64_t all = 0;
    for (int l = 0; l < kLanes; ++l) all |= mask[l];
    return all != 0;
}

/// True in lanes with a product below kTiny although no factor is 0.
[[gnu::always_inline]] inline M is_lost(V product, V a, V b) {
    return (M)(product < every<V>(kTiny)) & (M)(a != V{}) & (M)(b != V{});
}

/// Local arrays of streams of few states, so that the compiler knows that they are not aliased: sums, and room for
/// the kernels.
constexpr int kMostOfFew = 16;
template <int Padded, int Streams>
struct Room {
    alignas(64) double few[Padded ? Streams : 1][Padded ? 3 * kMostOfFew : 1];
    double *x[Streams];

    Room(const SumStream *streams) {
        for (int q = 0; q < Streams; ++q) {
            x[q] = Padded ? few[q] : streams[q].x;
            if constexpr (Padded > 0) std::copy_n(streams[q].x, Padded, few[q]);
        }
    }
    void keep(SumStream *streams) const {
        if constexpr (Padded > 0)
            for (int q = 0; q < Streams; ++q) std::copy_n(few[q], Padded, streams[q].x);
    }
};

template <bool Checked, int Padded>
[[gnu::always_inline]] inline void forward_step(SumStream &stream, int64_t t, double *x, M &lost) {
    const SumSteps &steps = stream.steps;
    const int64_t padded = Padded ? Padded : steps.padded;
    double *sums = x + padded;
    Scaling scaling{0, 1};
    if ((steps.first + t) % kScaleEvery == 0) {
        scaling = scaling_of(x, padded);
        stream.exponent += scaling.power;
        if (Checked && scaling.power < kLowestPower) stream.is_good = false;
    }
    product<Padded>(steps, x, sums);
    const double *emission = steps.emissions + steps.index[t] * padded;
    for (int64_t j = 0; j < padded; j += kLanes) {
        const V factor = get(emission + j) * every<V>(scaling.scale), sum = get(sums + j), y = sum * factor;
        if constexpr (Checked) lost |= is_lost(y, sum, factor);
        put(x + j, y);
        if (stream.rows) put(stream.rows + t * padded + j, y);
    }
}

/// Compute the steps [begin, end) of several streams in alternation: each waits for its previous step.
template <bool Checked, int Padded, int Streams>
void forward_steps(SumStream *streams, int64_t begin, int64_t end) {
    Room<Padded, Streams> room(streams);
    SumStream own[Streams];
    M lost[Streams] = {};
    std::copy_n(streams, Streams, own);
    for (int64_t t = begin; t < end; ++t)
#pragma GCC unroll 4
        for (int q = 0; q < Streams; ++q) forward_step<Checked, Padded>(own[q], t, room.x[q], lost[q]);
    for (int q = 0; q < Streams; ++q) {
        streams[q].exponent = own[q].exponent;
        streams[q].is_good =
            own[q].is_good &&
            (!Checked || (!any_of(lost[q]) && scaling_of(room.x[q], own[q].steps.padded).power >= kLowestPower));
    }
    room.keep(streams);
}

/// Set posteriors = forward sums times backward sums, divided by their sum, which is returned; `weighted` gets the
/// forward sums divided by it.
template <int Padded>
[[gnu::always_inline]] inline double join(double *row, const double *beta, double *weighted, int64_t padded_states) {
    const int64_t padded = Padded ? Padded : padded_states;
    Eight total;
    for (int64_t j = 0; j < padded; j += kStateBlock)
        for (int k = 0; k < kParts; ++k) total.part[k] += get(row + j + k * kLanes) * get(beta + j + k * kLanes);
    const double sum = total.sum();
    const V share = every<V>(1 / sum);
    for (int64_t j = 0; j < padded; j += kLanes) {
        const V alpha = get(row + j) * share;
        if (weighted) put(weighted + j, alpha);
        put(row + j, alpha * get(beta + j));
    }
    return sum;
}

template <bool Checked, int Padded>
[[gnu::always_inline]] inline void backward_step(SumStream &stream, int64_t t, double *beta, M &lost) {
    const SumSteps &steps = stream.steps;
    const int64_t padded = Padded ? Padded : steps.padded;
    double *product_of = beta + padded, *leaving = beta + 2 * padded;
    if (stream.rows) {
        double *weighted = stream.weighted ? stream.weighted + t * padded : nullptr;
        stream.is_good &= join<Padded>(stream.rows + t * padded, beta, weighted, padded) > kTiny;
    }
    Scaling scaling{0, 1};
    if ((steps.first + t) % kScaleEvery == 0) scaling = scaling_of(beta, padded);
    const double *emission = steps.emissions + steps.index[t] * padded;
    for (int64_t j = 0; j < padded; j += kLanes) {
        const V factor = get(emission + j), from = get(beta + j) * every<V>(scaling.scale), b = from * factor;
        if constexpr (Checked) lost |= is_lost(b, from, factor);
        put(leaving + j, b);
        if (stream.arriving) put(stream.arriving + t * padded + j, b);
    }
    product<Padded>(steps, leaving, product_of);
    for (int64_t j = 0; j < padded; j += kLanes) {
        const V sum = get(product_of + j);
        if constexpr (Checked) lost |= is_lost(sum, sum, sum);
        put(beta + j, sum);
    }
}

/// Compute steps like forward_steps, from step end - 1 of each stream down to step begin.
template <bool Checked, int Padded, int Streams>
void backward_steps(SumStream *streams, int64_t begin, int64_t end) {
    Room<Padded, Streams> room(streams);
    SumStream own[Streams];
    M lost[Streams] = {};
    std::copy_n(streams, Streams, own);
    for (int64_t t = end - 1; t >= begin; --t)
#pragma GCC unroll 4
        for (int q = 0; q < Streams; ++q) backward_step<Checked, Padded>(own[q], t, room.x[q], lost[q]);
    for (int q = 0; q < Streams; ++q) streams[q].is_good = own[q].is_good && (!Checked || !any_of(lost[q]));
    room.keep(streams);
}

/// Call together(all streams, begin, end) for the steps that all streams have, and alone(one, begin, end) for the
/// others.
template <int Turns, class Together, class Alone>
void in_turns(SumStream *streams, int n_streams, bool is_back, Together together, Alone alone) {
    int64_t common = n_streams == Turns ? streams[0].steps.n_steps : 0;
    for (int q = 0; q < n_streams; ++q) common = std::min(common, streams[q].steps.n_steps);
    const auto rest = [&] {
        for (int q = 0; q < n_streams; ++q)
            if (common < streams[q].steps.n_steps || !common) alone(streams + q, common, streams[q].steps.n_steps);
    };
    if (is_back) rest();
    if (common) together(streams, int64_t{0}, common);
    if (!is_back) rest();
}

template <bool Checked, int Padded>
void forward_of(SumStream *streams, int n) {
    constexpr int kTurns = Padded ? kStreams : 1;
    in_turns<kTurns>(streams, n, false, forward_steps<Checked, Padded, kTurns>, forward_steps<Checked, Padded, 1>);
}
template <bool Checked, int Padded>
void backward_of(SumStream *streams, int n) {
    constexpr int kTurns = Padded ? kStreams : 1;
    in_turns<kTurns>(streams, n, true, backward_steps<Checked, Padded, kTurns>, backward_steps<Checked, Padded, 1>);
}

using Go = void (*)(SumStream *, int);

/// Call the function for the model of the streams.
void choose(SumStream *streams, int n, const Go (&checked)[3], const Go (&unchecked)[3]) {
    const int which = streams->steps.padded == 8 ? 0 : streams->steps.padded == 16 ? 1 : 2;
    (streams->steps.is_checked ? checked : unchecked)[which](streams, n);
}

void forward(SumStream *streams, int n) {
    static constexpr Go kChecked[] = {forward_of<true, 8>, forward_of<true, 16>, forward_of<true, 0>};
    static constexpr Go kUnchecked[] = {forward_of<false, 8>, forward_of<false, 16>, forward_of<false, 0>};
    choose(streams, n, kChecked, kUnchecked);
}

void backward(SumStream *streams, int n) {
    static constexpr Go kChecked[] = {backward_of<true, 8>, backward_of<true, 16>, backward_of<true, 0>};
    static constexpr Go kUnchecked[] = {backward_of<false, 8>, backward_of<false, 16>, backward_of<false, 0>};
    choose(streams, n, kChecked, kUnchecked);
}

/// Process the columns of a tile of `Blocks` times eight: sums[j] = sum over i of x[i] * matrix[i, j], and add
/// matrix[i, j] * leaving[j] to the eight numbers dots[i], whose sum is the result.
template <int Blocks>
[[gnu::always_inline]] inline void both_in_tile(const double *x, const double *leaving, const double *matrix,
                                                int64_t n_rows, bool is_first, double *sums, double *dots) {
    for (int part = 0; part < kParts; ++part) {
        const int64_t at = part * kLanes;
        V found[Blocks] = {}, b[Blocks];
#pragma GCC unroll 4
        for (int q = 0; q < Blocks; ++q) b[q] = get(leaving + q * kStateBlock + at);
        for (int64_t i = 0; i < n_rows; ++i) {
            const V factor = every<V>(x[i]);
            const double *row = matrix + i * Blocks * kStateBlock + at;
            V dot[Blocks];
#pragma GCC unroll 4
            for (int q = 0; q < Blocks; ++q) {
                const V a = get(row + q * kStateBlock);
                found[q] += factor * a;
                dot[q] = a * b[q];
            }
            V sum = dot[0];
            if constexpr (Blocks == 2) sum = dot[0] + dot[1];
            if constexpr (Blocks == 3) sum = (dot[0] + dot[1]) + dot[2];
            if constexpr (Blocks == 4) sum = (dot[0] + dot[1]) + (dot[2] + dot[3]);
            double *to = dots + i * kStateBlock + at;
            put(to, is_first ? sum : get(to) + sum);
        }
#pragma GCC unroll 4
        for (int q = 0; q < Blocks; ++q) put(sums + q * kStateBlock + at, found[q]);
    }
}

[[gnu::always_inline]] inline void both_products(const SumSteps &steps, const double *x, const double *leaving,
                                                 double *sums, double *dots) {
    const double *matrix = steps.matrix;
    for (int64_t j = 0; j < steps.padded; j += kTileColumns) {
        const int64_t width = steps.padded - j < kTileColumns ? steps.padded - j : kTileColumns;
        const auto tile = [&](auto blocks) __attribute__((always_inline)) {
            both_in_tile<blocks()>(x, leaving + j, matrix, steps.n_states, j == 0, sums + j, dots);
        };
        switch (width / kStateBlock) {
            case 4:
                tile(std::integral_constant<int, 4>{});
                break;
            case 3:
                tile(std::integral_constant<int, 3>{});
                break;
            case 2:
                tile(std::integral_constant<int, 2>{});
                break;
            default:
                tile(std::integral_constant<int, 1>{});
        }
        matrix += width * steps.n_states;
    }
}

/// Set to = from * emission * 2^-power.
[[gnu::always_inline]] inline void emit(const double *from, const double *emission, double scale, int64_t padded,
                                        double *to) {
    for (int64_t j = 0; j < padded; j += kLanes) put(to + j, get(from + j) * (get(emission + j) * every<V>(scale)));
}

void both(const SumSteps &ahead, double *x, int64_t &exponent, const SumSteps &back, double *beta,
          int64_t &back_exponent, double *room) {
    const int64_t padded = ahead.padded;
    double *sums = room, *leaving = room + padded, *dots = room + 2 * padded;
    for (int64_t t = 0, u = back.n_steps - 1; t < ahead.n_steps; ++t, --u) {
        const bool scales = (ahead.first + t) % kScaleEvery == 0, scales_back = (back.first + u) % kScaleEvery == 0;
        const Scaling scaling = scales ? scaling_of(x, padded) : Scaling{0, 1};
        const Scaling back_scaling = scales_back ? scaling_of(beta, padded) : Scaling{0, 1};
        exponent += scaling.power;
        back_exponent += back_scaling.power;
        emit(beta, back.emissions + back.index[u] * padded, back_scaling.scale, padded, leaving);
        both_products(ahead, x, leaving, sums, dots);
        emit(sums, ahead.emissions + ahead.index[t] * padded, scaling.scale, padded, x);
        for (int64_t i = 0; i < ahead.n_states; ++i) {
            const double *d = dots + i * kStateBlock;
            beta[i] = ((d[0] + d[4]) + (d[2] + d[6])) + ((d[1] + d[5]) + (d[3] + d[7]));
        }
    }
}

/// Update four rows of counts by `Vectors` vectors.
template <int Rows, int Vectors>
[[gnu::always_inline]] inline void outer_tile(const double *a, const double *b, int64_t n_rows, int64_t padded,
                                              double *counts) {
    V found[Rows][Vectors];
#pragma GCC unroll 4
    for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 2
        for (int v = 0; v < Vectors; ++v) found[r][v] = get(counts + r * padded + v * kLanes);
    for (int64_t t = 0; t < n_rows; ++t)
#pragma GCC unroll 4
        for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 2
            for (int v = 0; v < Vectors; ++v)
                found[r][v] += every<V>(a[t * padded + r]) * get(b + t * padded + v * kLanes);
#pragma GCC unroll 4
    for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 2
        for (int v = 0; v < Vectors; ++v) put(counts + r * padded + v * kLanes, found[r][v]);
}

void add_outer(const double *a, const double *b, int64_t n_rows, int32_t padded, double *counts) {
    constexpr int64_t kRowsAtOnce = 64;  // so that they stay in the first cache
    for (int64_t t = 0; t < n_rows; t += kRowsAtOnce) {
        const int64_t many = n_rows - t < kRowsAtOnce ? n_rows - t : kRowsAtOnce;
        for (int64_t j = 0; j < padded; j += kStateBlock)
            for (int64_t k = 0; k < kStateBlock; k += kLanes)
                for (int64_t i = 0; i < padded; i += 4)
                    outer_tile<4, 1>(a + t * padded + i, b + t * padded + j + k, many, padded,
                                     counts + i * padded + j + k);
    }
}

double sum_of(const double *rows, int64_t n_rows, const double *weights, int32_t padded) {
    Eight total;
    for (int64_t t = 0; t < n_rows; ++t)
        for (int64_t j = 0; j < padded; j += kStateBlock)
            for (int k = 0; k < kParts; ++k)
                total.part[k] += get(rows + t * padded + j + k * kLanes) * get(weights + j + k * kLanes);
    return total.sum();
}

/// Return exp of numbers from -708 to 0, and 0 for lower ones: 2^k exp(r) with |r| at most half of log 2, by its
/// series.
[[gnu::always_inline]] inline V exponential(V x) {
    const V rounder = every<V>(0x1.8p52);
    const V k = (x * every<V>(0x1.71547652b82fep0) + rounder) - rounder;
    const V r = (x - k * every<V>(0x1.62e42fefa0000p-1)) - k * every<V>(0x1.cf79abc9e3b3ap-40);
    V sum = every<V>(1.0 / 6227020800.0);
    constexpr double kFactors[] = {
        1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320, 1.0 / 5040, 1.0 / 720,
        1.0 / 120,       1.0 / 24,       1.0 / 6,       1.0 / 2,      1.0,         1.0};
    for (double factor : kFactors) sum = sum * r + every<V>(factor);
    // Put k + 1023 in the exponent; the lowest bits of k + rounder are k.
    const M power = ((M)(k + rounder) + 1023) << 52;
    const V made = sum * (V)power;
    return (V)((M)made & (M)(x > every<V>(-708.0)));
}

bool emission_rows(const double *logs, int64_t n_rows, int32_t n_states, int32_t padded, double *rows,
                   double *highest) {
    M is_far{};
    for (int64_t t = 0; t < n_rows; ++t) {
        const double *from = logs + t * n_states;
        double *row = rows + t * padded;
        double most = -INFINITY;
        for (int32_t s = 0; s < n_states; ++s) {
            most = from[s] > most ? from[s] : most;
            row[s] = from[s];
        }
        for (int32_t s = n_states; s < padded; ++s) row[s] = -INFINITY;
        highest[t] = most;
        const V shift = every<V>(most == -INFINITY ? 0 : most), none = every<V>(-INFINITY);
        for (int32_t s = 0; s < padded; s += kLanes) {
            const V x = get(row + s) - shift;
            is_far |= (M)(x < every<V>(-600.0)) & (M)(x > none);
            put(row + s, exponential(larger(x, every<V>(-1000.0))));
        }
    }
    return !any_of(is_far);
}

}  // namespace

#define TROPALIGN_STRING_(x) #x
#define TROPALIGN_STRING(x) TROPALIGN_STRING_(x)
extern const HmmSumKernels hmm_sum_kernels = {
    TROPALIGN_STRING(TROPALIGN_ISA), forward, backward, both, words, add_outer, sum_of, emission_rows};

}  // namespace tropalign::TROPALIGN_ISA
