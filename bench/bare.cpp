// What the bare recurrence allows on one core, in GCUPS: the limit that the benchmark of pairs compares with.
//
// A whole vector of pairs that share their rows, 256 x 256 cells each, 8-bit lanes, four columns per pass, and nothing
// else: no padding, no ends, no walk back, no CIGARs. The recurrences are those of native/pairwise/sweep.hpp (Gotoh
// 1982; differences after Suzuki and Kasahara 2018), written again so that a change there does not change the limit.
// With Store, four comparisons per cell are kept, as a walk back over the whole matrix needs them. Operations per
// vector of cells: 10, and 8 more with Store; each of 4 columns reads one vector of scores, and a row reads and writes
// two.
//
//     g++ -std=c++20 -O3 -fwrapv -march=native -I native bench/bare.cpp -o bare && ./bare SECONDS ROUNDS
//
// Prints JSON: {"local score": GCUPS, "local stored": ..., "global score": ..., "global stored": ..., "bytes": of a
// vector}. Exit status 1 where the first lane's score is not that of a plain loop.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <random>
#include <vector>

#include "simd/bytes.hpp"

using namespace tropalign::TROPALIGN_ISA;

namespace {

constexpr int kRows = 256, kWidth = 256, kC = 4, kSymbols = 20, kFirst = 12, kNext = 1, kFloor = -100;
constexpr int B = kVectorBytes;
using V = Vec<int8_t, B>;
using Bits = Lanes<int8_t, B>::Bits;

struct Data {
    alignas(64) int8_t matrix[32 * 32] = {};
    uint8_t rows[kRows], columns[kWidth * B];  // letters; B lanes of each column beside each other
    alignas(64) V profile[32 * kC], value[kRows], gap[kRows];
    std::vector<Bits> stored = std::vector<Bits>(size_t{4} * kRows * kWidth);
} data;

/// s(letter, column) for four columns, a vector per letter.
void fill_profile(int j) {
    for (int c = 0; c < kC; ++c) {
        const V letters = load<int8_t, B>(data.columns + (j + c) * B);
        for (int a = 0; a < kSymbols; ++a) data.profile[a * kC + c] = lookup32<B>(data.matrix + a * 32, letters);
    }
}

template <bool Store>
[[gnu::noinline]] void local_pass(int j, V &best_of_all) {
    const V floor = splat<int8_t, B>(kFloor), first = splat<int8_t, B>(kFirst), next = splat<int8_t, B>(kNext);
    V f[kC], above[kC], corner = floor, best = best_of_all;
    for (int c = 0; c < kC; ++c) f[c] = floor - first, above[c] = floor;
    Bits *out = data.stored.data() + size_t{4} * j * kRows;
    for (int i = 0; i < kRows; ++i) {
        const V *s = data.profile + data.rows[i] * kC;
        V h = data.value[i], e = data.gap[i], diagonal = corner;
        corner = h;
#pragma GCC unroll 4
        for (int c = 0; c < kC; ++c) {
            V x = diagonal + s[c];
            if (Store) out[4 * c] = gt_bits<int8_t, B>(e, x);
            x = vmax(x, e);
            if (Store) out[4 * c + 1] = gt_bits<int8_t, B>(f[c], x);
            x = vmax(vmax(x, f[c]), floor);
            best = vmax(best, x);
            diagonal = above[c];
            above[c] = h = x;
            const V opened = x - first;
            e = e - next;
            f[c] = f[c] - next;
            if (Store) {
                out[4 * c + 2] = gt_bits<int8_t, B>(e, opened);
                out[4 * c + 3] = gt_bits<int8_t, B>(f[c], opened);
            }
            e = vmax(e, opened);
            f[c] = vmax(f[c], opened);
        }
        if (Store) out += 4 * kC;
        data.value[i] = h;
        data.gap[i] = e;
    }
    best_of_all = best;
}

/// The local score of the first lane.
template <bool Store>
int local() {
    V best = splat<int8_t, B>(kFloor);
    for (int i = 0; i < kRows; ++i) data.value[i] = best, data.gap[i] = best - splat<int8_t, B>(kFirst);
    for (int j = 0; j < kWidth; j += kC) {
        fill_profile(j);
        local_pass<Store>(j, best);
    }
    return best[0] - kFloor;
}

template <bool Store>
[[gnu::noinline]] void global_pass(int j) {
    const V closed = splat<int8_t, B>(kNext - kFirst);
    V v[kC], y[kC];
    for (int c = 0; c < kC; ++c) v[c] = j + c == 0 ? closed : V{}, y[c] = closed;
    Bits *out = data.stored.data() + size_t{4} * j * kRows;
    for (int i = 0; i < kRows; ++i) {
        const V *s = data.profile + data.rows[i] * kC;
        V u = data.value[i], x = data.gap[i];
#pragma GCC unroll 4
        for (int c = 0; c < kC; ++c) {
            V a = x + u, b = y[c] + v[c], z = s[c];
            if (Store) out[4 * c] = gt_bits<int8_t, B>(a, z);
            z = vmax(z, a);
            if (Store) out[4 * c + 1] = gt_bits<int8_t, B>(b, z);
            z = vmax(z, b);
            const V v_new = z - u;
            u = z - v[c];
            v[c] = v_new;
            a = a - z;
            b = b - z;
            if (Store) {
                out[4 * c + 2] = gt_bits<int8_t, B>(a, closed);
                out[4 * c + 3] = gt_bits<int8_t, B>(b, closed);
            }
            x = vmax(a, closed);
            y[c] = vmax(b, closed);
        }
        if (Store) out += 4 * kC;
        data.value[i] = u;
        data.gap[i] = x;
    }
}

/// The global score of the first lane: the border of the first row, then down the last column. The scores of the matrix
/// hold 2 * kNext more meanwhile, and each residue costs kNext at the end.
template <bool Store>
int global() {
    const V closed = splat<int8_t, B>(kNext - kFirst);
    for (int i = 0; i < kRows; ++i) data.value[i] = i == 0 ? closed : V{}, data.gap[i] = closed;
    for (int8_t &s : data.matrix) s = static_cast<int8_t>(s + 2 * kNext);
    for (int j = 0; j < kWidth; j += kC) {
        fill_profile(j);
        global_pass<Store>(j);
    }
    for (int8_t &s : data.matrix) s = static_cast<int8_t>(s - 2 * kNext);
    int score = kNext - kFirst - kNext * (kRows + kWidth);
    for (int i = 0; i < kRows; ++i) score += data.value[i][0];
    return score;
}

/// The same by a plain loop.
int plain(bool is_local) {
    constexpr int kNever = -1'000'000;
    std::vector<int> h(kWidth + 1), f(kWidth + 1, kNever);
    auto border = [&](int k) { return is_local || k == 0 ? 0 : -kFirst - kNext * (k - 1); };
    for (int j = 0; j <= kWidth; ++j) h[j] = border(j);
    int best = 0;
    for (int i = 1; i <= kRows; ++i) {
        int diagonal = h[0], e = kNever;
        h[0] = border(i);
        for (int j = 1; j <= kWidth; ++j) {
            e = std::max(e - kNext, h[j - 1] - kFirst);
            f[j] = std::max(f[j] - kNext, h[j] - kFirst);
            const int matched = diagonal + data.matrix[data.rows[i - 1] * 32 + data.columns[(j - 1) * B]];
            diagonal = h[j];
            h[j] = std::max({matched, e, f[j], is_local ? 0 : kNever});
            best = std::max(best, h[j]);
        }
    }
    return is_local ? best : h[kWidth];
}

double processor_seconds() {
    timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

double gcups(const std::function<int()> &run, double at_least, int rounds) {
    std::vector<double> rates;
    for (int round = 0; round < rounds; ++round) {
        const double begin = processor_seconds();
        double passed = 0;
        int64_t n = 0;
        for (; passed < at_least; passed = processor_seconds() - begin, ++n) run();
        rates.push_back(static_cast<double>(n) * kRows * kWidth * B / passed / 1e9);
    }
    std::sort(rates.begin(), rates.end());
    return rates[rates.size() / 2];
}

}  // namespace

int main(int argc, char **argv) {
    const double at_least = argc > 1 ? std::atof(argv[1]) : 0.3;
    const int rounds = argc > 2 ? std::max(1, std::atoi(argv[2])) : 3;
    std::mt19937 random(1);
    auto letter = [&] { return static_cast<uint8_t>(random() % kSymbols); };
    for (int a = 0; a < kSymbols; ++a)
        for (int b = 0; b <= a; ++b)
            data.matrix[a * 32 + b] = data.matrix[b * 32 + a] =
                static_cast<int8_t>(a == b ? 5 : -static_cast<int>(random() % 5));
    std::generate(std::begin(data.rows), std::end(data.rows), letter);
    std::generate(std::begin(data.columns), std::end(data.columns), letter);
    // The first lane, whose score is checked, shares 30 letters with the rows; a gap of 2 lies in their middle.
    for (int k = 0; k < 30; ++k) data.columns[(100 + k + (k < 15 ? 0 : 2)) * B] = data.rows[90 + k];

    const struct {
        const char *name;
        std::function<int()> run;
        bool is_local;
    } kernels[] = {{"local score", local<false>, true},
                   {"local stored", local<true>, true},
                   {"global score", global<false>, false},
                   {"global stored", global<true>, false}};
    std::printf("{");
    for (const auto &[name, run, is_local] : kernels) {
        if (run() != plain(is_local)) {
            std::fprintf(stderr, "%s: %d instead of %d\n", name, run(), plain(is_local));
            return 1;
        }
        std::printf("\"%s\": %.2f, ", name, gcups(run, at_least, rounds));
    }
    std::printf("\"bytes\": %d}\n", B);
}
