// Values of a model with many states (viterbi.hpp): lanes are states.
//
// A step forms A[s] for 64 states s at once, in up to eight vectors that stay in registers: each state r before adds
// its value to its row of transitions. For many states most rows cannot matter. With the highest transition h[r] from r
// into the block, A[s] of no s in the block is raised by r where
//
//     V[r] + h[r] <= the lowest A[s] so far                 (sums of doubles are monotone: this holds after rounding)
//
// so the rows with the highest V[r] + h[r] come first, and then those which the bound does not exclude: of 256 states
// with random transitions a fifth. How many come first is guessed from the step before; the result is the same.
#pragma once
#include <bit>

#include "viterbi_vectors.hpp"

namespace tropalign::TROPALIGN_ISA {
namespace {

/// The rows of [0, stride) that may raise a block's A, chosen by their keys V[r] + h[r].
class Rows {
  public:
    /// Rows with keys of at least `bound`; `keys` are formed on the way.
    [[gnu::always_inline]] static int32_t first(const double *values, const double *highest, int32_t stride,
                                                double bound, double *keys, uint32_t *rows) {
        const V least = all(bound);
        return listed(stride, rows, [&](int32_t r) {
            const V key = at(values + r) + at(highest + r);
            put(keys + r, key);
            return lanes_at_least(key, least);
        });
    }
    /// Rows with keys above `low` and below `bound`.
    [[gnu::always_inline]] static int32_t further(const double *keys, int32_t stride, double low, double bound,
                                                  uint32_t *rows) {
        const V least = all(bound), most = all(low);
        return listed(stride, rows, [&](int32_t r) {
            const V key = at(keys + r);
            return ~(lanes_at_least(key, least) | lanes_at_least(most, key)) & kAllLanes;
        });
    }

  private:
    static constexpr uint32_t kAllLanes = (1u << kLanes) - 1;

    /// The rows r of which is_chosen, which answers for kLanes of them as bits.
    template <class IsChosen>
    [[gnu::always_inline]] static int32_t listed(int32_t stride, uint32_t *rows, IsChosen is_chosen) {
        int32_t n = 0, r = 0;
        if constexpr (kVectorBytes == 64) {
            Vec<int32_t, kVectorBytes> numbers;
            for (int l = 0; l < 2 * kLanes; ++l) numbers[l] = l;
            for (; r + 2 * kLanes <= stride; r += 2 * kLanes, numbers += 2 * kLanes) {
                const uint32_t lanes = is_chosen(r) | is_chosen(r + kLanes) << kLanes;
                store_chosen<kVectorBytes>(rows + n, numbers, lanes);
                n += std::popcount(lanes);
            }
        }
        for (; r < stride; r += kLanes)
            for (uint32_t lanes = is_chosen(r); lanes; lanes &= lanes - 1)
                rows[n++] = static_cast<uint32_t>(r + std::countr_zero(lanes));
        return n;
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
    V low = all(-kNever);
    int32_t s = 0;
    for (; s + kLanes <= n; s += kLanes) low = -larger(-low, -at(sums + s));
    double lowest = low[0];
    for (int l = 1; l < kLanes; ++l) lowest = std::min(lowest, low[l]);
    for (; s < n; ++s) lowest = std::min(lowest, sums[s]);
    return lowest;
}

/// Steps of a model with many states.
inline void forward_many(const ViterbiModel &model, ForwardStream &stream, double *scratch) {
    const int32_t stride = model.stride;
    const Emissions emissions(model, stream.steps, scratch);
    double *keys = scratch + stride, *sums = scratch + 2 * stride, *guesses = scratch + 3 * stride;
    auto *rows = reinterpret_cast<uint32_t *>(scratch + 4 * stride);
    double *values = stream.values;
    std::fill(guesses, guesses + model.n_blocks(), 2.0);
    double highest = stream.next ? highest_of(values, stride) : 0;
    for (int64_t &k = stream.next; k < stream.end; ++k) {
        if (k == 0) {
            std::copy(model.start, model.start + stride, sums);
        } else {
            std::fill(sums, sums + stride, kNever);
            for (int32_t b = 0; b < model.n_blocks(); ++b) {
                const int32_t s = b * kTargetStates, width = std::min(kTargetStates, stride - s);
                const double *from = model.from + int64_t{s} * stride;
                const double bound = highest - guesses[b];
                int32_t n = Rows::first(values, model.highest + int64_t{b} * stride, stride, bound, keys, rows);
                raise_block(from, width, values, rows, n, sums + s);
                const int32_t n_states = std::min(width, model.n_states - s);  // without those of the padding
                double low = lowest_of(sums + s, n_states);
                n = Rows::further(keys, stride, low, bound, rows);
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
            if (stream.kept) put(stream.kept + s, a);
            put(values + s, a + at(emission + s));
        }
        if (stream.kept) stream.kept += stride;
        if (k % kStepsPerShift == 0) shift(values, stride, stream);
        highest = highest_of(values, stride);
    }
}

}  // namespace
}  // namespace tropalign::TROPALIGN_ISA
