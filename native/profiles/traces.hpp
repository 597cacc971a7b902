// Stochastic traces: alignments of a region of a target to a multihit profile, drawn by their probabilities from
// the matrix of Forward, with HMMER's method, random numbers and rounding.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "full_matrix.hpp"
#include "search_model.hpp"

namespace tropalign {

// Domains of stochastic traces.

/// A domain of a trace, from its first to its last match. 0-based and half-open.
struct Segment {
    int32_t trace = 0;
    int32_t begin = 0, end = 0;  ///< Residues of the target.
    int32_t model_begin = 0, model_end = 0;
};

// The random numbers of stochastic traces: Easel's fast generator, so that a seed gives the same traces as in
// HMMER.

/// x' = 69069 x + 1 modulo 2^32 (Marsaglia 1972), initialised with the seed mixed with two constants (Jenkins
/// 1997).
class TraceRandom {
  public:
    /// A seed of 0 has no special meaning here; a caller may choose a random seed for it.
    explicit TraceRandom(uint32_t seed) : state_(mixed(seed, 87654321, 12345678)) {
        if (!state_) state_ = 42;
    }

    /// Return a number of [0, 2^32); divided by 2^32 it is a number of [0, 1).
    uint32_t next() { return state_ = state_ * 69069 + 1; }

  private:
    static uint32_t mixed(uint32_t a, uint32_t b, uint32_t c) {
        // Three rounds, each with shifts of c, a and b in turn.
        constexpr int shifts[3][3] = {{13, 8, 13}, {12, 16, 5}, {3, 10, 15}};
        for (const auto &by : shifts) {
            a = (a - b - c) ^ (c >> by[0]);
            b = (b - c - a) ^ (a << by[1]);
            c = (c - a - b) ^ (b >> by[2]);
        }
        return c;
    }

    uint32_t state_;
};

/// Values of a model that traces use, by node.
struct TraceTables {
    int32_t M = 0, Q = 0;
    /// Odds of the transitions that enter node k, then its insertion, then its deletion. Node 0 has zeros.
    struct Step {
        float BM, MM, IM, DM, MI, II, MD, DD;
    };
    std::vector<Step> steps;  ///< [M + 1]
    /// [M + 1]: match odds of the first sixteen residues, and of the last four.
    struct alignas(64) First {
        std::array<float, 16> odds;
    };
    struct alignas(16) Last {
        std::array<float, 4> odds;
    };
    std::vector<First> first_odds;
    std::vector<Last> last_odds;
};

/// Draw n traces from the matrix of a region, whose residues are `codes` and which starts at residue `begin` of
/// its target. Append their domains, trace by trace and from left to right. scores[i] is set, for residue i of the
/// region, to the logarithm of the mean over traces of its odds by the composition of the domain that contains it
/// (HMMER's null2); the odds are 1 outside domains.
void draw_traces(const SearchModel &model, const FullMatrix &matrix, const MatrixRegion &region, int32_t begin,
                 int32_t n, TraceRandom &random, std::vector<Segment> &segments, float *scores);

// The kernels of stochastic traces and of their clusters, and the table of them that every instruction set fills.

/// Traces to be drawn from a matrix.
struct TraceWork {
    const TraceTables &tables;
    const FullMatrix &matrix;
    ModeOdds odds;
    const uint8_t *codes;  ///< Codes of the residues of the matrix.
    int32_t n_traces;
};

/// Domains by columns, in any order, followed by kSpare elements that may be read.
struct SegmentColumns {
    static constexpr size_t kSpare = 15;
    std::vector<int32_t> begin, end, model_begin, model_end;
};

struct EnsembleKernels {
    const char *isa;
    /// Appends domains, whose positions count from the start of the matrix, and adds to scores[i] each trace's
    /// odds of residue i by the composition of its domain.
    void (*draw)(const TraceWork &work, TraceRandom &random, std::vector<Segment> &segments, float *scores);
    /// Writes the indices, in ascending order, of the segments [first, last) that are linked with this one
    /// (clusters.hpp) to `out`; returns their number.
    size_t (*linked)(const SegmentColumns &columns, size_t first, size_t last, const Segment &segment,
                     int32_t diagonals, int32_t *out);
};

/// Return the table of the chosen instruction set.
const EnsembleKernels *selected_ensemble_kernels();

}  // namespace tropalign
