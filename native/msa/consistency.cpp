#include "consistency.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>

#include "../compute/parallel.hpp"
#include "consistency_tile.hpp"

namespace tropalign {
namespace {

/// Entries of the table of blocks, as long as one z needs no more.
constexpr size_t kTableEntries = size_t{1} << 20;

/// Some members x of a group against some members y.
struct Tile {
    const std::vector<int32_t> *members;
    int32_t x_begin, x_end, y_begin, y_end;  // among the members
};

/// A pair of a tile.
struct TilePair {
    int32_t x, y;   // places in the tile
    int64_t index;  // in the store
    std::vector<int64_t> sums;
};

class Pass {
  public:
    Pass(const PosteriorStore &store, const ConsistencyRule &rule)
        : store_(store), rule_(rule), weights_(store.n_sequences()), values_(store.n_pairs()) {
        highest_ = *std::max_element(rule.weights, rule.weights + store.n_sequences());
        for (int z = 0; z < store.n_sequences(); ++z)
            weights_[z] = highest_ > 0 ? static_cast<int32_t>(std::lround(rule.weights[z] / highest_ * kWeightOne)) : 0;
    }

    /// False: stopped.
    bool run(const Tile &tile, const std::atomic<bool> &stopped);

    /// New values of a pair; none where no z is between.
    std::unique_ptr<uint16_t[]> take(int64_t index) { return std::move(values_[index]); }

  private:
    std::vector<TilePair> pairs_of(const Tile &tile) const;
    /// The z from `begin` on, as x's columns or y's rows.
    std::vector<Between> between(const Tile &tile, size_t begin, size_t at_once, int32_t member, bool as_columns,
                               uint32_t &n_twins) const;
    void finish(const Tile &tile, const TilePair &pair);

