#include "consistency.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <memory>

#include "../compute/parallel.hpp"
#include "consistency_tile.hpp"

namespace tropalign {
namespace {

constexpr size_t kTableEntries = size_t{1} << 20;  // of blocks, unless one z needs more
constexpr int32_t kLargestTile = 32, kSmallestTile = 4;
constexpr size_t kElementsAtOnce = size_t{1} << 22;  // of one request for products
constexpr int64_t kTileBytes = int64_t{64} << 20;    // for the sums of a tile, with two chunks per row

/// Sequences of a group.
struct Group {
    std::vector<int32_t> members;
    std::vector<int32_t> thirds;  // the third sequences z
    bool is_whole;                // all pairs of members are in the store
    int32_t longest;
    size_t at_once;  // number of z in a batch, processed together
    int shift;       // right shift of the sums of a batch, so that the total fits 32 bits
};

/// Some members x of a group against some members y.
struct Tile {
    const Group *group;
    int32_t x_begin, x_end, y_begin, y_end;  // indices of members
};

/// A pair of a tile, with its indices into the arrays of a workspace.
struct TilePair {
    int32_t x, y;   // indices within the tile
    int64_t index;  // in the store
    size_t first_start, first_chunk;
};

/// Memory of a thread.
struct Workspace {
    std::vector<TilePair> pairs;
    std::vector<uint32_t> starts;  // of rows among a pair's chunks
    std::vector<uint16_t> chunks;
    Buffer<int32_t> sums;
    std::vector<StepMaker> step_makers;
    std::vector<StepRows> steps;
    BlockMaker block_maker;
};

class Pass {
  public:
    Pass(const PosteriorStore &store, const ConsistencyRule &rule)
        : store_(store), rule_(rule), thirds_(rule.third_weights ? rule.third_weights : rule.weights),
          weights_(store.n_sequences()), values_(store.n_pairs()) {
        for (int z = 0; z < store.n_sequences(); ++z) highest_ = std::max(highest_, thirds_[z]);
        for (int z = 0; z < store.n_sequences(); ++z)
            weights_[z] = highest_ > 0 ? static_cast<int32_t>(std::lround(thirds_[z] / highest_ * kWeightOne)) : 0;
    }

    /// Compute a tile; returns early if stopped.
    void run(const Tile &tile, Workspace &work, const std::atomic<bool> &stopped);

    /// Compute a group with sums from another device; false if stopped.
    bool run(const Group &group, int n_threads, const ProductSource &products, const Poll &poll, int64_t &n_begun);

    /// Take the new values of a pair; null if it has no z.
    std::unique_ptr<uint16_t[]> take(int64_t index) { return std::move(values_[index]); }

  private:
    void find_pairs(const Tile &tile, Workspace &work) const;
    /// Collect the z of a batch from index `begin` on, with x's rows (has_rows) or y's columns.
    std::vector<Between> between(const Group &group, size_t begin, int32_t member, bool has_rows,
                                 uint32_t &n_twins) const;
    /// Compute the new values of a pair; sum_at(i, e, j) returns the sum at element e, which is (i, j).
    template <class SumAt>
    void finish(const Group &group, int32_t x, int32_t y, int64_t index, SumAt sum_at);

