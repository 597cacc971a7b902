// Both parsers (recurrences in forward_parser.hpp and backward_parser.hpp) with as many groups of targets as registers
// hold.
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

// Four groups need 32 registers.
constexpr int kMostGroups = kVectorRegisters == 32 ? 4 : 2;

}  // namespace

extern const ParserKernels parser_kernels = {kMostQuads,
                                             kMostGroups,
                                             {forward<1>, forward<2>, forward<kMostGroups>},
                                             {backward<1>, backward<2>, backward<kMostGroups>}};

}  // namespace tropalign::TROPALIGN_ISA
