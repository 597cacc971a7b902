// Draws of traces beside HMMER's operations, in the cases that the fast ones have to leave to them: random numbers at
// the borders between paths, paths of zero, sums too small. Prints how many draws were compared, and fails on a
// difference.
#include <cstdio>
#include <cstdlib>
#include <random>

#include "../../native/profiles/trace_walk.hpp"

using namespace tropalign;

namespace {

std::mt19937 random_bits(5);
int64_t n_compared = 0;

float random_path() {
    switch (random_bits() % 8) {
        case 0:
            return 0;
        case 1:
            return std::ldexp(1.0f, -static_cast<int>(random_bits() % 126));
        default:
            return static_cast<float>(random_bits() % 100000) / static_cast<float>(1 + random_bits() % 1000);
    }
}

/// Numbers at a share of [0, 2^32), and up to a few millionths of that beside it.
uint32_t near(double share) {
    const double beside = static_cast<double>(random_bits() % 2001) - 1000;
    const double scale = std::ldexp(1.0, static_cast<int>(random_bits() % 8) - 4);
    return static_cast<uint32_t>(std::clamp(share * 4294967296.0 + beside * scale * 4, 0.0, 4294967295.0));
}

void require(bool good, const char *what) {
    ++n_compared;
    if (good) return;
    std::printf("%s differs\n", what);
    std::exit(1);
}

void compare_choices(int n) {
    for (int k = 0; k < n; ++k) {
        const float p[4] = {random_path(), random_path(), random_path(), random_path()};
        const double two = static_cast<double>(p[0]) + p[1], four = two + p[2] + p[3];
        if (two > 0) {
            const uint32_t random = near(p[0] / two);
            float paths[2] = {p[0], p[1]};
            require(is_first_of(p[0], p[1], random) == (exact_choice(paths, 2, random) == 0), "one of two");
        }
        if (four > 0) {
            const double borders[] = {p[0] / four, two / four, (two + p[2]) / four, 0, 1};
            const uint32_t random = near(borders[random_bits() % 5]);
            float paths[4] = {p[0], p[1], p[2], p[3]};
            require(choice_of_four(p[0], p[1], p[2], p[3], random) == exact_choice(paths, 4, random), "one of four");
        }
    }
}

/// The node, negative for D: shares of E added up in double, quad by quad.
int32_t plain_end(const FullMatrix &matrix, int32_t M, uint32_t random) {
    const auto factor = static_cast<float>(1.0 / matrix.special(0)[kE]);
    const double roll = random / 4294967296.0;
    double sum = 0;
    while (true)
        for (int32_t q = 0; q < matrix.Q; ++q)
            for (int state = 0; state < 2; ++state)
                for (int r = 0; r < 4; ++r) {
                    sum += matrix.row(0)[q * matrix.quad_stride + state * matrix.state_stride + r] * factor;
                    const int32_t k = r * matrix.Q + q + 1;
                    if (roll < sum) return k > M ? 0 : state ? -k : k;
                }
}

void compare_ends(int n) {
    for (int k = 0; k < n; ++k) {
        const int32_t M = 1 + static_cast<int32_t>(random_bits() % 70), Q = std::max(2, (M + 3) / 4);
        std::vector<float> cells(static_cast<size_t>(Q) * 12), specials(kSpecials);
        std::vector<double> borders{0};
        double sum = 0;
        for (int32_t q = 0; q < Q; ++q)
            for (int state = 0; state < 2; ++state)
                for (int r = 0; r < 4; ++r)
                    if (r * Q + q < M) {
                        const float x = random_path();
                        cells[q * 12 + state * 4 + r] = x;
                        borders.push_back(sum += x);
                    }
        if (!(sum > 0)) continue;
        specials[kE] = static_cast<float>(sum);
        const FullMatrix matrix{0, Q, cells.data(), 0, 12, 4, specials.data()};
        TROPALIGN_ISA::RowEnds ends(matrix, M);
        for (int draw = 0; draw < 50; ++draw) {
            const uint32_t random = near(borders[random_bits() % borders.size()] / sum);
            require(ends.draw(0, random) == plain_end(matrix, M, random), "an end");
        }
    }
}

}  // namespace

int main() {
    compare_choices(2'000'000);
    compare_ends(20'000);
    std::printf("%lld draws compared\n", static_cast<long long>(n_compared));
}
