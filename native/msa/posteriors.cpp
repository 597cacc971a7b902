#include "posteriors.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "../compute/parallel.hpp"
#include "corridor.hpp"
#include "sparse.hpp"

namespace tropalign {
namespace {

/// Vectors of the narrowest kernels: one long double, two doubles.
constexpr int kLeastBytes = 16;
/// Units that need more (16 pairs of some 7,000 residues) run in parts.
constexpr size_t kMostUnitBytes = size_t{256} << 20;
/// Pairs with more cells are computed as a whole: their corridors would need more than 32 MB (64 with AVX-512).
constexpr int64_t kMostCorridorCells = int64_t{2} << 20;

/// Elements of one thread's pairs (column | value << 16), until all threads are done. They stay where they are.
class ElementStore {
  public:
    uint32_t *room(size_t n) {
        if (blocks_.empty() || used_ + n > blocks_.back().size()) {
            blocks_.emplace_back(std::max(n, kBlock));
            used_ = 0;
        }
        uint32_t *begin = blocks_.back().data() + used_;
        used_ += n;
        return begin;
    }

  private:
    static constexpr size_t kBlock = size_t{1} << 18;
    std::vector<Buffer<uint32_t>> blocks_;
    size_t used_ = 0;  // of the last block
};

/// The elements of a pair, its rows in order.
struct Elements {
    const uint32_t *data;
    size_t count;
};

struct Arena {
    PosteriorScratch scratch;
    CorridorScratch corridor_scratch;
    ElementStore elements;
    std::vector<int64_t> out_of_range;  // pairs to be computed again in a wider type
};

class PosteriorRun {
  public:
    PosteriorRun(const PosteriorKernels &kernels, const PosteriorModel &model, const PosteriorRequest &request)
        : kernels_(kernels), model_(model), request_(request), lengths_(request.n_sequences),
          first_row_(request.n_pairs + 1), elements_(request.n_pairs), arenas_(request.n_threads) {
        for (int64_t s = 0; s < request.n_sequences; ++s)
            lengths_[s] = static_cast<int32_t>(request.offsets[s + 1] - request.offsets[s]);
        for (int64_t k = 0; k < request.n_pairs; ++k)
            first_row_[k + 1] = first_row_[k] + lengths_[request.pairs[2 * k]];
        if (request.slack > 0) corridor_model_ = corridor_model(model, double{request.slack});
        lowest_ =
            request.keep > 0 ? 1 : std::max(1, static_cast<int>(std::ceil(double{request.cutoff} * kPosteriorOne)));
    }

    bool run(const Poll &poll, PosteriorColumns &out) {
        out.distance.resize(request_.n_pairs);
        out.row_sizes.resize(first_row_.back());
        std::vector<int64_t> pairs(request_.n_pairs);
        std::iota(pairs.begin(), pairs.end(), 0);
        const auto whole =
            std::stable_partition(pairs.begin(), pairs.end(), [&](int64_t k) { return may_be_narrow(k); });
        const std::vector<int64_t> narrow(pairs.begin(), whole);
        pairs.erase(pairs.begin(), whole);
        is_narrow_ = true;
        if (!narrow.empty() && !run_range(narrow, poll, out)) return false;
        is_narrow_ = false;
        auto n_begun = static_cast<int64_t>(narrow.size());
        for (range_ = 0; range_ == 0 || !pairs.empty(); ++range_) {
            // Pairs that are computed again have been begun before.
            auto poll_range = [&](int64_t begun) { return poll(std::min(n_begun + begun, request_.n_pairs)); };
            if (!pairs.empty() && !run_range(pairs, poll_range, out)) return false;
            n_begun = request_.n_pairs;
            pairs.clear();
            for (Arena &arena : arenas_) {
                pairs.insert(pairs.end(), arena.out_of_range.begin(), arena.out_of_range.end());
                arena.out_of_range.clear();
            }
            std::sort(pairs.begin(), pairs.end());  // whichever thread found them
        }
        collect(out);
        return true;
    }

