#include "viterbi.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#include "../compute/buffer.hpp"
#include "../simd/dispatch.hpp"
#include "lengths.hpp"

namespace tropalign {

TROPALIGN_DISPATCH_LOOKUPS(ViterbiKernels, viterbi_kernels)

namespace {

/// Return the score in nats; the 3 is the loss of N, C and J over all residues, for any length.
float viterbi_nats_of(const ViterbiTarget &target) {
    if (target.end == kViterbiHighest) return std::numeric_limits<float>::infinity();
    if (target.end == kViterbiLowest) return -std::numeric_limits<float>::infinity();
    const float above_base = static_cast<float>(target.end) + static_cast<float>(target.move) - kViterbiBase;
    return static_cast<float>(static_cast<double>(above_base / kWordScale) - 3.0);
}

void sweep(const SearchModel &model, const ViterbiKernels &kernels, const ViterbiArrangement &how,
           std::span<ViterbiTarget> targets) {
    if (targets.empty()) return;
    thread_local Buffer<uint8_t> scratch;
    const size_t bytes = viterbi_scratch_bytes(how, model.plain().M);
    if (scratch.size() < bytes) scratch = Buffer<uint8_t>(bytes);
    if (how.n_stripes) how.sweep_stripes(model.viterbi().stripes(how.n_stripes), targets, scratch.data());
    else how.sweep_lanes(model.viterbi().lanes(kernels.lookup), targets, scratch.data());
}

/// Division of the targets: the first n_first run one after another in arrangement 0, the others in `other`.
struct Plan {
    size_t n_first = 0;
    int other = 0;
};

/// Return the fastest plan, for descending lengths. Slots are busy until the last targets start. An arrangement takes
/// at least the rows of the longest target; if there are more targets than slots, some slot takes two of the n_slots +
/// 1 longest.
Plan plan_of(std::span<const ViterbiArrangement> arrangements, int32_t M, std::span<const ViterbiTarget> targets) {
    const size_t n = targets.size();
    const auto length = [&](size_t j) { return j < n ? static_cast<float>(targets[j].length) : 0.0F; };
    float left = 0;
    for (size_t j = 0; j < n; ++j) left += length(j);
    Plan best;
    float least = std::numeric_limits<float>::infinity(), first = 0;
    for (size_t j = 0; j <= n; ++j) {
        for (size_t how = 0; how < arrangements.size(); ++how) {
            const auto slots = static_cast<size_t>(arrangements[how].n_slots);
            const float rows = std::max({left / static_cast<float>(slots), length(j),
                                         j + slots < n ? length(j + slots - 1) + length(j + slots) : 0.0F});
            const float total = first * arrangements[0].time.of(M) + rows * arrangements[how].time.of(M);
            if (total < least) least = total, best = {j, static_cast<int>(how)};
        }
        first += length(j), left -= length(j);
    }
    return best;
}

template <class Sweep>
void score(const TargetBlock &block, Targets targets, float *nats, Sweep sweep_all) {
    std::vector<size_t> order;
    for (size_t j = 0; j < targets.size(); ++j) {
        nats[j] = -std::numeric_limits<float>::infinity();
        if (block.length(targets[j]) > 0) order.push_back(j);
    }
    std::ranges::stable_sort(order, std::ranges::greater{}, [&](size_t j) { return block.length(targets[j]); });
    std::vector<ViterbiTarget> sorted;
    sorted.reserve(order.size());
    for (const size_t j : order) {
        const int32_t L = block.length(targets[j]);
        sorted.push_back({block.codes(targets[j]), L, word_move(L), kViterbiLowest});
    }
    sweep_all(std::span(sorted));
    for (size_t at = 0; at < order.size(); ++at) nats[order[at]] = viterbi_nats_of(sorted[at]);
}

}  // namespace

float viterbi_nats(int32_t highest_M, int32_t L) {
    const int32_t C = std::max<int32_t>(highest_M - kViterbiEnd, kViterbiLowest);
    const auto end = static_cast<int16_t>(highest_M >= kViterbiHighest ? kViterbiHighest : C);
    return viterbi_nats_of({nullptr, L, word_move(L), end});
}

void viterbi_scores(const SearchModel &model, const TargetBlock &block, Targets targets, float *nats) {
    const ViterbiKernels &kernels = *selected_viterbi_kernels();
    score(block, targets, nats, [&](std::span<ViterbiTarget> sorted) {
        const Plan plan = plan_of(kernels.arrangements, model.plain().M, sorted);
        sweep(model, kernels, kernels.arrangements[0], sorted.first(plan.n_first));
        sweep(model, kernels, kernels.arrangements[static_cast<size_t>(plan.other)], sorted.subspan(plan.n_first));
    });
}

void viterbi_scores(const SearchModel &model, const TargetBlock &block, Targets targets, int arrangement, float *nats) {
    const ViterbiKernels &kernels = *selected_viterbi_kernels();
    score(block, targets, nats, [&](std::span<ViterbiTarget> sorted) {
        sweep(model, kernels, kernels.arrangements[static_cast<size_t>(arrangement)], sorted);
    });
}

int n_viterbi_arrangements() { return static_cast<int>(selected_viterbi_kernels()->arrangements.size()); }

}  // namespace tropalign