    const PosteriorStore &store_;
    const ConsistencyRule &rule_;
    const double *thirds_;  // weights of the z
    double highest_ = 0;
    std::vector<int32_t> weights_;
    std::vector<std::unique_ptr<uint16_t[]>> values_;
};

void Pass::find_pairs(const Tile &tile, Workspace &work) const {
    const auto &members = tile.group->members;
    work.pairs.clear();
    work.starts.clear();
    work.chunks.clear();
    for (int32_t y = tile.y_begin; y < tile.y_end; ++y)
        for (int32_t x = tile.x_begin; x < std::min(tile.x_end, y); ++x) {
            const int64_t index = store_.index(members[x], members[y]);
            if (index < 0) continue;
            const SparseRows own = store_.forward(index);
            const size_t first = work.chunks.size();
            work.pairs.push_back({x - tile.x_begin, y - tile.y_begin, index, work.starts.size(), first});
            work.chunks.resize(first + own.starts[own.n_rows] + 1);
            uint16_t *chunk = work.chunks.data() + first;
            for (int32_t i = 0; i < own.n_rows; ++i) {
                const uint16_t *row = chunk;
                work.starts.push_back(static_cast<uint32_t>(chunk - work.chunks.data() - first));
                for (uint32_t e = own.starts[i]; e < own.starts[i + 1]; ++e) {
                    *chunk = own.columns[e] / kChunkColumns;
                    chunk += chunk == row || chunk[-1] != *chunk;
                }
            }
            work.starts.push_back(static_cast<uint32_t>(chunk - work.chunks.data() - first));
            work.chunks.resize(chunk - work.chunks.data());
        }
    if (work.sums.size() < work.chunks.size() * kChunkColumns)
        work.sums = Buffer<int32_t>(work.chunks.size() * kChunkColumns * 9 / 8);
    std::fill_n(work.sums.data(), work.chunks.size() * kChunkColumns, 0);
}

std::vector<Between> Pass::between(const Group &group, size_t begin, int32_t member, bool has_rows,
                                   uint32_t &n_twins) const {
    std::vector<Between> found;
    n_twins = 0;
    for (size_t k = begin; k < std::min(begin + group.at_once, group.thirds.size()); ++k) {
        const int32_t z = group.thirds[k];
        Between made{{}, n_twins, weights_[z]};
        if (store_.has(member, z))  // never with itself
            made.rows = has_rows ? store_.rows(member, z) : store_.rows(z, member);
        n_twins += static_cast<uint32_t>(store_.length(z) + 1) / 2;
        found.push_back(made);
    }
    return found;
}

void Pass::run(const Tile &tile, Workspace &work, const std::atomic<bool> &stopped) {
    const Group &group = *tile.group;
    const AddProducts add_products = selected_consistency_kernels()->add_products;
    find_pairs(tile, work);
    work.step_makers.resize(tile.x_end - tile.x_begin);
    work.steps.resize(work.step_makers.size());
    int32_t longest = 0;
    for (int32_t y = tile.y_begin; y < tile.y_end; ++y) longest = std::max(longest, store_.length(group.members[y]));
    const uint32_t n_chunks = (longest + kChunkColumns - 1) / kChunkColumns;
    for (size_t begin = 0; begin < group.thirds.size(); begin += group.at_once) {
        uint32_t n_twins;
        for (size_t x = 0; x < work.steps.size(); ++x) {
            const int32_t member = group.members[tile.x_begin + x];
            const auto rows = between(group, begin, member, true, n_twins);
            work.steps[x] = work.step_makers[x].make(store_.length(member), n_chunks, rows);
        }
        TwinBlocks blocks{};
        int32_t y = -1;
        for (const TilePair &pair : work.pairs) {
            if (stopped.load(std::memory_order_relaxed)) return;
            if (pair.y != y) {
                y = pair.y;
                const auto rows = between(group, begin, group.members[tile.y_begin + y], false, n_twins);
                blocks = work.block_maker.make(n_twins, n_chunks, rows);
            }
            const ChunkRows chunks{work.starts.data() + pair.first_start, work.chunks.data() + pair.first_chunk,
                                   store_.forward(pair.index).n_rows};
            add_products(chunks, work.steps[pair.x], blocks, group.shift,
                         work.sums.data() + pair.first_chunk * kChunkColumns);
        }
    }
    for (const TilePair &pair : work.pairs) {
        const uint32_t *starts = work.starts.data() + pair.first_start;
        const uint16_t *chunks = work.chunks.data() + pair.first_chunk;
        const int32_t *sums = work.sums.data() + pair.first_chunk * kChunkColumns;
        int32_t row = -1;
        uint32_t c = 0;
        finish(group, group.members[tile.x_begin + pair.x], group.members[tile.y_begin + pair.y], pair.index,
               [&](int32_t i, uint32_t, int32_t j) {
                   if (i != row) c = starts[row = i];
                   c += chunks[c] != j / kChunkColumns;
                   return sums[size_t{c} * kChunkColumns + j % kChunkColumns];
               });
    }
}

bool Pass::run(const Group &group, int n_threads, const ProductSource &products, const Poll &poll, int64_t &n_begun) {
    ProductRequest request{group.thirds, weights_, group.at_once, group.shift, {}, {}, {}};
    std::vector<int64_t> indices, firsts;
    auto take_request = [&] {
        const std::vector<int32_t> sums = products(request);
        const auto n_pairs = static_cast<int64_t>(indices.size());
        parallel(n_threads, n_pairs, 16, [&](int, int64_t k) {
            const int32_t *of_pair = sums.data() + firsts[k];
            finish(group, request.pairs[2 * k], request.pairs[2 * k + 1], indices[k],
                   [&](int32_t, uint32_t e, int32_t) { return of_pair[e]; });
        });
        n_begun += n_pairs;
        for (auto *numbers : {&request.pairs, &request.sizes}) numbers->clear();
        request.places.clear(), indices.clear(), firsts.clear();
        return poll(n_begun);
    };
    for (size_t b = 1; b < group.members.size(); ++b)
        for (size_t a = 0; a < b; ++a) {
            const int32_t x = group.members[a], y = group.members[b];
            const int64_t index = store_.index(x, y);
            if (index < 0) continue;
            const SparseRows own = store_.forward(index);
            indices.push_back(index);
            firsts.push_back(static_cast<int64_t>(request.places.size() / 2));
            request.pairs.insert(request.pairs.end(), {x, y});
            request.sizes.push_back(static_cast<int32_t>(own.starts[own.n_rows]));
            for (int32_t i = 0; i < own.n_rows; ++i)
                for (uint32_t e = own.starts[i]; e < own.starts[i + 1]; ++e)
                    request.places.insert(request.places.end(), {static_cast<uint16_t>(i), own.columns[e]});
            if (request.places.size() >= 2 * kElementsAtOnce && !take_request()) return false;
        }
    return indices.empty() || take_request();
}

template <class SumAt>
void Pass::finish(const Group &group, int32_t x, int32_t y, int64_t index, SumAt sum_at) {
    auto is_between = [&](int32_t z) {
        return z != x && z != y && (group.is_whole || (store_.has(x, z) && store_.has(y, z)));
    };
    double others = 0;
    int64_t n_thirds = 0, n_others = static_cast<int64_t>(group.members.size()) - 2;
    for (const int32_t z : group.thirds)
        if (is_between(z)) {
            others += thirds_[z];
            ++n_thirds;
        }
    if (!group.is_whole) n_others = std::count_if(group.members.begin(), group.members.end(), is_between);
    const double own = (rule_.weights[x] + rule_.weights[y]) * (1 + rule_.gain * static_cast<double>(n_others));
    if (n_thirds == 0 || others + own <= 0) return;
    // Steps were multiplied by kWeightOne / (highest 2^15), and products have an additional factor kPosteriorOne.
    const double of_own = own / (others + own), per_sum = highest_ / (others + own) / kWeightOne;
    const double of_sum = per_sum * 32768 / kPosteriorOne * (1 << group.shift);
    const SparseRows rows = store_.forward(index);
    auto values = std::make_unique_for_overwrite<uint16_t[]>(rows.starts[rows.n_rows]);
    for (int32_t i = 0; i < rows.n_rows; ++i)
        for (uint32_t e = rows.starts[i]; e < rows.starts[i + 1]; ++e) {
            const double sum = sum_at(i, e, rows.columns[e]);
            const double value = of_own * rows.values[e] + of_sum * sum;
            values[e] = static_cast<uint16_t>(std::clamp(value + 0.5, 0.0, double{kPosteriorOne}));
        }
    values_[index] = std::move(values);
}

bool is_whole(const PosteriorStore &store, const std::vector<int32_t> &members) {
    for (size_t b = 1; b < members.size(); ++b)
        for (size_t a = 0; a < b; ++a)
            if (!store.has(members[a], members[b])) return false;
    return true;
}

/// Return the groups in which some pair may have a z.
std::vector<Group> groups_of(const PosteriorStore &store, const ConsistencyRule &rule) {
    std::vector<int32_t> order(store.n_sequences());
    for (size_t x = 0; x < order.size(); ++x) order[x] = static_cast<int32_t>(x);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return rule.groups[a] < rule.groups[b]; });
    std::vector<Group> groups;
    for (size_t k = 0; k < order.size(); ++k) {
        if (k == 0 || rule.groups[order[k]] != rule.groups[order[k - 1]]) groups.emplace_back();
        groups.back().members.push_back(order[k]);
    }
    std::erase_if(groups, [](const Group &group) { return group.members.size() < 3; });
    for (Group &group : groups) {
        for (const int32_t z : group.members)
            if (!rule.third_weights || rule.third_weights[z] > 0) group.thirds.push_back(z);
        group.is_whole = is_whole(store, group.members);
        group.longest = 1;
        for (const int32_t z : group.members) group.longest = std::max(group.longest, store.length(z));
        const size_t table = size_t{group.longest / kChunkColumns + 1u} * (group.longest + 1u) / 2;  // entries of one z
        group.at_once = std::clamp<size_t>(kTableEntries / table, 1, kMostBetween);
        // A batch adds up to kMostBetween z, which needs 31 bits.
        group.shift = std::bit_width((std::max<size_t>(group.thirds.size(), 1) - 1) / kMostBetween);
    }
    return groups;
}

