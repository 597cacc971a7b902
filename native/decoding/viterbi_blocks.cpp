#include "viterbi_blocks.hpp"

#include <atomic>
#include <cmath>
#include <deque>

#include "../compute/parallel.hpp"

namespace tropalign {
namespace {

/// Bytes of A of a block: alternating streams stay in the second cache.
constexpr int64_t kBlockBytes = 128 << 10;
/// Maximum bytes of V at the starts of blocks.
constexpr int64_t kMostBeginnings = 64 << 20;
/// Number of steps by which a block that does not wait starts early, and its traceback late.
constexpr int64_t kEarly = 4 * kStepsPerShift;
/// Blocks per thread between two checks.
constexpr int64_t kWave = 16;

/// True if two vectors of values differ by a constant, excluding states without a path.
bool same_but_for_a_constant(const double *a, const double *b, int32_t n) {
    double difference = 0;
    bool is_known = false, is_same = true;
    for (int32_t s = 0; s < n; ++s) {
        if (a[s] == kImpossible || b[s] == kImpossible) {
            is_same &= a[s] == b[s];
            continue;
        }
        if (!is_known) difference = a[s] - b[s];
        is_known = true;
        is_same &= a[s] - b[s] == difference;
    }
    return is_same;
}

template <class State>
class LongPath {
  public:
    LongPath(const ViterbiModel &model, const ViterbiSweep &sweep, const ViterbiSteps &steps, int64_t block,
             int n_threads, State *path, const Poll &poll)
        : model_(model), sweep_(sweep), steps_(steps), block_(block), n_blocks_((steps.n + block - 1) / block),
          n_threads_(n_threads), turns_(model.stride <= kMostTurning ? kMostStreams : 1), path_(path), poll_(poll),
          values_((n_blocks_ + 1) * int64_t{model.stride}) {
        for (int t = 0; t < n_threads; ++t) rooms_.emplace_back(model);
    }

    bool find(ViterbiMethod method) {
        is_exact_ = method != ViterbiMethod::sweep && sums_are_exact();
        if (is_exact_) is_exact_ = method == ViterbiMethod::products ? begin_by_products(0) : begin_early();
        if (!is_exact_) begin_one_by_one(0);
        const int64_t last = best_state(model_, values(n_blocks_));
        if (stopped_ || last < 0) return false;
        path_[steps_.n - 1] = static_cast<State>(last);
        is_exact_ ? go_back_late() : go_back_one_by_one(n_blocks_);
        return !stopped_;
    }

  private:
    const ViterbiModel &model_;
    const ViterbiSweep &sweep_;
    const ViterbiSteps &steps_;
    const int64_t block_, n_blocks_;
    const int n_threads_;
    /// Blocks that a thread processes in alternation: one with many states fills the processor alone.
    const int turns_;
    State *const path_;
    const Poll &poll_;
    Buffer<double> values_;  // V before each block, and after the last
    std::deque<ViterbiRoom> rooms_;
    std::atomic<int64_t> done_{0};
    bool stopped_ = false;
    bool is_exact_ = false;  // as far as is known; if so, blocks need not wait and words can be used

    double *values(int64_t b) { return values_.data() + b * model_.stride; }
    int64_t begin_of(int64_t b) const { return b * block_; }
    int64_t end_of(int64_t b) const { return std::min(steps_.n, (b + 1) * block_); }
    int64_t wave() const { return kWave * turns_ * n_threads_; }
    void copy(const double *from, double *to) const { std::copy(from, from + model_.stride, to); }

    /// Call work(thread, k) for [0, n), over threads or one after the other; false if stopped. Progress counts half,
    /// because blocks are processed twice.
    template <class Work>
    bool run(int n_threads, int64_t n, Work work) {
        if (!stopped_) stopped_ = !parallel(n_threads, n, 1, work, [&](int64_t) { return poll_(done_.load() / 2); });
        return !stopped_;
    }

    void forward(ForwardStream *streams, int64_t n, int thread) {
        double *scratch = rooms_[thread].scratch();
        is_exact_ ? sweep_.forward(streams, n, scratch) : sweep_.forward_singly(streams, n, scratch);
    }
    void trace(TraceStream<State> *streams, int64_t n, int thread) {
        double *scratch = rooms_[thread].scratch();
        is_exact_ ? sweep_.trace(streams, n, scratch) : sweep_.trace_singly(streams, n, scratch);
    }

    bool sums_are_exact() const {
        bool are_small = model_.largest <= kMostExact;
        if (steps_.frames)
            for (int64_t k = 0; k < steps_.n * model_.n_states; ++k)
                are_small &= steps_.frames[k] == kImpossible || std::abs(steps_.frames[k]) <= kMostExact;
        return are_small;
    }

    /// Compute V after block b from V before it.
    bool pass(int64_t b, int thread) {
        if (b) copy(values(b), values(b + 1));
        ForwardStream stream{steps_, begin_of(b), end_of(b), values(b + 1), nullptr};
        forward(&stream, 1, thread);
        return stream.is_exact;
    }

