#include "viterbi.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <vector>

#include "../compute/parallel.hpp"
#include "viterbi_kernels.hpp"
#include "viterbi_model.hpp"

namespace tropalign {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

/// All that a thread needs beside the model.
struct Room {
    Buffer<double> kept, values, scratch;

    explicit Room(const ViterbiModel &model) : values(model.stride), scratch(viterbi_scratch(model)) {}

    double *keep(int64_t n) {
        if (static_cast<int64_t>(kept.size()) < n) kept = Buffer<double>(n);
        return kept.data();
    }
};

template <class State>
double path_score(const HmmLogs &logs, const ViterbiSteps &steps, const State *path) {
    const int64_t l = logs.n_states;
    auto emission = [&](int64_t k) {
        return steps.frames ? steps.frames[k * l + path[k]]
                            : logs.emission[int64_t{path[k]} * logs.n_symbols + steps.codes[k]];
    };
    if (steps.n == 0) return 0;
    double sum = logs.start[path[0]] + emission(0);
    for (int64_t k = 1; k < steps.n; ++k) sum = (sum + logs.transition[path[k - 1] * l + path[k]]) + emission(k);
    return sum;
}

void trace(const BestPathKernels &kernels, const ViterbiModel &model, const ViterbiSteps &steps, int64_t first,
           int64_t end, Room &room, uint8_t *path) {
    kernels.trace_bytes(model, steps, first, end, room.kept.data(), path, room.scratch.data());
}
void trace(const BestPathKernels &kernels, const ViterbiModel &model, const ViterbiSteps &steps, int64_t first,
           int64_t end, Room &room, uint16_t *path) {
    kernels.trace_words(model, steps, first, end, room.kept.data(), path, room.scratch.data());
}

/// The path of a sequence whose values are all kept.
template <class State>
double whole_path(const BestPathKernels &kernels, const HmmLogs &logs, const ViterbiModel &model,
                  const ViterbiSteps &steps, Room &room, State *path) {
    if (steps.n == 0) return 0;
    double *values = room.values.data();
    kernels.forward(model, steps, 0, steps.n, values, room.keep(steps.n * model.stride), room.scratch.data());
    const auto best = std::max_element(values, values + model.n_states);
    if (*best == kNever) {
        std::fill(path, path + steps.n, State{0});
        return kNever;
    }
    path[steps.n - 1] = static_cast<State>(best - values);
    trace(kernels, model, steps, 0, steps.n, room, path);
    return path_score(logs, steps, path);
}

}  // namespace

template <class State>
bool viterbi(const HmmLogs &logs, const HmmObservations &observations, int n_threads, State *paths, double *scores,
             const Poll &poll) {
    const BestPathKernels &kernels = *selected_best_path_kernels();
    const ViterbiModel model(logs);
    std::vector<Room> rooms;
    for (int t = 0; t < n_threads; ++t) rooms.emplace_back(model);
    auto decode = [&](int thread, int64_t j) {
        const int64_t begin = observations.offsets[j], n = observations.offsets[j + 1] - begin;
        const ViterbiSteps steps{observations.codes ? observations.codes + begin : nullptr,
                                 observations.frames ? observations.frames + begin * logs.n_states : nullptr, n};
        scores[j] = whole_path(kernels, logs, model, steps, rooms[thread], paths + begin);
    };
    return parallel(n_threads, observations.n_sequences, 1, decode, poll);
}

template bool viterbi(const HmmLogs &, const HmmObservations &, int, uint8_t *, double *, const Poll &);
template bool viterbi(const HmmLogs &, const HmmObservations &, int, uint16_t *, double *, const Poll &);

}  // namespace tropalign
