// Stochastic traces: alignments of a region of a target to a multihit profile, drawn by their probabilities from the
// matrix of Forward, as HMMER draws them, with its random numbers and its rounding.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "full_matrix.hpp"
#include "search_model.hpp"
#include "segments.hpp"
#include "trace_random.hpp"

namespace tropalign {

/// What traces read of a model, by node.
struct TraceTables {
    int32_t M = 0, Q = 0;
    /// Odds of the transitions that enter node k, of those of its insertion, then of those that enter its deletion.
    /// Node 0 has zeros.
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

/// Draws n traces from the matrix of a region, whose residues are `codes` and which begins at residue `begin` of its
/// target. Appends their domains, trace by trace and from left to right. scores[i] becomes, for residue i of the
/// region, the logarithm of the mean over traces of its odds by the composition of the domain that it is in (HMMER's
/// null2), which are 1 outside.
void draw_traces(const SearchModel &model, const FullMatrix &matrix, const MatrixRegion &region, int32_t begin,
                 int32_t n, TraceRandom &random, std::vector<Segment> &segments, float *scores);

}  // namespace tropalign
