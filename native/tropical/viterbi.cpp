#include "viterbi.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "../compute/parallel.hpp"

namespace tropalign {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kQuantum = 0x1p-36;
constexpr double kMostRounded = 0x1p16;
constexpr int64_t kStepsPerRescale = 32;

double rounded(double x) { return std::abs(x) < kMostRounded ? std::nearbyint(x / kQuantum) * kQuantum : x; }

/// The steps of one sequence.
struct Steps {
    const HmmLogs &logs;
    const uint8_t *codes;
    const double *frames;
    int64_t n;

    double emission(int64_t k, int32_t state) const {
        return frames ? frames[k * logs.n_states + state] : logs.emission[int64_t{state} * logs.n_symbols + codes[k]];
    }
};

template <class State>
double path_score(const Steps &steps, const State *path) {
    if (steps.n == 0) return 0;
    double sum = steps.logs.start[path[0]] + steps.emission(0, path[0]);
    for (int64_t k = 1; k < steps.n; ++k) {
        sum += steps.logs.transition[int64_t{path[k - 1]} * steps.logs.n_states + path[k]];
        sum += steps.emission(k, path[k]);
    }
    return sum;
}

template <class State>
double best_path(const Steps &steps, State *path) {
    const int32_t l = steps.logs.n_states;
    if (steps.n == 0) return 0;
    std::vector<double> values(steps.n * l);  // V
    for (int64_t k = 0; k < steps.n; ++k) {
        double *v = values.data() + k * l;
        for (int32_t s = 0; s < l; ++s) {
            double best = -kInfinity;
            if (k == 0) best = rounded(steps.logs.start[s]);
            else
                for (int32_t r = 0; r < l; ++r)
                    best = std::max(best, v[r - l] + rounded(steps.logs.transition[int64_t{r} * l + s]));
            v[s] = best + rounded(steps.emission(k, s));
        }
        const double highest = *std::max_element(v, v + l);
        if (k % kStepsPerRescale == 0 && highest > -kInfinity)
            for (int32_t s = 0; s < l; ++s) v[s] -= highest;
    }
    const double *v = values.data() + (steps.n - 1) * l;
    State state = static_cast<State>(std::max_element(v, v + l) - v);
    if (v[state] == -kInfinity) {
        std::fill(path, path + steps.n, State{0});
        return -kInfinity;
    }
    path[steps.n - 1] = state;
    for (int64_t k = steps.n - 1; k > 0; --k) {
        v -= l;
        State best = 0;
        auto sum = [&](int32_t r) { return v[r] + rounded(steps.logs.transition[int64_t{r} * l + path[k]]); };
        for (int32_t r = 1; r < l; ++r)
            if (sum(r) > sum(best)) best = static_cast<State>(r);
        path[k - 1] = best;
    }
    return path_score(steps, path);
}

}  // namespace

template <class State>
bool viterbi(const HmmLogs &logs, const HmmObservations &observations, int n_threads, State *paths, double *scores,
             const Poll &poll) {
    auto decode = [&](int, int64_t j) {
        const int64_t begin = observations.offsets[j], n = observations.offsets[j + 1] - begin;
        const Steps steps{logs, observations.codes ? observations.codes + begin : nullptr,
                          observations.frames ? observations.frames + begin * logs.n_states : nullptr, n};
        scores[j] = best_path(steps, paths + begin);
    };
    return parallel(n_threads, observations.n_sequences, 1, decode, poll);
}

template bool viterbi(const HmmLogs &, const HmmObservations &, int, uint8_t *, double *, const Poll &);
template bool viterbi(const HmmLogs &, const HmmObservations &, int, uint16_t *, double *, const Poll &);

}  // namespace tropalign
