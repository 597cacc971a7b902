// Posterior probabilities of pairs of sequences (stage I of docs/msa.md): which residues are aligned, by a
// pair-HMM and by a partition function, and the elements that are kept.
#pragma once
#include <cstdint>
#include <vector>

#include "../compute/buffer.hpp"
#include "../compute/poll.hpp"
#include "posterior_model.hpp"
#include "posterior_unit.hpp"

namespace tropalign {

/// Pairs (x, y) of concatenated sequences.
struct PosteriorRequest {
    const uint8_t *codes;
    const int64_t *offsets;  // [n_sequences + 1]
    int64_t n_sequences;
    const int32_t *pairs;  // [n_pairs][2]
    int64_t n_pairs;
    float cutoff;  // elements below it are dropped if `keep` is 0
    float keep;    // if above 0: the share of the elements that is kept instead
    int n_threads;
};

/// The results, pair after pair in the order of the request; the rows of a pair are the residues of its x.
struct PosteriorColumns {
    std::vector<float> distance;      // [n_pairs]
    std::vector<uint16_t> row_sizes;  // [sum of the lengths of the x's]
    Buffer<uint16_t> columns;         // ascending in a row
    Buffer<uint16_t> values;          // of kPosteriorOne
};

/// Return the maximum memory of a thread, excluding the results, if no two sequences are longer than m and n.
size_t posterior_scratch_bytes(int32_t m, int32_t n);

/// Compute the posteriors; false if stopped by `poll`, which receives the number of started pairs.
bool pair_posteriors(const PosteriorKernels &, const PosteriorModel &, const PosteriorRequest &, const Poll &,
                     PosteriorColumns &);

// Division of pairs into units that run in parallel: the pairs of a unit share a sequence.

/// The pairs order[begin] .. order[begin + n_lanes - 1] share the sequence `row`.
struct PlannedPosteriors {
    int64_t begin;
    int32_t row;
    int n_lanes;
    int64_t cells;  // swept cells: rows times columns of the longest lane
};

struct PosteriorPlan {
    std::vector<int64_t> order;            // pairs, unit after unit
    std::vector<PlannedPosteriors> units;  // the costliest first
};

/// Make the plan. `pairs` is [n_pairs][2], `lengths` are those of the sequences, `lanes` is the largest number of
/// parallel pairs.
PosteriorPlan plan_posteriors(const int32_t *pairs, int64_t n_pairs, const std::vector<int32_t> &lengths, int lanes);

}  // namespace tropalign
