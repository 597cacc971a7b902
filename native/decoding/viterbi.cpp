#include "viterbi.hpp"

#include <algorithm>
#include <atomic>
#include <deque>
#include <numeric>
#include <vector>

#include "../compute/parallel.hpp"
#include "viterbi_blocks.hpp"
#include "viterbi_sweep.hpp"

namespace tropalign {
namespace {

/// Bytes of A that a thread keeps for whole sequences; longer ones are processed in blocks.
constexpr int64_t kMostKept = 32 << 20;
/// A sequence with more work than this (steps times states squared) is processed in blocks if threads would be
/// idle.
constexpr int64_t kWorthThreads = 1 << 22;
/// Less work than this needs no threads: starting one takes about 20 microseconds.
constexpr int64_t kQuick = 1 << 20;

/// A path and the sum of its logarithms from left to right, so far.
template <class State>
struct ScoredPath {
    ViterbiSteps steps;
    const State *path;
    double score = 0;
};

/// Return the emission of the state at step k.
template <bool kHasCodes>
[[gnu::always_inline]] inline double emission_at(const HmmLogs &logs, const ViterbiSteps &steps, int64_t k,
                                                 int64_t state) {
    return kHasCodes ? logs.emission[state * logs.n_symbols + steps.codes[k]] : steps.frames[k * logs.n_states + state];
}

/// Add the logarithms of steps [begin, end) to the scores of Q paths, in alternation, since a sum waits for the
/// previous one. Only the very first step has no step before it.
template <bool kHasCodes, int Q, class State>
void add_steps(const HmmLogs &logs, ScoredPath<State> *paths, int64_t begin, int64_t end) {
    const HmmLogs own = logs;
    const int64_t l = own.n_states;
    ScoredPath<State> on[Q];
    const double *from[Q];
    for (int q = 0; q < Q; ++q) {
        on[q] = paths[q];
        from[q] = begin ? own.transition + on[q].path[begin - 1] * l : own.start;
    }
    for (int64_t k = begin; k < end; ++k) {
#pragma GCC unroll 4
        for (int q = 0; q < Q; ++q) {
            const int64_t state = on[q].path[k];
            on[q].score = (on[q].score + from[q][state]) + emission_at<kHasCodes>(own, on[q].steps, k, state);
            from[q] = own.transition + state * l;
        }
    }
    for (int q = 0; q < Q; ++q) paths[q].score = on[q].score;
}

template <bool kHasCodes, class State>
void score_in_turns(const HmmLogs &logs, ScoredPath<State> *paths, int64_t n) {
    int64_t common = 0;
    if (n == kMostStreams) {
        common = paths[0].steps.n;
        for (int64_t j = 1; j < n; ++j) common = std::min(common, paths[j].steps.n);
        add_steps<kHasCodes, kMostStreams>(logs, paths, 0, common);
    }
    for (int64_t j = 0; j < n; ++j) add_steps<kHasCodes, 1>(logs, paths + j, common, paths[j].steps.n);
}

template <class State>
void score_paths(const HmmLogs &logs, ScoredPath<State> *paths, int64_t n) {
    if (n && paths[0].steps.codes) score_in_turns<true>(logs, paths, n);
    else score_in_turns<false>(logs, paths, n);
}

template <class State>
class Batch {
  public:
    Batch(const HmmLogs &logs, const HmmObservations &observations, ViterbiMethod method, int n_threads, State *paths,
          double *scores, const Poll &poll)
        : logs_(logs), model_(logs), observations_(observations),
          sweep_(model_, method == ViterbiMethod::sweep ? 0 : n_symbols(), n_steps()), method_(method),
          n_threads_(n_threads), paths_(paths), scores_(scores), poll_(poll) {
        divide();
    }

    bool find() {
        for (const int64_t j : long_ones_)
            if (!take_long(j)) return false;
        const auto n_groups = static_cast<int64_t>(groups_.size()) - 1;
        std::deque<ViterbiRoom> rooms;
        for (int t = 0; t < useful_threads(n_threads_, n_groups, 1); ++t) rooms.emplace_back(model_);
        auto take = [&](int thread, int64_t g) {
            take_whole(short_ones_.data() + groups_[g], groups_[g + 1] - groups_[g], rooms[thread]);
        };
        if (steps_of_short_ * square() <= kQuick) {
            for (int64_t g = 0; g < n_groups; ++g) take(0, g);
            return poll_(done_);
        }
        return parallel(n_threads_, n_groups, 1, take, [&](int64_t) { return poll_(done_); });
    }

  private:
    const HmmLogs &logs_;
    const ViterbiModel model_;
    const HmmObservations &observations_;
    const ViterbiSweep sweep_;
    const ViterbiMethod method_;
    const int n_threads_;
    State *const paths_;
    double *const scores_;
    const Poll &poll_;
    std::vector<int64_t> long_ones_;   // sequences processed in blocks, one after the other on all threads
    std::vector<int64_t> short_ones_;  // the others, the longest first
    std::vector<int64_t> groups_{0};   // processed together: short_ones_[groups_[g]] up to groups_[g + 1]
    int64_t steps_of_short_ = 0;
    std::atomic<int64_t> done_{0};

    int64_t square() const { return int64_t{model_.stride} * model_.stride; }
    int64_t n_steps() const { return observations_.offsets[observations_.n_sequences]; }
    /// Return the highest code plus 1; the model's highest code, that of missing observations, often does not occur.
    int32_t n_symbols() const {
        if (!observations_.codes || !n_steps()) return 0;
        uint8_t highest = 0;
        for (int64_t k = 0; k < n_steps(); ++k) highest = std::max(highest, observations_.codes[k]);
        return highest + 1;
    }
    int64_t length(int64_t j) const { return observations_.offsets[j + 1] - observations_.offsets[j]; }
    ViterbiSteps steps(int64_t j) const {
        const int64_t begin = observations_.offsets[j];
        return {observations_.codes ? observations_.codes + begin : nullptr,
                observations_.frames ? observations_.frames + begin * logs_.n_states : nullptr, length(j)};
    }