  private:
    /// Computes these pairs in the type of `range_`. False: stopped.
    bool run_range(const std::vector<int64_t> &pairs, const Poll &poll, PosteriorColumns &out) {
        std::vector<int32_t> sequences(2 * pairs.size());
        for (size_t k = 0; k < pairs.size(); ++k) std::copy_n(request_.pairs + 2 * pairs[k], 2, &sequences[2 * k]);
        PosteriorPlan plan =
            plan_posteriors(sequences.data(), static_cast<int64_t>(pairs.size()), lengths_, widest().lanes, is_narrow_);
        for (int64_t &pair : plan.order) pair = pairs[pair];
        if (is_narrow_) {
            if (!find_corridors(plan, poll)) return false;
            plan = by_width(plan);
        }
        const auto n_units = static_cast<int64_t>(plan.units.size());
        std::vector<int64_t> pairs_before(n_units + 1);
        for (int64_t k = 0; k < n_units; ++k) pairs_before[k + 1] = pairs_before[k] + plan.units[k].n_lanes;
        return parallel(
            request_.n_threads, n_units, 1,
            [&](int thread, int64_t k) {
                const PlannedPosteriors &unit = plan.units[k];
                run_unit(unit.row, plan.order.data() + unit.begin, unit.n_lanes, arenas_[thread], out);
            },
            [&](int64_t begun) { return may_go_on(poll, pairs_before[begun]); });
    }

    bool may_go_on(const Poll &poll, int64_t begun) {
        const bool go_on = poll(begun);
        if (!go_on) stopped_ = true;
        return go_on;
    }

    bool may_be_narrow(int64_t pair) const {
        const int32_t *two = request_.pairs + 2 * pair;
        return request_.slack > 0 && int64_t{lengths_[two[0]]} * lengths_[two[1]] <= kMostCorridorCells;
    }

    /// The corridors of all pairs of a plan. False: stopped.
    bool find_corridors(const PosteriorPlan &plan, const Poll &poll) {
        corridors_.resize(static_cast<size_t>(request_.n_pairs));
        const std::vector<std::vector<PlannedPosteriors>> groups = groups_of(plan);
        return parallel(
            request_.n_threads, static_cast<int64_t>(groups.size()), 1,
            [&](int thread, int64_t k) { find_group(groups[k], plan.order.data(), arenas_[thread].corridor_scratch); },
            [&](int64_t) { return may_go_on(poll, 0); });
    }

    /// Units whose corridors are found side by side.
    std::vector<std::vector<PlannedPosteriors>> groups_of(const PosteriorPlan &plan) const {
        std::vector<std::vector<PlannedPosteriors>> groups;
        const int most = widest_corridors();
        int n_parts = most;
        int64_t m = 0, n = 0;  // the longest of the shared sequences, and of the others
        for (const PlannedPosteriors &unit : plan.units) {
            const int64_t columns = unit.cells / lengths_[unit.row];
            n_parts += n_parts_of(unit.n_lanes);
            m = std::max<int64_t>(m, lengths_[unit.row]);
            n = std::max(n, columns);
            if (n_parts > most || m * n > kMostCorridorCells) {
                groups.emplace_back();
                n_parts = n_parts_of(unit.n_lanes), m = lengths_[unit.row], n = columns;
            }
            groups.back().push_back(unit);
        }
        return groups;
    }

    static int n_parts_of(int n_lanes) { return (n_lanes + kPartLanes - 1) / kPartLanes; }

    /// Parts that the widest kernel holds.
    static int widest_corridors() {
        int lanes = 0;
        for (const CorridorKernels::Kernel &kernel : selected_corridor_kernels()->kernels)
            if (kernel.run) lanes = kernel.lanes;
        return lanes / kPartLanes;
    }

