// This instruction set's kernels of posteriors (recurrences and sources in posterior_model.hpp).
#include <algorithm>

#include "posterior_sweep.hpp"

namespace tropalign::TROPALIGN_ISA {

template <class T, int lanes>
constexpr PosteriorKernel kernel() {
    constexpr int bytes = lanes * static_cast<int>(sizeof(T));
    if constexpr (lanes == 1) return {lanes, bytes, run_posterior_unit<T, ProfiledLetters<T>>};
    else if constexpr (bytes > kVectorBytes) return {lanes, bytes, nullptr};
    else if constexpr (lanes == 16) return {lanes, bytes, run_posterior_unit<Vec<T, 64>, PermutedLetters<Vec<T, 64>>>};
    else return {lanes, bytes, run_posterior_unit<Vec<T, bytes>, ProfiledLetters<Vec<T, bytes>>>};
}

#define TROPALIGN_STRING_(x) #x
#define TROPALIGN_STRING(x) TROPALIGN_STRING_(x)
extern const PosteriorKernels posterior_kernels = {
    TROPALIGN_STRING(TROPALIGN_ISA),
    {
        {kernel<float, 1>(), kernel<float, 4>(), kernel<float, 8>(), kernel<float, 16>()},
        {kernel<double, 2>(), kernel<double, 4>(), kernel<double, 8>()},
        {kernel<long double, 1>()},
    },
};

}  // namespace tropalign::TROPALIGN_ISA