/// Cut the groups into tiles. Results do not depend on the cut: each element's sum has the same integer terms.
std::vector<Tile> tiles_of(const std::vector<Group> &groups, int n_threads) {
    std::vector<Tile> tiles;
    for (int32_t most = kLargestTile;; most /= 2) {
        tiles.clear();
        for (const Group &group : groups) {
            const auto n = static_cast<int32_t>(group.members.size());
            const double pairs = static_cast<double>(kTileBytes) / (2 * 4 * kChunkColumns * group.longest);
            const int32_t side = std::clamp(static_cast<int32_t>(std::sqrt(pairs)), kSmallestTile, most);
            for (int32_t y = 0; y < n; y += side)
                for (int32_t x = 0; x <= y; x += side)
                    tiles.push_back({&group, x, std::min(x + side, n), y, std::min(y + side, n)});
        }
        if (most / 2 < kSmallestTile || tiles.size() >= 4 * static_cast<size_t>(n_threads)) return tiles;
    }
}

/// Replace the values of the pairs that have new ones.
void replace_all(PosteriorStore &store, Pass &pass, uint16_t least, int n_threads) {
    parallel(n_threads, store.n_pairs(), 16, [&](int, int64_t index) {
        if (const auto values = pass.take(index)) store.replace(index, values.get(), least);
    });
    store.count_elements();
}

}  // namespace

