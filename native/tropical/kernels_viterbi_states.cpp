// Best paths (viterbi.hpp), lanes are states: compiled per instruction set.
//
// A step forms A[s] for 64 states s at once, in up to eight vectors that stay in registers: each state r before adds
// its value to its row of transitions. For many states most rows cannot matter. With the highest transition h[r] from r
// into the block, A[s] of no s in the block is raised by r where
//
//     V[r] + h[r] <= the lowest A[s] so far                 (sums of doubles are monotone: this holds after rounding)
//
// so the rows with the highest V[r] + h[r] come first, and then those which the bound does not exclude: of 256 states
// with random transitions a fifth. How many come first is guessed from the step before; the result is the same.
#include <algorithm>
#include <bit>
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
/// From this many states on rows are chosen by the bound.
constexpr int32_t kBoundedFrom = 40;

[[gnu::always_inline]] inline V at(const double *p) { return load<double, kVectorBytes>(p); }
[[gnu::always_inline]] inline void put(double *p, V v) { store<double, kVectorBytes>(p, v); }

/// rounded_log of viterbi_model.hpp.
[[gnu::always_inline]] inline V rounded(V x) {
    const V near = (x + kRounder) - kRounder;
    return (x < kMostRounded) & (x > -kMostRounded) ? near : x;
}

/// What the states say of step k, padded to whole vectors.
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

[[gnu::always_inline]] inline double highest_of_lanes(V v) {
    double highest = v[0];
    for (int l = 1; l < kLanes; ++l) highest = std::max(highest, v[l]);
    return highest;
}

[[gnu::always_inline]] inline double highest_of(const double *values, int32_t stride) {
    V best = at(values);
    for (int32_t s = kLanes; s < stride; s += kLanes) best = larger(best, at(values + s));
    return highest_of_lanes(best);
}

/// Shifts the values of a step to a highest one of 0. False where one is lower than kLowestExact then, but not -inf.
bool shift(double *values, int32_t stride) {
    const double highest = highest_of(values, stride);
    if (highest == kNever) return true;
    V wide{};
    for (int32_t s = 0; s < stride; s += kLanes) {
        const V value = at(values + s) - highest;
        put(values + s, value);
        wide = (value < kLowestExact) & (value > kNever) ? every<V>(1) : wide;
    }
    return highest_of_lanes(wide) == 0;
}

/// Eight vectors of maxima by name: arrays of them would be spilled.
template <int N>
struct Maxima {
    V a0, a1, a2, a3, a4, a5, a6, a7;

    [[gnu::always_inline]] Maxima() { a0 = a1 = a2 = a3 = a4 = a5 = a6 = a7 = every<V>(kNever); }

