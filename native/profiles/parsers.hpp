// The Forward and Backward parsers: the sum over all alignments of a target to a local multihit profile, with one row
// of the matrix at a time. Only the special states of a row are kept. HMMER 3.4's numbers to the last bit: odds ratios
// in floats that are scaled down whenever a row grows beyond 10,000, each sum in the order of HMMER's four-float lanes.
//
// The special states are E (end of a domain), N and C (residues before the first and after the last domain), J
// (between domains) and B (start of a domain). Rows count from 0 (before the first residue) to L.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "float_tables.hpp"
#include "search_model.hpp"
#include "targets.hpp"

namespace tropalign {

// The inputs and outputs of the parser kernels, and the table of them that every instruction set fills.

/// A target that enters a parser. It is not empty.
struct ParserTarget {
    const uint8_t *codes;
    int32_t L;
    float loop, move;
    float *rows;           ///< [L + 1][kSpecials], to be filled; or nullptr.
    const float *forward;  ///< For Backward: Forward's rows.
};

struct ParserResult {
    float nats;
    bool own_scales;  ///< Backward scaled rows by factors of its own.
};

/// The targets of a call. Lanes take the targets one after another, the longest first, so that lanes end at about the
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

/// Return the table of the chosen instruction set.
const ParserKernels *selected_parser_kernels();

enum Special { kE, kN, kJ, kB, kC, kScale, kSpecials };

/// Transitions of the special states for a target of length L, in local multihit mode.
struct LengthOdds {
    float loop, move;                                       ///< N -> N, C -> C, J -> J; N -> B, C -> T, J -> B.
    static constexpr float kEndMove = .5f, kEndLoop = .5f;  // E -> C, E -> J
};
LengthOdds length_odds(int32_t L);

struct ParsedTarget {
    float forward_nats = 0;   ///< -inf without residues, or if all are gaps.
    float backward_nats = 0;  ///< The same sum, computed backward.
    bool own_scales = false;  ///< Backward had to scale rows by factors other than Forward's.
    /// [L + 1][kSpecials], each row divided by its factor kScale and those of the rows before (Backward: after)
    /// it.
    std::vector<float> forward, backward;
};

/// Compute only the scores, in nats.
void forward_scores(const SearchModel &model, const TargetBlock &block, Targets targets, float *nats);

/// True if the rows of targets[k], whose score is `nats`, are kept; called once per target, in any order.
using KeepRows = std::function<bool(size_t k, float nats)>;

/// Set forward_nats of out[k], and forward if `keep` returns true (always without `keep`).
void forward_parse(const SearchModel &model, const TargetBlock &block, Targets targets, ParsedTarget *out,
                   const KeepRows &keep = {});

/// Set backward, backward_nats and own_scales of all targets; their forward must be set.
void backward_parse(const SearchModel &model, const TargetBlock &block, Targets targets, ParsedTarget *inout);

}  // namespace tropalign
