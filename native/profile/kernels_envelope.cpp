// Envelopes of a unit, as wide as the instruction set has vectors, or one at a time.
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

}  // namespace

extern const EnvelopeKernels envelope_kernels = {kMostQuads, rescore<kMostQuads>, rescore<1>};

}  // namespace tropalign::TROPALIGN_ISA
