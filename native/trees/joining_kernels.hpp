// What the kernels of neighbour joining do, and the tables of them that every instruction set fills.
#pragma once
#include <cstdint>

namespace tropalign {

/// How q (joining.hpp) is made of a distance and of sums: ((factor * d + constant) - sums[i]) - own.
struct Criterion {
    double factor, constant;
};

/// Distances are kept as T.
template <class T>
struct JoiningKernels {
    const char *isa;
    /// The smallest q of a row, whose sum is `own`, with the n places of `distances` and `sums`; infinity where n is 0.
    double (*least)(const T *distances, const double *sums, int64_t n, Criterion criterion, double own);
    /// Distances of a joined cluster to n places: the mean of those of its two parts, which are taken off two sums
    /// (which may be the same one) and the mean added to the first.
    void (*merge)(T *first, const T *second, double *sums_first, double *sums_second, int64_t n);
    /// means[k] = sums[k] * inverse. Returns the largest change; minus infinity where no sum is finite.
    double (*change)(const double *sums, double *means, int64_t n, double inverse);
    /// Lowers two rows of bounds to distances[k] + more and distances[k] + most, where these are smaller.
    void (*lower)(const T *distances, int64_t n, double *bounds, double more, double *all_bounds, double most);
    /// The k with bounds[k] - means[k] <= limit, ascending; returns their number.
    int64_t (*within)(const double *bounds, const double *means, int64_t n, double limit, int32_t *found);
    /// The smallest bounds[k] - means[k].
    double (*lowest)(const double *bounds, const double *means, int64_t n);
};

/// The tables of the chosen instruction set.
const JoiningKernels<float> *selected_float_joining_kernels();
const JoiningKernels<double> *selected_double_joining_kernels();

}  // namespace tropalign
