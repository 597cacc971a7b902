// Bindings: the best paths of hidden Markov models; names and validation for users are in tropalign.decoding.
#include <nanobind/stl/string.h>

#include <cmath>

#include "../compute/buffer.hpp"
#include "../decoding/viterbi.hpp"
#include "check.hpp"

using namespace nb::literals;

namespace tropalign {
namespace {

/// Beyond this, sums of doubles may be infinite.
constexpr double kHighestLog = 1e290;
constexpr int64_t kMostPathStates = 65536;

/// Refuse numbers other than -inf and those with an absolute value of at most kHighestLog.
void require_logs(const double *values, size_t count, const char *name) {
    bool are_good = true;
    for (size_t k = 0; k < count; ++k) are_good &= std::abs(values[k]) <= kHighestLog || values[k] == -HUGE_VAL;
    if (!are_good) refuse(std::string(name) + ": a number is not a logarithm (NaN, infinity, or beyond 1e290)");
}

HmmLogs checked_logs(const Array<double, 1> &start, const Array<double, 2> &transition) {
    const auto l = static_cast<int64_t>(start.size());
    require(l >= 1 && l <= kMostPathStates, "start: must have 1 to 65536 states");
    require(transition.shape(0) == start.size() && transition.shape(1) == start.size(),
            "transition: must have a row and a column per state");
    require_logs(start.data(), start.size(), "start");
    require_logs(transition.data(), transition.size(), "transition");
    return {static_cast<int32_t>(l), 0, start.data(), transition.data(), nullptr};
}

void checked_offsets(const Array<int64_t, 1> &offsets, size_t n_steps) {
    const auto n_entries = static_cast<int64_t>(offsets.size());
    require_offsets(offsets.data(), n_entries, static_cast<int64_t>(n_steps), "offsets");
    require(offsets(0) == 0 && offsets(n_entries - 1) == static_cast<int64_t>(n_steps),
            "offsets: must start and end with the data");
}

template <class State>
Tuple<AnyNumpy, Numpy<double>> decoded(const HmmLogs &logs, const HmmObservations &observations, ViterbiMethod method,
                                       int n_threads, PythonPoll &poll) {
    Buffer<State> paths(observations.offsets[observations.n_sequences]);
    std::vector<double> scores(observations.n_sequences);
    {
        nb::gil_scoped_release released;
        viterbi(logs, observations, method, n_threads, paths.data(), scores.data(), std::ref(poll));
    }
    poll.rethrow();
    return nb::make_tuple(to_numpy(std::move(paths)), to_numpy(std::move(scores)));
}

ViterbiMethod method_of(const std::string &name) {
    if (name == "auto") return ViterbiMethod::automatic;
    if (name == "sweep") return ViterbiMethod::sweep;
    if (name == "early") return ViterbiMethod::early;
    require(name == "products", "method: must be auto, sweep, early or products");
    return ViterbiMethod::products;
}

Tuple<AnyNumpy, Numpy<double>> decode(const HmmLogs &logs, const HmmObservations &observations,
                                      const std::string &method, int n_threads, Progress progress) {
    PythonPoll poll(progress);
    const ViterbiMethod chosen = method_of(method);
    if (logs.n_states <= 256) return decoded<uint8_t>(logs, observations, chosen, n_threads, poll);
    return decoded<uint16_t>(logs, observations, chosen, n_threads, poll);
}

Tuple<AnyNumpy, Numpy<double>> codes(Array<double, 1> start, Array<double, 2> transition, Array<double, 2> emission,
                                     Array<uint8_t, 1> codes, Array<int64_t, 1> offsets, int n_threads,
                                     Progress progress, const std::string &method) {
    require_threads(n_threads);
    require_progress(progress);
    HmmLogs logs = checked_logs(start, transition);
    require(emission.shape(0) == start.size(), "emission: must have a row per state");
    require(emission.shape(1) >= 1 && emission.shape(1) <= 256, "emission: must have 1 to 256 symbols");
    require_logs(emission.data(), emission.size(), "emission");
    logs.n_symbols = static_cast<int32_t>(emission.shape(1)), logs.emission = emission.data();
    checked_offsets(offsets, codes.size());
    require_codes(codes.data(), codes.size(), logs.n_symbols, "codes");
    return decode(logs, {codes.data(), nullptr, offsets.data(), static_cast<int64_t>(offsets.size()) - 1}, method,
                  n_threads, progress);
}

Tuple<AnyNumpy, Numpy<double>> frames(Array<double, 1> start, Array<double, 2> transition, Array<double, 2> frames,
                                      Array<int64_t, 1> offsets, int n_threads, Progress progress,
                                      const std::string &method) {
    require_threads(n_threads);
    require_progress(progress);
    const HmmLogs logs = checked_logs(start, transition);
    require(frames.shape(1) == start.size(), "frames: must have a column per state");
    require_logs(frames.data(), frames.size(), "frames");
    checked_offsets(offsets, frames.shape(0));
    return decode(logs, {nullptr, frames.data(), offsets.data(), static_cast<int64_t>(offsets.size()) - 1}, method,
                  n_threads, progress);
}

}  // namespace
}  // namespace tropalign

void bind_hmm_viterbi(nb::module_ &m) {
    using namespace tropalign;
    m.def("viterbi_codes", &codes, array("start"), array("transition"), array("emission"), array("codes"),
          array("offsets"), "n_threads"_a = 1, "progress"_a = nb::none(), "method"_a = "auto",
          "Find the best path of each sequence of codes, and its score, from logarithms.");
    m.def("viterbi_frames", &frames, array("start"), array("transition"), array("frames"), array("offsets"),
          "n_threads"_a = 1, "progress"_a = nb::none(), "method"_a = "auto",
          "Like viterbi_codes, with emission scores `frames` [n, l] of each state at each step.");
}