    void divide() {
        const int64_t row = int64_t{model_.stride} * 8;
        for (int64_t j = 0; j < observations_.n_sequences; ++j) {
            const bool is_large = length(j) * row > kMostKept;
            const bool is_most =
                n_threads_ > 1 && length(j) * square() > kWorthThreads && length(j) > n_steps() / (2 * n_threads_);
            const bool is_asked_for = method_ != ViterbiMethod::automatic && length(j) > 0;
            (is_large || is_most || is_asked_for ? long_ones_ : short_ones_).push_back(j);
        }
        std::stable_sort(short_ones_.begin(), short_ones_.end(),
                         [&](int64_t a, int64_t b) { return length(a) > length(b); });
        int64_t bytes = 0;
        const auto n = static_cast<int64_t>(short_ones_.size());
        for (int64_t k = 0; k < n; ++k) {
            const int64_t needed = length(short_ones_[k]) * row;
            steps_of_short_ += length(short_ones_[k]);
            if (k > groups_.back() && (k - groups_.back() == kMostStreams || bytes + needed > kMostKept)) {
                groups_.push_back(k);
                bytes = 0;
            }
            bytes += needed;
        }
        if (n) groups_.push_back(n);
    }

    /// Set the result of a sequence without a possible path.
    void give_up(int64_t j) {
        State *path = paths_ + observations_.offsets[j];
        std::fill(path, path + length(j), State{0});
        scores_[j] = kImpossible;
    }

    bool take_long(int64_t j) {
        const ViterbiSteps all = steps(j);
        State *path = paths_ + observations_.offsets[j];
        const int64_t begun = done_;
        bool goes_on = true;
        const auto poll = [&](int64_t done) { return goes_on = poll_(begun + std::min(done, all.n)); };
        const bool waits = n_threads_ == 1 && model_.stride > kMostTurning && !sweep_.has_words();
        const ViterbiMethod method = method_ == ViterbiMethod::automatic && waits ? ViterbiMethod::sweep : method_;
        const bool is_found =
            path_in_blocks(model_, sweep_, all, viterbi_block(model_, all.n), method, n_threads_, path, poll);
        if (is_found) {
            ScoredPath<State> found{all, path};
            score_paths(logs_, &found, 1);
            scores_[j] = found.score;
        } else {
            give_up(j);
        }
        done_ += all.n;
        return goes_on;
    }

    /// Compute V of whole sequences in room.values, A in `kept`, one sequence after the other; false if sums are
    /// not exact.
    bool forward(const int64_t *sequences, int64_t n, bool in_words, ViterbiRoom &room, double *kept) {
        ForwardStream streams[kMostStreams];
        for (int64_t k = 0; k < n; ++k) {
            streams[k] = {steps(sequences[k]), 0, length(sequences[k]), room.values(k), kept};
            kept += length(sequences[k]) * model_.stride;
        }
        in_words ? sweep_.forward(streams, n, room.scratch()) : sweep_.forward_singly(streams, n, room.scratch());
        return std::all_of(streams, streams + n, [](const ForwardStream &stream) { return stream.is_exact; });
    }

    void take_whole(const int64_t *sequences, int64_t n, ViterbiRoom &room) {
        while (n > 0 && length(sequences[n - 1]) == 0) scores_[sequences[--n]] = 0;
        int64_t n_steps = 0;
        for (int64_t k = 0; k < n; ++k) n_steps += length(sequences[k]);
        double *kept = room.kept(n_steps);
        const bool in_words = sweep_.has_words() && forward(sequences, n, true, room, kept);
        if (!in_words) forward(sequences, n, false, room, kept);
        TraceStream<State> back[kMostStreams];
        int64_t n_back = 0, possible[kMostStreams];
        for (int64_t k = 0; k < n; ++k) {
            const int64_t j = sequences[k], state = best_state(model_, room.values(k));
            const double *kept_here = kept;
            kept += length(j) * model_.stride;
            if (state < 0) {
                give_up(j);
                continue;
            }
            State *path = paths_ + observations_.offsets[j];
            path[length(j) - 1] = static_cast<State>(state);
            possible[n_back] = j;
            back[n_back++] = {steps(j), 0, length(j), kept_here, path};
        }
        in_words ? sweep_.trace(back, n_back, room.scratch()) : sweep_.trace_singly(back, n_back, room.scratch());
        ScoredPath<State> found[kMostStreams];
        for (int64_t k = 0; k < n_back; ++k) found[k] = {steps(possible[k]), back[k].path};
        score_paths(logs_, found, n_back);
        for (int64_t k = 0; k < n_back; ++k) scores_[possible[k]] = found[k].score;
        done_ += n_steps;
    }
};

}  // namespace

template <class State>
bool viterbi(const HmmLogs &logs, const HmmObservations &observations, ViterbiMethod method, int n_threads,
             State *paths, double *scores, const Poll &poll) {
    return Batch<State>(logs, observations, method, n_threads, paths, scores, poll).find();
}

template bool viterbi(const HmmLogs &, const HmmObservations &, ViterbiMethod, int, uint8_t *, double *, const Poll &);
template bool viterbi(const HmmLogs &, const HmmObservations &, ViterbiMethod, int, uint16_t *, double *, const Poll &);

}  // namespace tropalign