    /// Compute the initial values of the blocks; false if sums are not exact.
    bool begin_one_by_one(int64_t first) {
        if (first == 0) done_ = 0;
        bool is_exact = true;
        run(1, n_blocks_ - first, [&](int, int64_t k) {
            is_exact &= pass(first + k, 0);
            done_ += block_;
        });
        return is_exact;
    }

    /// Compute V after each of n blocks starting at b; all except block 0 start early. `guesses` gets V before each.
    bool pass_early(int64_t b, int64_t n, double *guesses, int thread) {
        ForwardStream streams[kMostStreams];
        int64_t n_early = 0;
        for (int64_t k = 0; k < n; ++k) {
            if (b + k == 0) continue;
            double *guess = guesses + k * model_.stride;
            std::fill(guess, guess + model_.stride, kImpossible);
            std::fill(guess, guess + model_.n_states, 0.0);
            const int64_t begin = begin_of(b + k);
            streams[n_early++] = {steps_, std::max<int64_t>(begin - kEarly, kStepsPerShift), begin, guess, nullptr};
        }
        forward(streams, n_early, thread);
        bool is_exact = true;
        for (int64_t k = 0; k < n_early; ++k) is_exact &= streams[k].is_exact;
        for (int64_t k = 0; k < n; ++k) {
            if (b + k) copy(guesses + k * model_.stride, values(b + k + 1));
            streams[k] = {steps_, begin_of(b + k), end_of(b + k), values(b + k + 1), nullptr};
        }
        forward(streams, n, thread);
        for (int64_t k = 0; k < n; ++k) is_exact &= streams[k].is_exact;
        return is_exact;
    }

    /// Compute the initial values of the blocks; false if sums are not exact.
    bool begin_early() {
        Buffer<double> guesses(wave() * model_.stride);
        std::atomic<bool> are_exact{true};
        for (int64_t first = 0; first < n_blocks_ && !stopped_; first += wave()) {
            const int64_t n = std::min(wave(), n_blocks_ - first);
            run(n_threads_, (n + turns_ - 1) / turns_, [&](int thread, int64_t item) {
                const int64_t k = item * turns_, n_here = std::min<int64_t>(turns_, n - k);
                if (!pass_early(first + k, n_here, guesses.data() + k * model_.stride, thread)) are_exact = false;
                done_ += n_here * block_;
            });
            int64_t n_wrong = 0;
            for (int64_t k = 0; k < n && !stopped_; ++k) {
                const int64_t b = first + k;
                const double *guess = guesses.data() + k * model_.stride;
                if (b == 0 || same_but_for_a_constant(guess, values(b), model_.n_states)) continue;
                ++n_wrong;
                if (!pass(b, 0)) are_exact = false;
            }
            if (!are_exact) return false;
            if (2 * n_wrong > n) {
                const bool pays = n_threads_ > 2 * model_.n_states;  // a product costs as much as n_states sweeps
                return pays ? begin_by_products(first + n) : begin_one_by_one(first + n);
            }
        }
        return true;
    }

    /// Compute the product of the matrices of block b: V after it from each state before it, minus the highest of
    /// them.
    bool multiply(int64_t b, double *product, int thread) {
        std::vector<ForwardStream> streams;
        const int64_t l = model_.n_states, stride = model_.stride;
        for (int64_t r = 0; r < l; ++r) {
            double *row = product + r * stride;
            std::fill(row, row + stride, kImpossible);
            row[r] = 0;
            streams.push_back({steps_, begin_of(b), end_of(b), row, nullptr});
        }
        forward(streams.data(), l, thread);
        bool is_exact = true;
        for (int64_t r = 0; r < l; ++r) {
            is_exact &=
                streams[r].is_exact && streams[r].shifted >= kLowestExact && streams[r].shifted <= -kLowestExact;
            for (int64_t s = 0; s < l; ++s) product[r * stride + s] += streams[r].shifted;
        }
        return is_exact;
    }

    /// Compute the values of blocks from the known values at `begin` on; false if sums are not exact.
    bool begin_by_products(int64_t begin) {
        const int64_t l = model_.n_states, stride = model_.stride, n_at_once = 2 * n_threads_;
        Buffer<double> products(n_at_once * l * stride);
        std::atomic<bool> are_exact{begin > 0 || pass(0, 0)};
        for (int64_t first = std::max<int64_t>(begin, 1); first < n_blocks_ && !stopped_; first += n_at_once) {
            const int64_t n = std::min(n_at_once, n_blocks_ - first);
            run(n_threads_, n, [&](int thread, int64_t k) {
                if (!multiply(first + k, products.data() + k * l * stride, thread)) are_exact = false;
                done_ += block_;
            });
            if (!are_exact || stopped_) return false;
            for (int64_t k = 0; k < n; ++k)
                if (!apply(products.data() + k * l * stride, first + k)) are_exact = false;
            if (!are_exact) return false;
        }
        return true;
    }

