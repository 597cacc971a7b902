// Both parsers with as many groups of targets as registers hold.
#include "backward_parser.hpp"
#include "forward_parser.hpp"

namespace tropalign::TROPALIGN_ISA {
namespace {

template <int G>
void forward(const FloatTables &tables, ParserQueue &queue, float *cells) {
    ForwardParser<G>(tables, queue, cells).run();
}

template <int G>
void backward(const FloatTables &tables, ParserQueue &queue, float *cells) {
    BackwardParser<G>(tables, queue, cells).run();
}

// Four groups want 32 registers.
#if defined(__AVX512F__) || defined(__ARM_NEON)
constexpr int kMostGroups = 4;
#else
constexpr int kMostGroups = 2;
#endif

}  // namespace

extern const ParserKernels parser_kernels = {kMostQuads,
                                             kMostGroups,
                                             {forward<1>, forward<2>, forward<kMostGroups>},
                                             {backward<1>, backward<2>, backward<kMostGroups>}};

}  // namespace tropalign::TROPALIGN_ISA
