// Division of a search into work items, per model:
//
//     chunks of targets:    | | | | | | | |   MSV
//     groups of survivors:  |   |   |   |     biased composition, Viterbi
//     groups of survivors:  |  |  |  |  |     Forward, domains
//
// Chunks and groups hold targets of neighbouring lengths, so that the targets that share a register end together.
// The survivors of a stage are grouped when its last item of that model is done, and are processed before the
// waiting items: so few survivors are held at a time, while other threads still filter for other models.
#include "pipeline.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <iterator>
#include <mutex>
#include <numeric>

#include "../compute/growing_work.hpp"
#include "bias.hpp"
#include "lengths.hpp"
#include "msv.hpp"
#include "p_values.hpp"
#include "parsers.hpp"
#include "viterbi.hpp"

namespace tropalign {
namespace {

/// Residues of a chunk: codes that stay in a core's cache while several models scan them.
constexpr int64_t kLeastChunk = 32 << 10, kMostChunk = 256 << 10;
/// Models that scan a chunk one after another.
constexpr int64_t kModelsPerChunk = 8;
/// Items of a stage that each thread should get, so that all end at about the same time.
constexpr int64_t kItemsPerThread = 8;

/// Size of a group: the fewest targets that fill the lanes of its stage, the most that are held at a time with all
/// their scores, and the cells at which it is full.
struct GroupSize {
    size_t least, most;
    int64_t cells;
};
constexpr GroupSize kFilterGroup{64, 512, 1 << 26}, kDomainGroup{16, 128, 1 << 24};

enum class Stage { msv, filters, domains };

struct Group {
    std::vector<int32_t> targets;
    std::vector<float> nats;  ///< Scores: for the filters MSV's, for the domains those of the null model.
    std::vector<float> viterbi_nats;
};

struct Item {
    Stage stage;
    int32_t model;
    Targets chunk;  ///< The targets of an MSV item.
    Group group;    ///< The targets of any other item.
};

/// State of a model in the pipeline.
struct State {
    std::mutex mutex;
    int64_t n_waiting = 0;  ///< Unfinished items of the present stage.
    Group passed;           ///< Targets that passed the present stage.
};

/// Sort the longest first: the costliest items start first.
void sort_by_length(const TargetBlock &block, Group &group) {
    std::vector<size_t> order(group.targets.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::sort(order, [&](size_t a, size_t b) {
        const int32_t target_a = group.targets[a], target_b = group.targets[b];
        const int32_t length_a = block.length(target_a), length_b = block.length(target_b);
        return length_a != length_b ? length_a > length_b : target_a < target_b;
    });
    auto sort = [&]<class T>(std::vector<T> &values) {
        if (values.empty()) return;
        std::vector<T> sorted;
        sorted.reserve(values.size());
        for (const size_t k : order) sorted.push_back(values[k]);
        values = std::move(sorted);
    };
    sort(group.targets), sort(group.nats), sort(group.viterbi_nats);
}

/// Return runs of neighbours of about `most_residues` residues, starting at the first target that is not empty,
/// and not ending within a group.
std::vector<Targets> chunks_of(const TargetBlock &block, int64_t most_residues) {
    const Targets all = block.by_length();
    std::vector<Targets> chunks;
    size_t begin = 0;
    while (begin < all.size() && block.length(all[begin]) == 0) ++begin;
    int64_t residues = 0;
    for (size_t k = begin; k < all.size(); ++k) {
        residues += block.length(all[k]);
        const bool is_enough = residues >= most_residues && block.group_of(k + 1).lane == 0;
        if (!is_enough && k + 1 < all.size()) continue;
        chunks.push_back(all.subspan(begin, k + 1 - begin));
        begin = k + 1, residues = 0;
    }
    return chunks;
}

class Pipeline {
  public:
    Pipeline(SearchModels models, const TargetBlock &block, const PipelineOptions &options, int n_threads)
        : models_(models), block_(block), options_(options), n_threads_(n_threads), states_(models.size()) {
        result_.by_model.resize(models.size());
        result_.by_target.resize(static_cast<size_t>(block.size()));
        result_.hits.resize(models.size());
    }

    /// Add all targets of all models.
    void add_chunks();
    /// Add the targets that passed the MSV filter.
    void add_survivors(std::vector<Survivors> survivors);
    SearchResult run(const Poll &poll);

  private:
    void work(const Item &item);
    Group filter_by_msv(const Item &item);
    Group filter_by_viterbi(const Item &item);
    void find(const Item &item);
    void finish(const Item &item, const Group &passed);
    void add_groups(Stage stage, int32_t model, Group group);
    void count(const Item &item, Filter filter, Targets passed);

    const SearchModel &model(const Item &item) const { return *models_[static_cast<size_t>(item.model)]; }
    State &state(const Item &item) { return states_[static_cast<size_t>(item.model)]; }

    const SearchModels models_;
    const TargetBlock &block_;
    const PipelineOptions options_;
    const int n_threads_;
    std::vector<State> states_;
    GrowingWork<Item> items_;
    std::atomic<int64_t> n_decided_{0};
    std::mutex mutex_;  // guards the result
    SearchResult result_;
};

void Pipeline::add_chunks() {
    int64_t residues = 0;
    for (int32_t k = 0; k < block_.size(); ++k) residues += block_.length(k);
    const auto n_models = static_cast<int64_t>(models_.size());
    const int64_t even = residues * n_models / (kItemsPerThread * n_threads_);
    const std::vector<Targets> chunks = chunks_of(block_, std::clamp(even, kLeastChunk, kMostChunk));
    std::vector<Item> items;
    for (int64_t first = 0; first < n_models; first += kModelsPerChunk)
        for (const Targets &chunk : chunks)
            for (int64_t k = first; k < std::min(first + kModelsPerChunk, n_models); ++k)
                items.push_back({Stage::msv, static_cast<int32_t>(k), chunk, {}});
    for (State &state : states_) state.n_waiting = static_cast<int64_t>(chunks.size());
    items_.add_last(std::move(items));
}

void Pipeline::add_survivors(std::vector<Survivors> survivors) {
    for (size_t k = 0; k < survivors.size(); ++k) {
        const auto model = static_cast<int32_t>(k);
        count({Stage::msv, model, {}, {}}, Filter::msv, survivors[k].targets);
        Survivors &own = survivors[k];
        add_groups(Stage::filters, model,
                   {std::move(own.targets), std::move(own.msv_nats), std::move(own.viterbi_nats)});
    }
}

SearchResult Pipeline::run(const Poll &poll) {
    items_.run(n_threads_, [this](const Item &item) { work(item); }, [&] { return poll(n_decided_.load()); });
    for (std::vector<TargetHit> &hits : result_.hits) std::ranges::sort(hits, {}, &TargetHit::target);
    return std::move(result_);
}

void Pipeline::work(const Item &item) {
    if (item.stage == Stage::domains) return find(item);
    finish(item, item.stage == Stage::msv ? filter_by_msv(item) : filter_by_viterbi(item));
}

Group Pipeline::filter_by_msv(const Item &item) {
    Group passed;
    msv_filter(model(item), block_, item.chunk, options_.f1, passed.targets, passed.nats);
    count(item, Filter::msv, passed.targets);
    n_decided_ += static_cast<int64_t>(item.chunk.size() - passed.targets.size());
    return passed;
}

Group Pipeline::filter_by_viterbi(const Item &item) {
    const ProfileModel &plain = model(item).plain();
    const Group &group = item.group;
    const size_t n = group.targets.size();
    std::vector<float> nulls(n);
    if (options_.bias_filter) bias_scores(model(item), block_, group.targets, nulls.data());
    else
        for (size_t k = 0; k < n; ++k) nulls[k] = null1_nats(block_.length(group.targets[k]));

    Group passed, asked;  // asked: need their Viterbi scores
    for (size_t k = 0; k < n; ++k) {
        const double p = gumbel_p(bits_of(group.nats[k], nulls[k]), plain.msv_mu, plain.msv_lambda);
        if (options_.bias_filter && p > options_.f1) continue;
        Group &to = p > options_.f2 ? asked : passed;
        to.targets.push_back(group.targets[k]);
        to.nats.push_back(nulls[k]);
        if (p > options_.f2 && !group.viterbi_nats.empty()) asked.viterbi_nats.push_back(group.viterbi_nats[k]);
    }
    count(item, Filter::bias, passed.targets);
    count(item, Filter::bias, asked.targets);
    if (asked.viterbi_nats.empty()) {
        asked.viterbi_nats.resize(asked.targets.size());
        viterbi_scores(model(item), block_, asked.targets, asked.viterbi_nats.data());
    }
    for (size_t k = 0; k < asked.targets.size(); ++k) {
        const double bits = bits_of(asked.viterbi_nats[k], asked.nats[k]);
        if (gumbel_p(bits, plain.viterbi_mu, plain.viterbi_lambda) > options_.f2) continue;
        passed.targets.push_back(asked.targets[k]);
        passed.nats.push_back(asked.nats[k]);
    }
    count(item, Filter::viterbi, passed.targets);
    n_decided_ += static_cast<int64_t>(n - passed.targets.size());
    return passed;
}

void Pipeline::find(const Item &item) {
    const ProfileModel &plain = model(item).plain();
    const Group &group = item.group;
    auto passes = [&](size_t k, float nats) {
        return exponential_p(bits_of(nats, group.nats[k]), plain.forward_tau, plain.forward_lambda) <= options_.f3;
    };
    std::vector<ParsedTarget> parsed(group.targets.size());
    forward_parse(model(item), block_, group.targets, parsed.data(), passes);
    std::vector<int32_t> passed;
    for (size_t k = 0; k < group.targets.size(); ++k) {
        if (!passes(k, parsed[k].forward_nats)) continue;
        if (passed.size() < k) parsed[passed.size()] = std::move(parsed[k]);
        passed.push_back(group.targets[k]);
    }
    count(item, Filter::forward, passed);
    std::vector<TargetHit> hits;
    find_domains(model(item), block_, passed, parsed.data(), options_.domains, hits);
    std::erase_if(hits, [&](const TargetHit &hit) { return !options_.reporting.keeps(hit, item.model); });
    {
        std::lock_guard lock(mutex_);
        std::ranges::move(hits, std::back_inserter(result_.hits[static_cast<size_t>(item.model)]));
    }
    n_decided_ += static_cast<int64_t>(group.targets.size());
}

/// Collect the targets that passed; the last item of a stage hands them all to the next stage.
void Pipeline::finish(const Item &item, const Group &passed) {
    State &own = state(item);
    Group all;
    {
        std::lock_guard lock(own.mutex);
        std::ranges::copy(passed.targets, std::back_inserter(own.passed.targets));
        std::ranges::copy(passed.nats, std::back_inserter(own.passed.nats));
        if (--own.n_waiting > 0) return;
        std::swap(all, own.passed);
    }
    add_groups(item.stage == Stage::msv ? Stage::filters : Stage::domains, item.model, std::move(all));
}

void Pipeline::add_groups(Stage stage, int32_t model, Group group) {
    sort_by_length(block_, group);
    const GroupSize size = stage == Stage::filters ? kFilterGroup : kDomainGroup;
    // A single thread takes one item: several would leave lanes idle at the end of each.
    const int64_t n_wanted = n_threads_ == 1 ? 1 : kItemsPerThread * n_threads_ / static_cast<int64_t>(models_.size());
    const size_t n = group.targets.size(), even = n / static_cast<size_t>(std::max(n_wanted, int64_t{1}));
    const size_t n_groups = n / std::clamp(even, size.least, size.most) + 1, most = (n + n_groups - 1) / n_groups;
    const int64_t M = models_[static_cast<size_t>(model)]->plain().M;
    std::vector<Item> items;
    for (size_t begin = 0, end; begin < n; begin = end) {
        int64_t cells = 0;
        for (end = begin; end < std::min(begin + most, n); ++end) {
            if (end - begin >= size.least && cells >= size.cells) break;
            cells += block_.length(group.targets[end]) * M;
        }
        auto part = [&]<class T>(const std::vector<T> &values) {
            if (values.empty()) return std::vector<T>();
            return std::vector<T>(values.begin() + static_cast<ptrdiff_t>(begin),
                                  values.begin() + static_cast<ptrdiff_t>(end));
        };
        items.push_back({stage, model, {}, {part(group.targets), part(group.nats), part(group.viterbi_nats)}});
    }
    states_[static_cast<size_t>(model)].n_waiting = static_cast<int64_t>(items.size());
    items_.add_first(std::move(items));
}

void Pipeline::count(const Item &item, Filter filter, Targets passed) {
    const auto k = static_cast<size_t>(filter);
    std::lock_guard lock(mutex_);
    result_.by_model[static_cast<size_t>(item.model)][k] += static_cast<int64_t>(passed.size());
    for (const int32_t target : passed) ++result_.by_target[static_cast<size_t>(target)][k];
}

}  // namespace

bool Reporting::keeps(const TargetHit &hit, int32_t model) const {
    const int64_t number = n_before + 1 + (is_scan ? model : hit.target);
    const double n_targets = Z > 0 ? Z : static_cast<double>(number);
    constexpr double kRounding = 1 + 1e-9;  // Python decides in the end, so no hit may be lost here
    return hit.bits >= T && std::exp(hit.log_p) * n_targets <= E * kRounding;
}

SearchResult search_block(SearchModels models, const TargetBlock &block, const PipelineOptions &options, int n_threads,
                          const Poll &poll) {
    Pipeline pipeline(models, block, options, n_threads);
    pipeline.add_chunks();
    return pipeline.run(poll);
}

SearchResult finish_block(SearchModels models, const TargetBlock &block, std::vector<Survivors> survivors,
                          const PipelineOptions &options, int n_threads, const Poll &poll) {
    Pipeline pipeline(models, block, options, n_threads);
    pipeline.add_survivors(std::move(survivors));
    return pipeline.run(poll);
}

}  // namespace tropalign