    /// By the narrowest kernel for so many parts.
    void find_group(const std::vector<PlannedPosteriors> &units, const int64_t *order, CorridorScratch &scratch) {
        CorridorUnit side_by_side{};
        for (const PlannedPosteriors &unit : units) add_parts(unit, order, side_by_side);
        const CorridorKernels::Kernel *kernel = selected_corridor_kernels()->kernels;
        while (kernel->lanes < side_by_side.n_parts * kPartLanes) ++kernel;
        if (!kernel->run(*corridor_model_, side_by_side, stopped_, scratch)) return;
        int lane = 0;
        for (const PlannedPosteriors &unit : units) {
            for (int l = 0; l < unit.n_lanes; ++l)
                corridors_[order[unit.begin + l]] = corridor_of(side_by_side, scratch.crossings, lane + l);
            lane += n_parts_of(unit.n_lanes) * kPartLanes;
        }
    }

    /// The pairs of a plan, of each row those of the widest corridors together: a unit is as wide as its widest.
    PosteriorPlan by_width(const PosteriorPlan &plan) const {
        std::vector<std::vector<std::pair<int64_t, int64_t>>> of_row(lengths_.size());  // width, pair
        for (const PlannedPosteriors &unit : plan.units)
            for (int l = 0; l < unit.n_lanes; ++l) {
                const int64_t pair = plan.order[unit.begin + l];
                int64_t width = 0;
                for (const PosteriorSpan &span : corridors_[pair]) width += span.last - span.first + 1;
                of_row[unit.row].emplace_back(-width, pair);
            }
        PosteriorPlan sorted;
        const auto lanes = static_cast<size_t>(widest().lanes);
        for (size_t row = 0; row < of_row.size(); ++row) {
            std::sort(of_row[row].begin(), of_row[row].end());
            for (size_t k = 0; k < of_row[row].size(); k += lanes) {
                const size_t n_lanes = std::min(lanes, of_row[row].size() - k);
                sorted.units.push_back({static_cast<int64_t>(sorted.order.size()), static_cast<int32_t>(row),
                                        static_cast<int>(n_lanes), -of_row[row][k].first * kCorridorRows});
                for (size_t l = k; l < k + n_lanes; ++l) sorted.order.push_back(of_row[row][l].second);
            }
        }
        std::stable_sort(sorted.units.begin(), sorted.units.end(),
                         [](const auto &a, const auto &b) { return a.cells > b.cells; });
        return sorted;
    }

    void add_parts(const PlannedPosteriors &unit, const int64_t *order, CorridorUnit &side_by_side) const {
        for (int l = 0; l < unit.n_lanes; ++l) {
            if (l % kPartLanes == 0)
                side_by_side.parts[side_by_side.n_parts++] = {
                    request_.codes + request_.offsets[unit.row], lengths_[unit.row], 0, {}, {}};
            CorridorUnit::Part &part = side_by_side.parts[side_by_side.n_parts - 1];
            const int32_t other = partner(order[unit.begin + l], unit.row);
            part.y[part.n_lanes] = request_.codes + request_.offsets[other];
            part.n[part.n_lanes++] = lengths_[other];
        }
    }

    int32_t partner(int64_t pair, int32_t row) const {
        const int32_t *two = request_.pairs + 2 * pair;
        return two[0] == row ? two[1] : two[0];
    }

    const PosteriorKernel &widest() const {
        int k = PosteriorKernels::kWidths - 1;
        while (!kernels_.of_range[range_][k].run) --k;
        return kernels_.of_range[range_][k];
    }

    /// The narrowest kernel for `n_lanes` pairs, or a narrower one where that would need much memory.
    const PosteriorKernel &kernel_for(int32_t m, int32_t N, int n_lanes) const {
        const PosteriorKernel *kernels = kernels_.of_range[range_], *best = &kernels[0];
        for (int k = 1; k < PosteriorKernels::kWidths && kernels[k].run && kernels[k - 1].lanes < n_lanes; ++k)
            if (posterior_unit_bytes(model_, m, N, kernels[k].vector_bytes, kernels[k].lanes) <= kMostUnitBytes)
                best = &kernels[k];
        return *best;
    }

