#include "parsers.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <queue>

#include "../compute/scratch.hpp"
#include "../simd/denormals.hpp"
#include "../simd/dispatch.hpp"
#include "float_tables.hpp"

namespace tropalign {

TROPALIGN_DISPATCH(ParserKernels, parser_kernels)

namespace {

enum class ParserSlot { cells, count };
thread_local Scratch<ParserSlot> parser_scratch;

/// Return indices into `targets` of non-empty targets, the longest first.
std::vector<size_t> order_of(const TargetBlock &block, Targets targets) {
    std::vector<size_t> order(targets.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::erase_if(order, [&](size_t k) { return block.length(targets[k]) == 0; });
    std::ranges::stable_sort(order, std::ranges::greater{}, [&](size_t k) { return block.length(targets[k]); });
    return order;
}

class Queue : public ParserQueue {
  public:
    Queue(const TargetBlock &block, Targets targets, std::vector<size_t> order)
        : ParserQueue(order.size()), block_(block), targets_(targets), order_(std::move(order)) {}

    int32_t length(size_t k) const { return block_.length(targets_[order_[k]]); }

  protected:
    /// Index in `targets` of the k-th target to be taken.
    size_t place(size_t k) const { return order_[k]; }
    ParserTarget given(size_t k) const {
        const int32_t target = targets_[order_[k]], L = length(k);
        const LengthOdds odds = length_odds(L);
        return {block_.codes(target), L, odds.loop, odds.move, nullptr, nullptr};
    }

  private:
    const TargetBlock &block_;
    Targets targets_;
    std::vector<size_t> order_;
};

class ScoreQueue : public Queue {
  public:
    ScoreQueue(const TargetBlock &block, Targets targets, float *nats)
        : Queue(block, targets, order_of(block, targets)), nats_(nats) {}
    ParserTarget begin(size_t k) override { return given(k); }
    void end(size_t k, const ParserResult &found) override { nats_[place(k)] = found.nats; }

  private:
    float *nats_;
};

class ForwardQueue : public Queue {
  public:
    ForwardQueue(const TargetBlock &block, Targets targets, ParsedTarget *out, const KeepRows &keep)
        : Queue(block, targets, order_of(block, targets)), out_(out), keep_(keep) {}

    ParserTarget begin(size_t k) override {
        std::vector<float> &rows = out_[place(k)].forward;
        if (!spare_.empty()) rows = std::move(spare_.back()), spare_.pop_back();
        ParserTarget target = given(k);
        rows.resize(static_cast<size_t>(target.L + 1) * kSpecials);
        target.rows = rows.data();
        return target;
    }
    void end(size_t k, const ParserResult &found) override {
        ParsedTarget &out = out_[place(k)];
        out.forward_nats = found.nats;
        if (!keep_ || keep_(place(k), found.nats)) return;
        spare_.push_back(std::move(out.forward));
        out.forward = {};
    }

  private:
    ParsedTarget *out_;
    const KeepRows &keep_;
    std::vector<std::vector<float>> spare_;
};

class BackwardQueue : public Queue {
  public:
    BackwardQueue(const TargetBlock &block, Targets targets, ParsedTarget *inout)
        : Queue(block, targets, order_of(block, targets)), inout_(inout) {}

    ParserTarget begin(size_t k) override {
        ParsedTarget &inout = inout_[place(k)];
        ParserTarget target = given(k);
        inout.backward.resize(inout.forward.size());
        target.rows = inout.backward.data(), target.forward = inout.forward.data();
        return target;
    }
    void end(size_t k, const ParserResult &found) override {
        ParsedTarget &inout = inout_[place(k)];
        inout.backward_nats = found.nats, inout.own_scales = found.own_scales;
    }

  private:
    ParsedTarget *inout_;
};

/// Return how many rows pass until all targets are done, if a free lane takes the next one.
int64_t rows_until_done(const Queue &queue, size_t n_lanes) {
    std::priority_queue<int64_t, std::vector<int64_t>, std::greater<>> ends;  // rows at which lanes become free
    int64_t last = 0;
    for (size_t k = 0; k < queue.size; ++k) {
        int64_t end = queue.length(k);
        if (k >= n_lanes) end += ends.top(), ends.pop();
        ends.push(end);
        last = std::max(last, end);
    }
    return last;
}

/// Cost of a row of 1, 2 and 4 groups relative to one: measured on a Zen 4 with AVX2 (1.5) and AVX-512 (1.6, 2.9)
/// and models of 70 to 2,200 nodes.
constexpr float kRowCosts[] = {1, 1.55F, 2.9F};

/// Return log2 of the cheapest number of groups. Few targets per model pass the filters: with the most groups, two
/// thirds of AVX-512's lanes would be idle.
int cheapest_groups(const Queue &queue, const ParserKernels &kernels) {
    int cheapest = 0;
    float least = std::numeric_limits<float>::infinity();
    for (int log = 0; 1 << log <= kernels.most_groups; ++log) {
        const auto n_lanes = static_cast<size_t>(kernels.n_quads) << log;
        const float cost = kRowCosts[log] * static_cast<float>(rows_until_done(queue, n_lanes));
        if (cost < least) least = cost, cheapest = log;
    }
    return cheapest;
}

/// Run the kernel with the cheapest number of groups.
void run(const FloatTables &tables, Queue &queue, decltype(&ParserKernels::forward) kernels) {
    const DenormalsAsZero guard;
    const ParserKernels &table = *selected_parser_kernels();
    const int log_groups = cheapest_groups(queue, table);
    const size_t size = (size_t{3} * 4 * sizeof(float) * table.n_quads * tables.Q) << log_groups;
    parser_scratch.begin(Scratch<ParserSlot>::taken(size));
    (table.*kernels)[log_groups](tables, queue, static_cast<float *>(parser_scratch.get(ParserSlot::cells, size)));
}

constexpr float kNatsOfEmpty = -std::numeric_limits<float>::infinity();

}  // namespace

ParserQueue::~ParserQueue() = default;

LengthOdds length_odds(int32_t L) {
    const float move = 3.0f / (static_cast<float>(L) + 3.0f);
    return {1.0f - move, move};
}

void forward_scores(const SearchModel &model, const TargetBlock &block, Targets targets, float *nats) {
    std::fill_n(nats, targets.size(), kNatsOfEmpty);
    ScoreQueue queue(block, targets, nats);
    run(model.floats(), queue, &ParserKernels::forward);
}

void forward_parse(const SearchModel &model, const TargetBlock &block, Targets targets, ParsedTarget *out,
                   const KeepRows &keep) {
    for (size_t k = 0; k < targets.size(); ++k) {
        if (block.length(targets[k]) > 0) continue;
        out[k].forward_nats = kNatsOfEmpty;
        if (!keep || keep(k, kNatsOfEmpty)) out[k].forward = {0, 1, 0, length_odds(0).move, 0, 1};
    }
    ForwardQueue queue(block, targets, out, keep);
    run(model.floats(), queue, &ParserKernels::forward);
}

void backward_parse(const SearchModel &model, const TargetBlock &block, Targets targets, ParsedTarget *inout) {
    BackwardQueue queue(block, targets, inout);
    run(model.floats(), queue, &ParserKernels::backward);
}

}  // namespace tropalign
