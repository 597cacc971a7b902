// What the kernels of the parsers take and leave, and the table of them that every instruction set fills.
#pragma once
#include <cstddef>
#include <cstdint>

#include "float_tables.hpp"

namespace tropalign {

/// A target that begins its way through a parser. It has residues.
struct ParserTarget {
    const uint8_t *codes;
    int32_t L;
    float loop, move;
    float *rows;           ///< [L + 1][kSpecials], to be filled; or nullptr.
    const float *forward;  ///< For Backward: Forward's rows.
};

struct ParserResult {
    float nats;
    bool own_scales;  ///< Of Backward.
};

/// The targets of a call, which lanes take one after another: the longest ones first, so that lanes end at about the
/// same time.
class ParserQueue {
  public:
    explicit ParserQueue(size_t given_size) : size(given_size) {}
    virtual ~ParserQueue();
    virtual ParserTarget begin(size_t k) = 0;
    virtual void end(size_t k, const ParserResult &found) = 0;

    const size_t size;
};

struct ParserKernels {
    int n_quads;      ///< Targets per vector.
    int most_groups;  ///< Vectors side by side: 1, 2 or 4.
    /// Indexed by the logarithm of the number of groups. `cells` has room for [Q][groups][3] vectors.
    void (*forward[3])(const FloatTables &tables, ParserQueue &queue, float *cells);
    void (*backward[3])(const FloatTables &tables, ParserQueue &queue, float *cells);
};

/// The table of the chosen instruction set.
const ParserKernels *selected_parser_kernels();

}  // namespace tropalign
