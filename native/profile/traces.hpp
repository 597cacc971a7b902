// Stochastic traces: alignments of a region of a target to a multihit profile, drawn by their probabilities from the
// matrix of Forward, as HMMER draws them, with its random numbers and its rounding.
#pragma once
#include <cstdint>
#include <vector>

#include "full_matrix.hpp"
#include "search_model.hpp"
#include "targets.hpp"
#include "trace_random.hpp"

namespace tropalign {

/// What traces read of a model, by node.
struct TraceTables {
    int32_t M = 0, Q = 0;
    /// [M + 1][8]: B -> M, M -> M, I -> M, D -> M of those that enter node k, M -> I and I -> I at it, M -> D and D ->
    /// D that enter it. Node 0 is zero.
    std::vector<float> steps;
    /// [M + 1][kLetters]: match odds of the canonical residues, then zeros.
    std::vector<float> odds;
    static constexpr int kStep = 8, kLetters = 32;
};
TraceTables make_trace_tables(const ProfileModel &model);

/// A domain of a trace, from its first to its last match. Residues count from the target's begin; all is half-open.
struct Segment {
    int32_t trace = 0;
    int32_t begin = 0, end = 0;
    int32_t model_begin = 0, model_end = 0;
};

/// Part of a target, 0-based and half-open.
struct TargetPart {
    int32_t target, begin, end;
};

/// Draws n traces of a region. Appends their domains, trace by trace and from left to right. scores[i] becomes, for
/// residue i of the region, the logarithm of the mean over traces of its odds by the composition of the domain that it
/// is in (HMMER's null2), which are 1 outside.
void trace_region(const SearchModel &model, const TargetBlock &block, const TargetPart &region, int32_t n,
                  TraceRandom &random, std::vector<Segment> &segments, float *scores);

}  // namespace tropalign