    PosteriorUnit unit_of(int32_t row, const int64_t *pairs, int n_lanes) const {
        PosteriorUnit unit{};
        unit.x = request_.codes + request_.offsets[row];
        unit.m = lengths_[row];
        unit.n_lanes = n_lanes;
        for (int l = 0; l < n_lanes; ++l) {
            const int32_t other = partner(pairs[l], row);
            unit.y[l] = request_.codes + request_.offsets[other];
            unit.n[l] = lengths_[other];
            if (is_narrow_) unit.corridor[l] = corridors_[pairs[l]].data();
        }
        return unit;
    }

    void run_unit(int32_t row, const int64_t *pairs, int n_lanes, Arena &arena, PosteriorColumns &out) {
        const PosteriorUnit whole = unit_of(row, pairs, n_lanes);
        const int32_t N = *std::max_element(whole.n, whole.n + n_lanes);
        for (int from = 0, next; from < n_lanes; from = next) {
            const PosteriorKernel &kernel = kernel_for(whole.m, N, n_lanes - from);
            next = std::min(from + kernel.lanes, n_lanes);
            run_lanes(kernel, unit_of(row, pairs + from, next - from), row, pairs + from, arena, out);
        }
    }

    void run_lanes(const PosteriorKernel &kernel, const PosteriorUnit &unit, int32_t row, const int64_t *pairs,
                   Arena &arena, PosteriorColumns &out) {
        if (!kernel.run(model_, unit, lowest_, stopped_, arena.scratch)) return;
        for (int l = 0; l < unit.n_lanes; ++l) {
            PosteriorLane &lane = arena.scratch.lane[l];
            if (lane.underflowed && range_ + 1 < PosteriorKernels::kRanges) {
                arena.out_of_range.push_back(pairs[l]);
                continue;
            }
            if (lane.underflowed) {  // beyond any range: nothing is known to be aligned
                lane.n_elements = 0;
                lane.row_sizes.assign(lane.row_sizes.size(), 0);
            }
            keep(pairs[l], row, lane, arena.elements, out);
        }
    }

    void keep(int64_t pair, int32_t row, PosteriorLane &lane, ElementStore &store, PosteriorColumns &out) {
        const int32_t x = request_.pairs[2 * pair], y = request_.pairs[2 * pair + 1];
        out.distance[pair] = lane.distance;
        if (request_.keep > 0)
            keep_share(lane, static_cast<int64_t>(double{request_.keep} * lengths_[x] * lengths_[y]));
        uint32_t *to = store.room(lane.n_elements);
        elements_[pair] = {to, lane.n_elements};
        uint16_t *sizes = out.row_sizes.data() + first_row_[pair];
        if (row == x) {
            std::copy(lane.row_sizes.begin(), lane.row_sizes.end(), sizes);
            const uint32_t *from = lane.elements.data();
            uint32_t *end = to + lane.n_elements;
            for (int32_t i = lengths_[x] - 1; i >= 0; --i) {
                end -= sizes[i];
                std::copy_n(from, sizes[i], end);
                from += sizes[i];
            }
        } else {
            transpose(lane, lengths_[x], to, sizes);
        }
    }

    /// Rows of y become rows of x.
    static void transpose(const PosteriorLane &lane, int32_t n_rows, uint32_t *to, uint16_t *sizes) {
        std::vector<uint32_t> next(n_rows + 1);
        for (size_t e = 0; e < lane.n_elements; ++e) ++next[(lane.elements[e] & 0xFFFF) + 1];
        for (int32_t i = 0; i < n_rows; ++i) {
            sizes[i] = static_cast<uint16_t>(next[i + 1]);
            next[i + 1] += next[i];
        }
        const uint32_t *row = lane.elements.data() + lane.n_elements;
        for (uint32_t j = 0; j < lane.row_sizes.size(); ++j) {
            row -= lane.row_sizes[j];
            for (int k = 0; k < lane.row_sizes[j]; ++k) to[next[row[k] & 0xFFFF]++] = j | (row[k] & 0xFFFF0000);
        }
    }

