// A search: models against a block of targets, from the first filter to the hits.
//
//     MSV -> biased composition -> Viterbi -> Forward -> domains
//
// The order of the filters, and the conditions for skipping them, are those of HMMER 3's pipeline: if a target's
// MSV score is good enough for the Viterbi filter's threshold, its Viterbi score is not computed.
#pragma once
#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "../compute/poll.hpp"
#include "domains.hpp"
#include "hit.hpp"
#include "search_model.hpp"
#include "targets.hpp"

namespace tropalign {

/// Criteria of hits that may be reported in the end; others are dropped, since later targets only raise E-values.
struct Reporting {
    double E = std::numeric_limits<double>::infinity();   ///< Highest E-value.
    double Z = 0;                                         ///< Number of targets for E-values; 0: the number so far.
    double T = -std::numeric_limits<double>::infinity();  ///< Lowest score, in bits.
    int64_t n_before = 0;                                 ///< Targets (in a scan: models) before those of the block.
    bool is_scan = false;                                 ///< Models count as targets.

    bool keeps(const TargetHit &hit, int32_t model) const;
};

struct PipelineOptions {
    double f1 = .02, f2 = 1e-3, f3 = 1e-5;  ///< P-values up to which targets pass MSV, Viterbi and Forward.
    bool bias_filter = true;
    DomainOptions domains;
    Reporting reporting;
};

enum class Filter { msv, bias, viterbi, forward, count };

/// Numbers that passed each filter, by Filter.
using Passed = std::array<int64_t, static_cast<size_t>(Filter::count)>;

struct SearchResult {
    std::vector<Passed> by_model, by_target;
    std::vector<std::vector<TargetHit>> hits;  ///< [model], by target.
};

/// Targets of a model that passed the MSV filter, with their scores.
struct Survivors {
    std::vector<int32_t> targets;
    std::vector<float> msv_nats;
    std::vector<float> viterbi_nats;  ///< Empty if unknown.
};

using SearchModels = std::span<const SearchModel *const>;

/// Search all targets of the block with each model. `poll` receives the number of comparisons decided; if it
/// returns false the search stops, and the result is invalid.
SearchResult search_block(SearchModels models, const TargetBlock &block, const PipelineOptions &options, int n_threads,
                          const Poll &poll);

/// Continue a search whose MSV filter, and optionally Viterbi scores, have been computed elsewhere: survivors[k]
/// are those of model k.
SearchResult finish_block(SearchModels models, const TargetBlock &block, std::vector<Survivors> survivors,
                          const PipelineOptions &options, int n_threads, const Poll &poll);

}  // namespace tropalign
