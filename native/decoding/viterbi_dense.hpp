// Values of a model with a moderate number of states (viterbi.hpp): lanes are states, and every sum is computed.
//
// A of up to eight vectors of states stays in registers while all rows of transitions are read. Rows ascend in one
// step and descend in the next, so that the rows read last, which are still in the first cache, are read first:
// the transitions of 64 states (32 KB) fill it alone.
//
//     step k      row 0, 1, ... 63        step k + 1      row 63, 62, ... 0
#pragma once
#include "viterbi_vectors.hpp"

namespace tropalign::TROPALIGN_ISA {
namespace {

/// Compute A of N vectors of states.
template <int N>
[[gnu::noinline]] void best_of_all(const double *from, int32_t stride, const double *values, bool goes_up,
                                   double *sums) {
    Maxima<N> best;
    const int64_t step = goes_up ? 1 : -1, row = step * stride;
    const double *value = goes_up ? values : values + stride - 1;
    from += goes_up ? 0 : int64_t{stride} * (stride - 1);
    for (int32_t r = 0; r < stride; ++r, value += step, from += row) best.take(*value, from);
    best.each([&](int j, V a) { put(sums + j * kLanes, a); });
}

/// Compute steps of a model that is not grouped.
inline void forward_dense(const ViterbiModel &model, ForwardStream &stream, double *scratch) {
    using Best = void (*)(const double *, int32_t, const double *, bool, double *);
    constexpr Best kBest[] = {best_of_all<1>, best_of_all<2>, best_of_all<3>, best_of_all<4>,
                              best_of_all<5>, best_of_all<6>, best_of_all<7>, best_of_all<8>};
    const int32_t stride = model.stride, n_vectors = stride / kLanes;
    const int32_t n_parts = (n_vectors + kMostVectors - 1) / kMostVectors;
    const Emissions emissions(model, stream.steps, scratch);
    double *sums = scratch + stride, *values = stream.values;
    for (int64_t &k = stream.next; k < stream.end; ++k) {
        if (k == 0) {
            std::copy(model.start, model.start + stride, sums);
        } else {
            for (int32_t part = 0, v = 0; part < n_parts; ++part) {
                const int32_t n = (n_vectors - v + n_parts - part - 1) / (n_parts - part);
                kBest[n - 1](model.from + v * kLanes, stride, values, k % 2, sums + v * kLanes);
                v += n;
            }
        }
        end_step(sums, emissions.row(k), stride, stream);
    }
}

}  // namespace
}  // namespace tropalign::TROPALIGN_ISA