    /// Leaves the elements from the lowest value on from which there are at most `count`.
    static void keep_share(PosteriorLane &lane, int64_t count) {
        std::vector<int64_t> of_value(kPosteriorOne + 1);
        for (size_t e = 0; e < lane.n_elements; ++e) ++of_value[lane.elements[e] >> 16];
        uint32_t lowest = kPosteriorOne + 1;
        while (lowest > 1 && of_value[lowest - 1] <= count) count -= of_value[--lowest];
        size_t from = 0, to = 0;
        for (auto size = lane.row_sizes.rbegin(); size != lane.row_sizes.rend(); ++size) {
            const size_t row_begin = to;
            for (const size_t end = from + *size; from < end; ++from)
                if (lane.elements[from] >> 16 >= lowest) lane.elements[to++] = lane.elements[from];
            *size = static_cast<uint16_t>(to - row_begin);
        }
        lane.n_elements = to;
    }

    void collect(PosteriorColumns &out) {
        size_t total = 0;
        for (const Elements &pair : elements_) total += pair.count;
        out.columns = Buffer<uint16_t>(total);
        out.values = Buffer<uint16_t>(total);
        uint16_t *columns = out.columns.data(), *values = out.values.data();
        for (const Elements &pair : elements_) {
            for (size_t e = 0; e < pair.count; ++e) {
                columns[e] = static_cast<uint16_t>(pair.data[e]);
                values[e] = static_cast<uint16_t>(pair.data[e] >> 16);
            }
            columns += pair.count, values += pair.count;
        }
    }

    const PosteriorKernels &kernels_;
    const PosteriorModel &model_;
    const PosteriorRequest &request_;
    std::optional<CorridorModel> corridor_model_;
    std::vector<std::vector<PosteriorSpan>> corridors_;  // of each pair that has one
    int lowest_;
    bool is_narrow_ = false;  // whether corridors are found first
    int range_ = 0;           // which types: of PosteriorKernels::of_range
    std::vector<int32_t> lengths_;
    std::vector<int64_t> first_row_;  // of a pair, in row_sizes
    std::vector<Elements> elements_;
    std::vector<Arena> arenas_;
    std::atomic<bool> stopped_{false};
};

}  // namespace

size_t posterior_scratch_bytes(int32_t m, int32_t n, bool has_corridors) {
    const PosteriorModel model{};  // rows are scaled the more often the more a match can score, which takes no memory
    size_t most = 0;
    for (int turn = 0; turn < 2; ++turn, std::swap(m, n)) {
        most = std::max(most, posterior_unit_bytes(model, m, n, kLeastBytes, 1));
        for (const int vector_bytes : {32, 64}) {  // doubles: with as many bytes in floats it takes no more
            const size_t bytes = posterior_unit_bytes(model, m, n, vector_bytes, vector_bytes / 8);
            if (bytes <= kMostUnitBytes) most = std::max(most, bytes);
        }
    }
    if (has_corridors) {
        const auto side = static_cast<int32_t>(std::sqrt(kMostCorridorCells));
        most += corridor_bytes(std::min(std::max(m, n), side), std::min(std::max(m, n), side), kCorridorLanes);
    }
    return most;
}

bool pair_posteriors(const PosteriorKernels &kernels, const PosteriorModel &model, const PosteriorRequest &request,
                     const Poll &poll, PosteriorColumns &out) {
    return PosteriorRun(kernels, model, request).run(poll, out);
}

}  // namespace tropalign
