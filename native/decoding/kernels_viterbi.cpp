// Best paths (viterbi.hpp): choice of the method for a model. Compiled per instruction set.
#include "viterbi_dense.hpp"
#include "viterbi_few.hpp"
#include "viterbi_many.hpp"
#include "viterbi_trace.hpp"
#include "viterbi_word_kernels.hpp"

namespace tropalign::TROPALIGN_ISA {
namespace {

void forward(const ViterbiModel &model, ForwardStream *streams, int64_t n_streams, double *scratch) {
    using Forward = void (*)(const ViterbiModel &, ForwardStream *, int64_t, double *);
    constexpr Forward kForward[] = {forward_few<1>, forward_few<2>, forward_few<3>, forward_few<4>,
                                    forward_few<5>, forward_few<6>, forward_few<7>, forward_few<8>};
    const int32_t n_vectors = model.stride / kLanes;
    if (n_vectors <= kMostVectors) return kForward[n_vectors - 1](model, streams, n_streams, scratch);
    for (int64_t s = 0; s < n_streams; ++s)
        (model.is_grouped() ? forward_many : forward_dense)(model, streams[s], scratch);
}

}  // namespace

#define TROPALIGN_STRING_(x) #x
#define TROPALIGN_STRING(x) TROPALIGN_STRING_(x)
extern const BestPathKernels best_path_kernels = {TROPALIGN_STRING(TROPALIGN_ISA),
                                                  forward,
                                                  trace<uint8_t>,
                                                  trace<uint16_t>,
                                                  forward_words,
                                                  trace_words,
                                                  lengthen_words,
                                                  kMostVectors * kLanes};

}  // namespace tropalign::TROPALIGN_ISA
