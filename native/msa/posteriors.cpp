#include "posteriors.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "../compute/parallel.hpp"
#include "posterior_plan.hpp"
#include "sparse.hpp"

namespace tropalign {
namespace {

/// One rectangle of elements: those of a pair, its rows in order.
struct Elements {
    std::vector<uint16_t> columns, values;
};

class PosteriorRun {
  public:
    PosteriorRun(const PosteriorKernels &kernels, const PosteriorModel &model, const PosteriorRequest &request)
        : kernels_(kernels), model_(model), request_(request), lengths_(request.n_sequences),
          first_row_(request.n_pairs + 1), elements_(request.n_pairs), scratch_(request.n_threads) {
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
        const PosteriorPlan plan = plan_posteriors(request_.pairs, request_.n_pairs, lengths_, most_lanes());
        const auto n_units = static_cast<int64_t>(plan.units.size());
        std::vector<int64_t> pairs_before(n_units + 1);
        for (int64_t k = 0; k < n_units; ++k) pairs_before[k + 1] = pairs_before[k] + plan.units[k].n_lanes;
        const bool finished = parallel(
            request_.n_threads, n_units, 1,
            [&](int thread, int64_t k) {
                const PlannedPosteriors &unit = plan.units[k];
                run_unit(unit.row, plan.order.data() + unit.begin, unit.n_lanes, scratch_[thread], out);
            },
            [&](int64_t begun) {
                const bool go_on = poll(pairs_before[begun]);
                if (!go_on) stopped_ = true;
                return go_on;
            });
        if (!finished) return false;
        collect(out);
        return true;
    }

  private:
    int most_lanes() const {
        int lanes = 4;
        for (int k = 0; k < 3; ++k)
            if (kernels_.by_lanes[k]) lanes = 4 << k;
        return lanes;
    }

    RunPosteriorUnit kernel_for(int n_lanes) const {
        if (n_lanes == 1) return kernels_.one_lane;
        return kernels_.by_lanes[n_lanes <= 4 ? 0 : n_lanes <= 8 ? 1 : 2];
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

    void run_unit(int32_t row, const int64_t *pairs, int n_lanes, PosteriorScratch &scratch, PosteriorColumns &out) {
        const PosteriorUnit unit = unit_of(row, pairs, n_lanes);
        if (!kernel_for(n_lanes)(model_, unit, lowest_, stopped_, scratch)) return;
        int64_t again[kPosteriorLanes];
        int n_again = 0;
        for (int l = 0; l < n_lanes; ++l) {
            if (scratch.lane[l].underflowed) again[n_again++] = pairs[l];
            else keep(pairs[l], row, scratch.lane[l], out);
        }
        for (int k = 0; k < n_again; ++k) {
            const PosteriorUnit alone = unit_of(row, again + k, 1);
            if (!kernels_.wide_range(model_, alone, lowest_, stopped_, scratch)) return;
            keep(again[k], row, scratch.lane[0], out);
        }
    }

    void keep(int64_t pair, int32_t row, PosteriorLane &lane, PosteriorColumns &out) {
        const int32_t x = request_.pairs[2 * pair], y = request_.pairs[2 * pair + 1];
        out.distance[pair] = lane.distance;
        uint32_t *elements = lane.elements.data();
        std::reverse(elements, elements + lane.n_elements);
        if (request_.keep > 0)
            keep_share(lane, static_cast<int64_t>(double{request_.keep} * lengths_[x] * lengths_[y]));
        uint16_t *sizes = out.row_sizes.data() + first_row_[pair];
        Elements &kept = elements_[pair];
        kept.columns.resize(lane.n_elements);
        kept.values.resize(lane.n_elements);
        if (row == x) {
            std::copy(lane.row_sizes.begin(), lane.row_sizes.end(), sizes);
            for (size_t e = 0; e < lane.n_elements; ++e) {
                kept.columns[e] = static_cast<uint16_t>(elements[e]);
                kept.values[e] = static_cast<uint16_t>(elements[e] >> 16);
            }
            return;
        }
        // What was computed has y in its rows.
        std::vector<uint32_t> next(lengths_[x] + 1);
        for (size_t e = 0; e < lane.n_elements; ++e) ++next[(elements[e] & 0xFFFF) + 1];
        for (int32_t i = 0; i < lengths_[x]; ++i) {
            sizes[i] = static_cast<uint16_t>(next[i + 1]);
            next[i + 1] += next[i];
        }
        size_t e = 0;
        for (int32_t j = 0; j < lengths_[y]; ++j)
            for (int of_row = lane.row_sizes[j]; of_row > 0; --of_row, ++e) {
                const uint32_t to = next[elements[e] & 0xFFFF]++;
                kept.columns[to] = static_cast<uint16_t>(j);
                kept.values[to] = static_cast<uint16_t>(elements[e] >> 16);
            }
    }

    /// Leaves the elements from the lowest value on from which there are at most `count`.
    static void keep_share(PosteriorLane &lane, int64_t count) {
        std::vector<int64_t> of_value(kPosteriorOne + 1);
        for (size_t e = 0; e < lane.n_elements; ++e) ++of_value[lane.elements[e] >> 16];
        uint32_t lowest = kPosteriorOne + 1;
        while (lowest > 1 && of_value[lowest - 1] <= count) count -= of_value[--lowest];
        size_t from = 0, to = 0;
        for (uint16_t &size : lane.row_sizes) {
            const size_t row_begin = to;
            for (const size_t end = from + size; from < end; ++from)
                if (lane.elements[from] >> 16 >= lowest) lane.elements[to++] = lane.elements[from];
            size = static_cast<uint16_t>(to - row_begin);
        }
        lane.n_elements = to;
    }

    void collect(PosteriorColumns &out) {
        size_t total = 0;
        for (const Elements &pair : elements_) total += pair.columns.size();
        out.columns.reserve(total);
        out.values.reserve(total);
        for (Elements &pair : elements_) {
            out.columns.insert(out.columns.end(), pair.columns.begin(), pair.columns.end());
            out.values.insert(out.values.end(), pair.values.begin(), pair.values.end());
            pair = Elements();
        }
    }

    const PosteriorKernels &kernels_;
    const PosteriorModel &model_;
    const PosteriorRequest &request_;
    int lowest_;
    std::vector<int32_t> lengths_;
    std::vector<int64_t> first_row_;  // of a pair, in row_sizes
    std::vector<Elements> elements_;
    std::vector<PosteriorScratch> scratch_;
    std::atomic<bool> stopped_{false};
};

}  // namespace

bool pair_posteriors(const PosteriorKernels &kernels, const PosteriorModel &model, const PosteriorRequest &request,
                     const Poll &poll, PosteriorColumns &out) {
    return PosteriorRun(kernels, model, request).run(poll, out);
}

}  // namespace tropalign
