#include "triangular.hpp"

#include <type_traits>

#include "../compute/parallel.hpp"
#include "../simd/dispatch.hpp"

namespace tropalign {

TROPALIGN_DISPATCH(TriangularKernels, triangular_kernels)

namespace {

template <class T>
auto tile_kernel() {
    const TriangularKernels *kernels = selected_triangular_kernels();
    if constexpr (std::is_same_v<T, float>) return kernels->of_float;
    else if constexpr (std::is_same_v<T, double>) return kernels->of_double;
    else if constexpr (std::is_same_v<T, int32_t>) return kernels->of_int32;
    else return kernels->of_int16;
}

}  // namespace

template <class T>
bool fill(const Triangle<T> &triangle, int n_threads, const Poll &poll) {
    const auto tile = tile_kernel<T>();
    const int64_t n_tiles = triangle.size / kTriangleTile;
    int64_t begun = 0;
    // A tile depends on those to its left and below it, so that tiles at the same distance from the diagonal are
    // independent.
    for (int64_t distance = 0; distance < n_tiles; ++distance) {
        const int64_t n_now = n_tiles - distance;
        if (n_now == 1 || n_threads == 1) {
            for (int64_t row = 0; row < n_now; ++row) {
                tile(triangle, row, row + distance);
                if (row % 16 == 15 && !poll(begun + row)) return false;
            }
            if (!poll(begun + n_now)) return false;
        } else if (!parallel(
                       n_threads, n_now, 1, [&](int, int64_t row) { tile(triangle, row, row + distance); },
                       [&](int64_t items) { return poll(begun + items); })) {
            return false;
        }
        begun += n_now;
    }
    return true;
}

template bool fill(const Triangle<float> &, int, const Poll &);
template bool fill(const Triangle<double> &, int, const Poll &);
template bool fill(const Triangle<int32_t> &, int, const Poll &);
template bool fill(const Triangle<int16_t> &, int, const Poll &);

}  // namespace tropalign