bool relax(PosteriorStore &store, const ConsistencyRule &rule, int n_threads, const Poll &poll) {
    const std::vector<Group> groups = groups_of(store, rule);
    const std::vector<Tile> tiles = tiles_of(groups, n_threads);
    const auto n_tiles = static_cast<int64_t>(tiles.size());
    std::vector<int64_t> before{0};  // pairs of all earlier tiles, for each tile
    for (const Tile &tile : tiles)
        before.push_back(before.back() + int64_t{tile.x_end - tile.x_begin} * (tile.y_end - tile.y_begin));
    Pass pass(store, rule);
    {
        std::vector<Workspace> workspaces(n_threads);
        std::atomic<bool> stopped{false};
        auto work = [&](int thread, int64_t k) { pass.run(tiles[k], workspaces[thread], stopped); };
        const bool done = parallel(n_threads, n_tiles, 1, work, [&](int64_t begun) {
            const bool go_on = poll(before[begun] * store.n_pairs() / std::max<int64_t>(before.back(), 1));
            if (!go_on) stopped = true;
            return go_on;
        });
        if (!done) return false;
    }
    replace_all(store, pass, rule.least, n_threads);
    return true;
}

bool relax_by(PosteriorStore &store, const ConsistencyRule &rule, int n_threads, const ProductSource &products,
              const Poll &poll) {
    Pass pass(store, rule);
    int64_t n_begun = 0;
    for (const Group &group : groups_of(store, rule))
        if (!pass.run(group, n_threads, products, poll, n_begun)) return false;
    replace_all(store, pass, rule.least, n_threads);
    return true;
}

}  // namespace tropalign
