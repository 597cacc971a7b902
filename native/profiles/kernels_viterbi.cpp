// The kernels of the Viterbi filter (recurrence in viterbi.hpp), compiled per instruction set.
#include <array>

#include "viterbi_lanes.hpp"
#include "viterbi_stripes.hpp"

namespace tropalign::TROPALIGN_ISA {
namespace {

template <int groups>
void sweep_lanes(const ViterbiLaneTables &tables, std::span<ViterbiTarget> targets, void *scratch) {
    LaneSweep<groups>(tables, targets, scratch).run();
}

template <int B, int P, int vectors>
void sweep_stripes(const ViterbiStripes &tables, std::span<ViterbiTarget> targets, void *scratch) {
    StripedSweep<B, P, vectors>(tables, targets, scratch).run();
}

template <int groups>
constexpr ViterbiArrangement lanes(ViterbiArrangement::Time time) {
    return {LaneSweep<groups>::kSlots, 0, time, sweep_lanes<groups>, nullptr};
}
template <int P, int vectors>
constexpr ViterbiArrangement stripes(ViterbiArrangement::Time time) {
    using Sweep = StripedSweep<kVectorBytes, P, vectors>;
    return {Sweep::kSlots, Sweep::kStripes, time, nullptr, sweep_stripes<kVectorBytes, P, vectors>};
}

// The arrangement for few targets comes first. Times are those of a Zen 5 core at 4.3 GHz.
template <int B>
constexpr auto arrangements_of() {
    if constexpr (B == 64)
        return std::to_array({stripes<B, 1>({22, 0.05F, 0.04F}), stripes<B, 2>({18, 0.11F, 0.12F}),
                              stripes<16, 1>({8, 0.3F, 0.25F}), stripes<16, 2>({12, 0.5F, 0.4F}),
                              lanes<B / 64>({20, 1.65F, 0.5F}), lanes<B / 32>({60, 2.4F, 0.4F})});
    else if constexpr (B == 32)
        return std::to_array({stripes<B, 1>({15, 0.105F, 0.02F}), stripes<B, 2>({12, 0.21F, 0.12F}),
                              stripes<16, 2>({8, 0.385F, 0.4F}), lanes<2>({15, 2.77F, 0.2F})});
    else
        return std::to_array(
            {stripes<B, 1>({9, 0.23F, 0.08F}), stripes<B, 2>({8, 0.4F, 0.17F}), lanes<2>({8, 3.3F, 0})});
}
constexpr auto arrangements = arrangements_of<kVectorBytes>();

}  // namespace

#define TROPALIGN_STRING_(x) #x
#define TROPALIGN_STRING(x) TROPALIGN_STRING_(x)
extern const ViterbiKernels viterbi_kernels = {TROPALIGN_STRING(TROPALIGN_ISA), kLookup, arrangements};

}  // namespace tropalign::TROPALIGN_ISA