    /// Compute V after block b from V before it and the block's product.
    bool apply(const double *product, int64_t b) {
        const int64_t l = model_.n_states, stride = model_.stride;
        const double *before = values(b);
        double *after = values(b + 1), highest = kImpossible;
        std::fill(after, after + stride, kImpossible);
        for (int64_t r = 0; r < l; ++r)
            for (int64_t s = 0; s < l; ++s) after[s] = std::max(after[s], before[r] + product[r * stride + s]);
        for (int64_t s = 0; s < l; ++s) highest = std::max(highest, after[s]);
        if (highest == kImpossible) return true;
        bool is_exact = true;
        for (int64_t s = 0; s < l; ++s) {
            after[s] -= highest;
            is_exact &= after[s] >= kLowestExact || after[s] == kImpossible;
        }
        return is_exact;
    }

    /// Find the states of block b from the state after it.
    void follow(int64_t b, int thread) {
        ViterbiRoom &room = rooms_[thread];
        const int64_t begin = begin_of(b), end = std::min(steps_.n, end_of(b) + 1);
        double *kept = room.kept(end - begin);
        if (b) copy(values(b), room.values(0));
        ForwardStream there{steps_, begin, end, room.values(0), kept};
        forward(&there, 1, thread);
        TraceStream<State> back{steps_, begin, end, kept, path_ + begin};
        trace(&back, 1, thread);
    }

    void go_back_one_by_one(int64_t end) {
        run(1, end, [&](int, int64_t k) {
            follow(end - 1 - k, 0);
            done_ += block_;
        });
    }

    /// Find the states of n blocks starting at b, traced back from some steps after them; `guesses` gets the state
    /// after each.
    void follow_late(int64_t b, int64_t n, State *guesses, int thread) {
        ViterbiRoom &room = rooms_[thread];
        const int64_t most = block_ + 1 + kEarly;
        double *kept = room.kept(n * most);
        std::vector<State> states(n * most);
        ForwardStream there[kMostStreams];
        TraceStream<State> back[kMostStreams];
        for (int64_t k = 0; k < n; ++k) {
            if (b + k) copy(values(b + k), room.values(k));
            there[k] = {steps_, begin_of(b + k), std::min(steps_.n, end_of(b + k) + 1 + kEarly), room.values(k),
                        kept + k * most * model_.stride};
            back[k] = {steps_, there[k].next, there[k].end, there[k].kept, states.data() + k * most};
        }
        forward(there, n, thread);
        for (int64_t k = 0; k < n; ++k)
            back[k].path[back[k].end - 1 - back[k].first] =
                static_cast<State>(std::max<int64_t>(best_state(model_, room.values(k)), 0));
        trace(back, n, thread);
        for (int64_t k = 0; k < n; ++k) {
            const State *own = states.data() + k * most;
            const int64_t length = end_of(b + k) - begin_of(b + k);
            std::copy(own, own + length, path_ + begin_of(b + k));
            guesses[k] = own[length];
        }
    }

    void go_back_late() {
        std::vector<State> guesses(wave());
        for (int64_t end = n_blocks_; end > 0 && !stopped_; end -= wave()) {
            const int64_t first = std::max<int64_t>(end - wave(), 0), n = end - first;
            run(n_threads_, (n + turns_ - 1) / turns_, [&](int thread, int64_t item) {
                const int64_t k = item * turns_, n_here = std::min<int64_t>(turns_, n - k);
                follow_late(first + k, n_here, guesses.data() + k, thread);
                done_ += n_here * block_;
            });
            int64_t n_wrong = 0;
            for (int64_t b = end - 1; b >= first && !stopped_; --b) {
                if (b == n_blocks_ - 1 || guesses[b - first] == path_[end_of(b)]) continue;
                ++n_wrong;
                follow(b, 0);
            }
            if (2 * n_wrong > n) return go_back_one_by_one(first);
        }
    }
};

}  // namespace

int64_t viterbi_block(const ViterbiModel &model, int64_t n_steps) {
    const int64_t row = int64_t{model.stride} * 8, fast = kBlockBytes / row, little = n_steps * row / kMostBeginnings;
    return (std::max({fast, little, 2 * kEarly}) + kStepsPerShift - 1) / kStepsPerShift * kStepsPerShift;
}

template <class State>
bool path_in_blocks(const ViterbiModel &model, const ViterbiSweep &sweep, const ViterbiSteps &steps, int64_t block,
                    ViterbiMethod method, int n_threads, State *path, const Poll &poll) {
    return LongPath<State>(model, sweep, steps, block, n_threads, path, poll).find(method);
}

template bool path_in_blocks(const ViterbiModel &, const ViterbiSweep &, const ViterbiSteps &, int64_t, ViterbiMethod,
                             int, uint8_t *, const Poll &);
template bool path_in_blocks(const ViterbiModel &, const ViterbiSweep &, const ViterbiSteps &, int64_t, ViterbiMethod,
                             int, uint16_t *, const Poll &);

}  // namespace tropalign