    /// The sums of a state's value with its row of transitions.
    [[gnu::always_inline]] void take(double value, const double *row) {
        const V v = every<V>(value);
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

/// Steps of a model whose states fill N vectors. A step waits for the one before, so that chains of maxima are short:
/// few vectors are kept four times over, for rows r, r + 1, ...
template <int N>
bool forward_few(const ViterbiModel &model, const ViterbiSteps &steps, int64_t first, int64_t end, double *values,
                 double *kept, double *scratch) {
    constexpr int32_t kStride = N * kLanes;
    const Emissions emissions(model, steps, scratch);
    const double *from = model.from;
    bool is_exact = true;
    for (int64_t k = first; k < end; ++k) {
        const double *emission = emissions.row(k);
        Maxima<N> best;
        if (k == 0) {
            best.take(0, model.start);
        } else if constexpr (N <= 2) {
            Maxima<N> second, third, fourth;
            for (int32_t r = 0; r < kStride; r += 4) {
                best.take(values[r], from + r * kStride);
                second.take(values[r + 1], from + (r + 1) * kStride);
                third.take(values[r + 2], from + (r + 2) * kStride);
                fourth.take(values[r + 3], from + (r + 3) * kStride);
            }
            best.take(second), third.take(fourth);
            best.take(third);
        } else if constexpr (N <= 4) {
            Maxima<N> second;
            for (int32_t r = 0; r < kStride; r += 2) {
                best.take(values[r], from + r * kStride);
                second.take(values[r + 1], from + (r + 1) * kStride);
            }
            best.take(second);
        } else {
            for (int32_t r = 0; r < kStride; ++r) best.take(values[r], from + r * kStride);
        }
        best.each([&](int j, V a) {
            if (kept) put(kept + j * kLanes, a);
            put(values + j * kLanes, a + at(emission + j * kLanes));
        });
        if (kept) kept += kStride;
        if (k % kStepsPerShift == 0) is_exact &= shift(values, kStride);
    }
    return is_exact;
}

/// The rows of [0, stride) that may raise a block's A, chosen by their keys V[r] + h[r].
class Rows {
  public:
    /// Those with keys of at least `bound`; `keys` are formed on the way.
    [[gnu::always_inline]] int32_t first(const double *values, const double *highest, int32_t stride, double bound,
                                         double *keys, uint32_t *rows) {
        const V least = every<V>(bound);
        int32_t n = 0;
        for (int32_t r = 0; r < stride; r += kLanes) {
            const V key = at(values + r) + at(highest + r);
            put(keys + r, key);
            n = append(lanes_at_least(key, least), r, n, rows);
        }
        return n;
    }
    /// Those with keys above `low` and below `bound`.
    [[gnu::always_inline]] int32_t further(const double *keys, int32_t stride, double low, double bound,
                                           uint32_t *rows) {
        const V least = every<V>(bound), most = every<V>(low);
        int32_t n = 0;
        for (int32_t r = 0; r < stride; r += kLanes) {
            const V key = at(keys + r);
            n = append(~(lanes_at_least(key, least) | lanes_at_least(most, key)) & kAllLanes, r, n, rows);
        }
        return n;
    }

  private:
    static constexpr uint32_t kAllLanes = (1u << kLanes) - 1;

    [[gnu::always_inline]] static int32_t append(uint32_t lanes, int32_t r, int32_t n, uint32_t *rows) {
#if defined(__AVX512F__)
        const __m256i numbers = _mm256_add_epi32(_mm256_set1_epi32(r), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
        _mm256_storeu_si256((__m256i *)(rows + n), _mm256_maskz_compress_epi32(static_cast<__mmask8>(lanes), numbers));
        return n + std::popcount(lanes);
#else
        for (; lanes; lanes &= lanes - 1) rows[n++] = static_cast<uint32_t>(r + std::countr_zero(lanes));
        return n;
#endif
    }
};

/// A of a part of a block, N vectors wide, from the chosen rows.
template <int N>
[[gnu::noinline]] void raise(const double *from, int32_t width, const double *values, const uint32_t *rows, int32_t n,
                             double *sums) {
    Maxima<N> best;
    for (int32_t k = 0; k < n; ++k) best.take(values[rows[k]], from + int64_t{rows[k]} * width);
    best.each([&](int j, V a) { put(sums + j * kLanes, larger(at(sums + j * kLanes), a)); });
}

using Raise = void (*)(const double *, int32_t, const double *, const uint32_t *, int32_t, double *);
constexpr Raise kRaise[] = {raise<1>, raise<2>, raise<3>, raise<4>, raise<5>, raise<6>, raise<7>, raise<8>};

void raise_block(const double *from, int32_t width, const double *values, const uint32_t *rows, int32_t n,
                 double *sums) {
    constexpr int32_t kMost = kMostVectors * kLanes;
    for (int32_t s = 0; s < width; s += kMost)
        kRaise[std::min(kMost, width - s) / kLanes - 1](from + s, width, values, rows, n, sums + s);
}

double lowest_of(const double *sums, int32_t n) {
    V low = every<V>(-kNever);
    int32_t s = 0;
    for (; s + kLanes <= n; s += kLanes) low = -larger(-low, -at(sums + s));
    double lowest = low[0];
    for (int l = 1; l < kLanes; ++l) lowest = std::min(lowest, low[l]);
    for (; s < n; ++s) lowest = std::min(lowest, sums[s]);
    return lowest;
}

/// Steps of a model with many states. scratch: emissions, keys.
bool forward_many(const ViterbiModel &model, const ViterbiSteps &steps, int64_t first, int64_t end, double *values,
                  double *kept, double *scratch) {
    const int32_t stride = model.stride;
    const Emissions emissions(model, steps, scratch);
    double *keys = scratch + stride, *sums = scratch + 2 * stride, *guesses = scratch + 3 * stride;
    auto *rows = reinterpret_cast<uint32_t *>(scratch + 4 * stride);
    std::fill(guesses, guesses + model.n_blocks(), 2.0);
    Rows choice;
    double highest = first ? highest_of(values, stride) : 0;
    bool is_exact = true;
    for (int64_t k = first; k < end; ++k) {
        if (k == 0) {
            std::copy(model.start, model.start + stride, sums);
        } else {
            std::fill(sums, sums + stride, kNever);
            for (int32_t b = 0; b < model.n_blocks(); ++b) {
                const int32_t s = b * kStateBlock, width = std::min(kStateBlock, stride - s);
                const double *from = model.from + int64_t{s} * stride;
                const double bound = highest - guesses[b];
                int32_t n = choice.first(values, model.highest + int64_t{b} * stride, stride, bound, keys, rows);
                raise_block(from, width, values, rows, n, sums + s);
                const int32_t n_states = std::min(width, model.n_states - s);  // without those of the padding
                double low = lowest_of(sums + s, n_states);
                n = choice.further(keys, stride, low, bound, rows);
                if (n) {
                    raise_block(from, width, values, rows, n, sums + s);
                    low = lowest_of(sums + s, n_states);
                }
                guesses[b] = highest - low;
            }
        }
        const double *emission = emissions.row(k);
        for (int32_t s = 0; s < stride; s += kLanes) {
            const V a = at(sums + s);
            if (kept) put(kept + s, a);
            put(values + s, a + at(emission + s));
        }
        if (kept) kept += stride;
        if (k % kStepsPerShift == 0) is_exact &= shift(values, stride);
        highest = highest_of(values, stride);
    }
    return is_exact;
}

bool forward(const ViterbiModel &model, const ViterbiSteps &steps, int64_t first, int64_t end, double *values,
             double *kept, double *scratch) {
    using Forward =
        bool (*)(const ViterbiModel &, const ViterbiSteps &, int64_t, int64_t, double *, double *, double *);
    constexpr Forward kForward[] = {forward_few<1>, forward_few<2>, forward_few<3>, forward_few<4>,
                                    forward_few<5>, forward_few<6>, forward_few<7>, forward_few<8>};
    const int32_t n_vectors = model.stride / kLanes;
    const bool are_few = n_vectors <= kMostVectors && model.stride < kBoundedFrom;
    return (are_few ? kForward[n_vectors - 1] : forward_many)(model, steps, first, end, values, kept, scratch);
}

/// The lowest state r with V[r] + transition[r, s] = A[s], V as forward had it.
template <class State>
void trace(const ViterbiModel &model, const ViterbiSteps &steps, int64_t first, int64_t end, const double *kept,
           State *path, double *scratch) {
    const int32_t stride = model.stride;
    const Emissions emissions(model, steps, scratch);
    double *values = scratch + stride;
    int64_t state = path[end - 1];
    for (int64_t k = end - 1; k > first; --k) {
        const double *above = kept + (k - 1 - first) * stride, *emission = emissions.row(k - 1);
        const double *into = model.into + state * stride;
        const V sum = every<V>(kept[(k - first) * stride + state]);
        const bool is_shifted = (k - 1) % kStepsPerShift == 0;
        if (is_shifted) {
            for (int32_t s = 0; s < stride; s += kLanes) put(values + s, at(above + s) + at(emission + s));
            shift(values, stride);
        }
        state = 0;
        for (int32_t part = 0; part < stride; part += 64) {
            const int32_t part_end = std::min(part + 64, stride);
            uint64_t found = 0;
            for (int32_t s = part; s < part_end; s += kLanes) {
                const V value = is_shifted ? at(values + s) : at(above + s) + at(emission + s);
                found |= uint64_t{lanes_at_least(value + at(into + s), sum)} << (s - part);
            }
            if (!found) continue;
            state = part + std::countr_zero(found);
            break;
        }
        path[k - 1] = static_cast<State>(state);
    }
}

}  // namespace

#define TROPALIGN_STRING_(x) #x
#define TROPALIGN_STRING(x) TROPALIGN_STRING_(x)
extern const BestPathKernels best_path_kernels = {TROPALIGN_STRING(TROPALIGN_ISA), forward, trace<uint8_t>,
                                                  trace<uint16_t>};

}  // namespace tropalign::TROPALIGN_ISA
