// Products and triangles of random numbers against plain loops, for processors that only an emulator has. Prints the
// number of comparisons; exits with 1 at the first difference.
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include "../../native/tropical/product.hpp"
#include "../../native/tropical/triangular.hpp"

using namespace tropalign;

static std::mt19937 random_bits(1);
static long n_compared = 0;

static int64_t below(int64_t n) { return static_cast<int64_t>(random_bits() % static_cast<uint64_t>(n)); }

static void compare(double found, double expected, const char *what) {
    ++n_compared;
    if (found == expected) return;
    std::printf("%s: %g instead of %g\n", what, found, expected);
    std::exit(1);
}

template <class T>
static std::vector<T> numbers(int64_t count) {
    std::vector<T> made(static_cast<size_t>(count));
    for (T &x : made) x = static_cast<T>(below(41) - 20);
    return made;
}

template <class T>
static void products(bool is_max) {
    const int64_t m = 1 + below(20), n = 1 + below(90), k = 1 + below(150);
    const std::vector<T> a = numbers<T>(m * k), b = numbers<T>(k * n);
    std::vector<T> c(static_cast<size_t>(m * n)), plain;
    std::vector<int32_t> best_k(c.size(), -1), first(c.size(), -1);
    for (T &x : c) x = is_max ? T(-30) : T(30);
    plain = c;
    for (int64_t i = 0; i < m; ++i)
        for (int64_t j = 0; j < n; ++j)
            for (int64_t l = 0; l < k; ++l) {
                const T sum = static_cast<T>(a[i * k + l] + b[l * n + j]);
                T &best = plain[i * n + j];
                if (is_max ? sum > best : sum < best) best = sum, first[i * n + j] = static_cast<int32_t>(l + 7);
            }
    std::vector<T> again = c;
    product_kernels<T>().update(is_max, a.data(), k, b.data(), n, c.data(), n, m, n, k);
    product_kernels<T>().update_arg(is_max, a.data(), k, b.data(), n, again.data(), n, best_k.data(), n, 7, m, n, k);
    for (size_t at = 0; at < c.size(); ++at) {
        compare(c[at], plain[at], "product");
        compare(again[at], plain[at], "product with the best k");
        compare(best_k[at], first[at], "best k");
    }
    T lowest = a[0], highest = a[0];
    for (T x : a) lowest = std::min(lowest, x), highest = std::max(highest, x);
    const Survey<T> found = survey(is_max, a.data(), m * k);
    compare(found.lowest, lowest, "lowest"), compare(found.highest, highest, "highest");
    compare(found.any_worst, false, "any zero");
}

template <class T>
static void triangles(bool is_max, bool is_chain) {
    const int64_t n = 2 * kTriangleTile;
    std::vector<T> values = numbers<T>(n * n), sizes(static_cast<size_t>(n + 1));
    for (T &p : sizes) p = static_cast<T>(1 + below(30));
    const std::vector<T> weights = values;
    Triangle<T> triangle{};
    triangle.is_max = is_max, triangle.size = n, triangle.values = values.data(), triangle.is_weighted = !is_chain;
    triangle.sizes = is_chain ? sizes.data() : nullptr;
    fill(triangle, 1, [](int64_t) { return true; });
    for (int64_t i = n; i-- > 0;)
        for (int64_t j = i + 1; j < n; ++j) {
            T best{};
            for (int64_t k = i; k < j; ++k) {
                T sum = values[i * n + k] + values[(k + 1) * n + j];
                if (is_chain) sum += sizes[i] * sizes[k + 1] * sizes[j + 1];
                if (k == i || (is_max ? sum > best : sum < best)) best = sum;
            }
            if (!is_chain) best += weights[i * n + j];
            compare(values[i * n + j], best, "triangle");
        }
}

int main() {
    for (int round = 0; round < 12; ++round)
        for (const bool is_max : {false, true})
            products<float>(is_max), products<double>(is_max), products<int32_t>(is_max), products<int16_t>(is_max);
    for (const bool is_max : {false, true}) triangles<float>(is_max, false), triangles<double>(is_max, false);
    triangles<double>(false, true);
    std::printf("%ld\n", n_compared);
}