    const PosteriorStore &store_;
    const ConsistencyRule &rule_;
    double highest_ = 0;
    std::vector<int32_t> weights_;
    std::vector<std::unique_ptr<uint16_t[]>> values_;
};

std::vector<TilePair> Pass::pairs_of(const Tile &tile) const {
    const auto &members = *tile.members;
    std::vector<TilePair> found;
    for (int32_t y = tile.y_begin; y < tile.y_end; ++y)
        for (int32_t x = tile.x_begin; x < std::min(tile.x_end, y); ++x)
            if (const int64_t index = store_.index(members[x], members[y]); index >= 0) {
                const SparseRows own = store_.forward(index);
                found.push_back({x - tile.x_begin, y - tile.y_begin, index,
                                 std::vector<int64_t>(own.starts[own.n_rows])});
            }
    return found;
}

std::vector<Between> Pass::between(const Tile &tile, size_t begin, size_t at_once, int32_t member, bool as_columns,
                                 uint32_t &n_twins) const {
    const auto &members = *tile.members;
    const size_t end = std::min(begin + at_once, members.size());
    std::vector<Between> found;
    n_twins = 0;
    for (size_t k = begin; k < end; ++k) {
        const int32_t z = members[k];
        Between made{{}, n_twins, weights_[z]};
        if (z != member && store_.has(member, z)) made.rows = as_columns ? store_.rows(member, z) : store_.rows(z, member);
        n_twins += static_cast<uint32_t>(store_.length(z) + 1) / 2;
        found.push_back(made);
    }
    return found;
}

bool Pass::run(const Tile &tile, const std::atomic<bool> &stopped) {
    const auto &members = *tile.members;
    std::vector<TilePair> pairs = pairs_of(tile);
    std::vector<StepMaker> makers(tile.x_end - tile.x_begin);
    std::vector<StepRows> steps(makers.size());
    BlockMaker block_maker;
    int32_t longest = 0, longest_y = 0;
    for (const int32_t z : members) longest = std::max(longest, store_.length(z));
    for (int32_t y = tile.y_begin; y < tile.y_end; ++y) longest_y = std::max(longest_y, store_.length(members[y]));
    const uint32_t n_chunks = (longest_y + kChunkColumns - 1) / kChunkColumns;
    const size_t table = size_t{n_chunks} * (longest + 1) / 2;  // of one z
    const size_t at_once = std::clamp<size_t>(kTableEntries / std::max<size_t>(table, 1), 1, kMostBetween);
    const AddProducts add_products = selected_consistency_kernels()->add_products;
    for (size_t begin = 0; begin < members.size(); begin += at_once) {
        uint32_t n_twins;
        for (size_t x = 0; x < makers.size(); ++x) {
            const int32_t member = members[tile.x_begin + x];
            steps[x] = makers[x].make(store_.length(member), n_chunks,
                                      between(tile, begin, at_once, member, true, n_twins));
        }
        TwinBlocks blocks{};
        int32_t y = -1;
        for (TilePair &pair : pairs) {
            if (stopped.load(std::memory_order_relaxed)) return false;
            if (pair.y != y) {
                y = pair.y;
                const auto of_y = between(tile, begin, at_once, members[tile.y_begin + y], false, n_twins);
                blocks = block_maker.make(n_twins, n_chunks, of_y);
            }
            add_products(store_.forward(pair.index), steps[pair.x], blocks, pair.sums.data());
        }
    }
    for (TilePair &pair : pairs) finish(tile, pair);
    return true;
}

void Pass::finish(const Tile &tile, const TilePair &pair) {
    const auto &members = *tile.members;
    const int32_t x = members[tile.x_begin + pair.x], y = members[tile.y_begin + pair.y];
    double others = 0;
    int64_t n_others = 0;
    for (const int32_t z : members)
        if (z != x && z != y && store_.has(x, z) && store_.has(y, z)) {
            others += rule_.weights[z];
            ++n_others;
        }
    if (n_others == 0) return;
    const double own = (rule_.weights[x] + rule_.weights[y]) * (1 + rule_.gain * static_cast<double>(n_others));
    const SparseRows rows = store_.forward(pair.index);
    auto values = std::make_unique_for_overwrite<uint16_t[]>(pair.sums.size());
    // Posteriors were multiplied with kWeightOne / highest / 2^15, and products have a factor kPosteriorOne too many.
    const double of_sum = others + own > 0 ? highest_ * 32768 / kWeightOne / kPosteriorOne / (others + own) : 0;
    const double of_own = others + own > 0 ? own / (others + own) : 1;
    for (size_t e = 0; e < pair.sums.size(); ++e) {
        const double value = of_own * rows.values[e] + of_sum * static_cast<double>(pair.sums[e]);
        values[e] = static_cast<uint16_t>(std::clamp(value + 0.5, 0.0, double{kPosteriorOne}));
    }
    values_[pair.index] = std::move(values);
}

/// The members of each group that has a z for some pair.
std::vector<std::vector<int32_t>> members_of(const ConsistencyRule &rule, int n_sequences) {
    std::vector<int32_t> order(n_sequences);
    for (int x = 0; x < n_sequences; ++x) order[x] = x;
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return rule.groups[a] < rule.groups[b]; });
    std::vector<std::vector<int32_t>> groups;
    for (int k = 0; k < n_sequences; ++k) {
        if (k == 0 || rule.groups[order[k]] != rule.groups[order[k - 1]]) groups.emplace_back();
        groups.back().push_back(order[k]);
    }
    std::erase_if(groups, [](const auto &members) { return members.size() < 3; });
    return groups;
}

}  // namespace

bool relax(PosteriorStore &store, const ConsistencyRule &rule, int n_threads, const Poll &poll) {
    const auto groups = members_of(rule, store.n_sequences());
    constexpr int32_t kTile = 16;
    std::vector<Tile> tiles;
    for (const auto &members : groups)
        for (int32_t y = 0; y < static_cast<int32_t>(members.size()); y += kTile)
            for (int32_t x = 0; x <= y; x += kTile) {
                const auto n = static_cast<int32_t>(members.size());
                tiles.push_back({&members, x, std::min(x + kTile, n), y, std::min(y + kTile, n)});
            }
    Pass pass(store, rule);
    std::atomic<bool> stopped{false};
    auto work = [&](int, int64_t k) { pass.run(tiles[k], stopped); };
    const auto n_tiles = static_cast<int64_t>(tiles.size());
    const bool done = parallel(n_threads, n_tiles, 1, work, [&](int64_t begun) {
        const bool go_on = poll(begun);
        if (!go_on) stopped = true;
        return go_on;
    });
    if (!done) return false;
    parallel(n_threads, store.n_pairs(), 1, [&](int, int64_t index) {
        if (const auto values = pass.take(index)) store.replace(index, values.get(), rule.least);
    });
    store.count_elements();
    return true;
}

}  // namespace tropalign
