// The loops of neighbour joining (formula and sources in joining.hpp) over neighbouring slots. All additions are per
// slot, so that the length of vectors changes no result.
#include <limits>

#include "../simd/real.hpp"
#include "joining.hpp"

namespace tropalign::TROPALIGN_ISA {
namespace {

using V = Vec<double, kVectorBytes>;
constexpr int kLanes = kVectorBytes / 8;
constexpr double kNone = std::numeric_limits<double>::infinity();

[[gnu::always_inline]] inline V load_reals(const double *at) { return load<double, kVectorBytes>(at); }
[[gnu::always_inline]] inline V load_reals(const float *at) {
    return __builtin_convertvector((load<float, kVectorBytes / 2>(at)), V);
}

inline double largest_lane(V v) {
    double found = v[0];
    for (int l = 1; l < kLanes; ++l) found = v[l] > found ? v[l] : found;
    return found;
}

/// Finds the highest -q, whose roundings are those of q: the processors' maximum returns the other operand for
/// NaN.
template <class T>
double least(const T *distances, const double *sums, int64_t n, Criterion criterion, double own) {
    const V factor = every<V>(criterion.factor), constant = every<V>(criterion.constant), owns = every<V>(own);
    V a = every<V>(-kNone), b = a;
    int64_t k = 0;
    for (; k + 2 * kLanes <= n; k += 2 * kLanes) {
        const V p = factor * load_reals(distances + k) + constant;
        const V q = factor * load_reals(distances + k + kLanes) + constant;
        a = larger<V>((owns - p) + load_reals(sums + k), a);
        b = larger<V>((owns - q) + load_reals(sums + k + kLanes), b);
    }
    double found = largest_lane(larger<V>(a, b));
    for (; k < n; ++k) {
        const double negative = (own - (criterion.factor * distances[k] + criterion.constant)) + sums[k];
        found = negative > found ? negative : found;
    }
    return -found;
}

template <class T>
void merge(T *first, const T *second, double *sums_first, double *sums_second, int64_t n) {
    const bool is_one_sum = sums_first == sums_second;
    for (int64_t k = 0; !is_one_sum && k < n; ++k) sums_second[k] -= second[k];
    for (int64_t k = 0; k < n; ++k) {
        const double one = first[k], two = second[k];
        const T mean = static_cast<T>((two + one) * 0.5);
        const double less = is_one_sum ? sums_first[k] - two : sums_first[k];
        sums_first[k] = (less - one) + static_cast<double>(mean);
        first[k] = mean;
    }
}

double change(const double *sums, double *means, int64_t n, double inverse) {
    V most = every<V>(-kNone);
    int64_t k = 0;
    for (; k + kLanes <= n; k += kLanes) {
        const V mean = load_reals(sums + k) * inverse;
        most = larger<V>(mean - load_reals(means + k), most);
        store<double, kVectorBytes>(means + k, mean);
    }
    double found = largest_lane(most);
    for (; k < n; ++k) {
        const double mean = sums[k] * inverse;
        found = mean - means[k] > found ? mean - means[k] : found;
        means[k] = mean;
    }
    return found;
}

template <class T>
void lower(const T *distances, int64_t n, double *bounds, double more, double *all_bounds, double most) {
    for (int64_t k = 0; k < n; ++k) {
        const double one = distances[k] + more, all = distances[k] + most;
        bounds[k] = one < bounds[k] ? one : bounds[k];
        all_bounds[k] = all < all_bounds[k] ? all : all_bounds[k];
    }
}

int64_t within(const double *bounds, const double *means, int64_t n, double limit, int32_t *found) {
    const V limits = every<V>(limit);
    int64_t count = 0, k = 0;
    for (; k + kLanes <= n; k += kLanes) {
        uint32_t bits = lanes_at_least<V>(limits, load_reals(bounds + k) - load_reals(means + k));
        for (; bits; bits &= bits - 1) found[count++] = static_cast<int32_t>(k + __builtin_ctz(bits));
    }
    for (; k < n; ++k)
        if (bounds[k] - means[k] <= limit) found[count++] = static_cast<int32_t>(k);
    return count;
}

double lowest(const double *bounds, const double *means, int64_t n) {
    V most = every<V>(-kNone);
    int64_t k = 0;
    for (; k + kLanes <= n; k += kLanes) most = larger<V>(load_reals(means + k) - load_reals(bounds + k), most);
    double found = largest_lane(most);
    for (; k < n; ++k) found = means[k] - bounds[k] > found ? means[k] - bounds[k] : found;
    return -found;
}

template <class T>
constexpr JoiningKernels<T> kernels_of(const char *isa) {
    return {isa, least<T>, merge<T>, change, lower<T>, within, lowest};
}

}  // namespace

#define TROPALIGN_STRING_(x) #x
#define TROPALIGN_STRING(x) TROPALIGN_STRING_(x)
extern const JoiningKernels<float> float_joining_kernels = kernels_of<float>(TROPALIGN_STRING(TROPALIGN_ISA));
extern const JoiningKernels<double> double_joining_kernels = kernels_of<double>(TROPALIGN_STRING(TROPALIGN_ISA));

}  // namespace tropalign::TROPALIGN_ISA
