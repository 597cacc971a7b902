#include "posteriors.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "../compute/parallel.hpp"
#include "sparse.hpp"

namespace tropalign {
namespace {

/// Bytes of a vector of the narrowest kernels: one long double, two doubles.
constexpr int kLeastBytes = 16;
/// Largest unit in bytes (16 pairs of some 7,000 residues); larger ones run in parts.
constexpr size_t kMostUnitBytes = size_t{256} << 20;

/// Elements of one thread's pairs (column | value << 16), until all threads are done. They do not move in memory.
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
        lowest_ =
            request.keep > 0 ? 1 : std::max(1, static_cast<int>(std::ceil(double{request.cutoff} * kPosteriorOne)));
    }

    bool run(const Poll &poll, PosteriorColumns &out) {
        out.distance.resize(request_.n_pairs);
        out.row_sizes.resize(first_row_.back());
        std::vector<int64_t> pairs(request_.n_pairs);
        std::iota(pairs.begin(), pairs.end(), 0);
        for (range_ = 0; !pairs.empty(); ++range_) {
            // Pairs that are computed again were already counted.
            auto poll_range = [&](int64_t begun) { return poll(range_ == 0 ? begun : request_.n_pairs); };
            if (!run_range(pairs, poll_range, out)) return false;
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
    /// Compute these pairs in the type of `range_`; false if stopped.
    bool run_range(const std::vector<int64_t> &pairs, const Poll &poll, PosteriorColumns &out) {
        std::vector<int32_t> sequences(2 * pairs.size());
        for (size_t k = 0; k < pairs.size(); ++k) std::copy_n(request_.pairs + 2 * pairs[k], 2, &sequences[2 * k]);
        PosteriorPlan plan =
            plan_posteriors(sequences.data(), static_cast<int64_t>(pairs.size()), lengths_, widest().lanes);
        for (int64_t &pair : plan.order) pair = pairs[pair];
        const auto n_units = static_cast<int64_t>(plan.units.size());
        std::vector<int64_t> pairs_before(n_units + 1);
        for (int64_t k = 0; k < n_units; ++k) pairs_before[k + 1] = pairs_before[k] + plan.units[k].n_lanes;
        return parallel(
            request_.n_threads, n_units, 1,
            [&](int thread, int64_t k) {
                const PlannedPosteriors &unit = plan.units[k];
                run_unit(unit.row, plan.order.data() + unit.begin, unit.n_lanes, arenas_[thread], out);
            },
            [&](int64_t begun) {
                const bool go_on = poll(pairs_before[begun]);
                if (!go_on) stopped_ = true;
                return go_on;
            });
    }

    const PosteriorKernel &widest() const {
        int k = PosteriorKernels::kWidths - 1;
        while (!kernels_.of_range[range_][k].run) --k;
        return kernels_.of_range[range_][k];
    }

    /// Return the narrowest kernel for `n_lanes` pairs, or a narrower one if that would need much memory.
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
            const int32_t *pair = request_.pairs + 2 * pairs[l];
            const int32_t other = pair[0] == row ? pair[1] : pair[0];
            unit.y[l] = request_.codes + request_.offsets[other];
            unit.n[l] = lengths_[other];
        }
        return unit;
    }

    void run_unit(int32_t row, const int64_t *pairs, int n_lanes, Arena &arena, PosteriorColumns &out) {
        const PosteriorUnit whole = unit_of(row, pairs, n_lanes);
        const int32_t N = *std::max_element(whole.n, whole.n + n_lanes);
        for (int from = 0, next; from < n_lanes; from = next) {
            const PosteriorKernel &kernel = kernel_for(whole.m, N, n_lanes - from);
            next = std::min(from + kernel.lanes, n_lanes);
            run_lanes(kernel, row, pairs + from, next - from, arena, out);
        }
    }

    void run_lanes(const PosteriorKernel &kernel, int32_t row, const int64_t *pairs, int n_lanes, Arena &arena,
                   PosteriorColumns &out) {
        if (!kernel.run(model_, unit_of(row, pairs, n_lanes), lowest_, stopped_, arena.scratch)) return;
        for (int l = 0; l < n_lanes; ++l) {
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

    /// Convert rows of y to rows of x.
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

    /// Keep the elements from the lowest value for which there are at most `count`.
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
    int lowest_;
    int range_ = 0;  // index into PosteriorKernels::of_range
    std::vector<int32_t> lengths_;
    std::vector<int64_t> first_row_;  // of each pair, in row_sizes
    std::vector<Elements> elements_;
    std::vector<Arena> arenas_;
    std::atomic<bool> stopped_{false};
};

}  // namespace

size_t posterior_scratch_bytes(int32_t m, int32_t n) {
    const PosteriorModel model{};  // the model only affects how often rows are scaled, which takes no memory
    size_t most = 0;
    for (int turn = 0; turn < 2; ++turn, std::swap(m, n)) {
        most = std::max(most, posterior_unit_bytes(model, m, n, kLeastBytes, 1));
        for (const int vector_bytes : {32, 64}) {  // for doubles; floats in vectors of as many bytes take no more
            const size_t bytes = posterior_unit_bytes(model, m, n, vector_bytes, vector_bytes / 8);
            if (bytes <= kMostUnitBytes) most = std::max(most, bytes);
        }
    }
    return most;
}

bool pair_posteriors(const PosteriorKernels &kernels, const PosteriorModel &model, const PosteriorRequest &request,
                     const Poll &poll, PosteriorColumns &out) {
    return PosteriorRun(kernels, model, request).run(poll, out);
}

}  // namespace tropalign
