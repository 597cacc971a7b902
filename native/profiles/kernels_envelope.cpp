// Envelopes of a unit: Forward, Backward and accuracy sweeps (recurrences in envelope_forward.hpp,
// envelope_backward.hpp and envelope_accuracy.hpp).
#include "envelope_accuracy.hpp"
#include "envelope_backward.hpp"
#include "envelope_forward.hpp"

namespace tropalign::TROPALIGN_ISA {
namespace {

template <int N>
void rescore(EnvelopeUnit &unit) {
    ForwardSweep<N>(unit).run();
    BackwardSweep<N> backward(unit);
    const QuadLanes<N> total = backward.run();
    AccuracySweep<N>(unit, total, backward.has_own_scales()).run();
}

template <int N>
constexpr auto kernel() {
    if constexpr (N <= kMostQuads) return rescore<N>;
    else return nullptr;
}

}  // namespace

extern const EnvelopeKernels envelope_kernels = {{kernel<1>(), kernel<2>(), kernel<4>()}};

}  // namespace tropalign::TROPALIGN_ISA
