// The kernels of posteriors of this instruction set.
#include <algorithm>

#include "posterior_sweep.hpp"

namespace tropalign::TROPALIGN_ISA {

template <class T, int lanes>
constexpr RunPosteriorUnit kernel() {
    if constexpr (lanes == 1) return run_posterior_unit<T, ProfiledLetters<T>>;
    else if constexpr (lanes * sizeof(T) > kVectorBytes) return nullptr;
    else if constexpr (lanes == 16) return run_posterior_unit<Vec<T, 64>, PermutedLetters<Vec<T, 64>>>;
    else return run_posterior_unit<Vec<T, lanes * 4>, ProfiledLetters<Vec<T, lanes * 4>>>;
}

#define TROPALIGN_STRING_(x) #x
#define TROPALIGN_STRING(x) TROPALIGN_STRING_(x)
extern const PosteriorKernels posterior_kernels = {
    TROPALIGN_STRING(TROPALIGN_ISA),
    kernel<float, 1>(),
    {kernel<float, 4>(), kernel<float, 8>(), kernel<float, 16>()},
    {kernel<double, 1>(), kernel<long double, 1>()},
};

}  // namespace tropalign::TROPALIGN_ISA
