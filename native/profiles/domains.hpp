// From targets that passed Forward to hits: the positions of their domains, the score of each domain, and the
// resulting score of the target. Equivalent to HMMER's p7_domaindef_ByPosteriorHeuristics and the end of its
// p7_Pipeline.
#pragma once
#include <cstdint>
#include <vector>

#include "clusters.hpp"
#include "hit.hpp"
#include "parsers.hpp"
#include "regions.hpp"
#include "search_model.hpp"
#include "targets.hpp"

namespace tropalign {

struct DomainOptions {
    RegionThresholds regions;
    ClusterThresholds clusters;
    int32_t n_traces = 200;  ///< Stochastic traces per clustered region.
    uint32_t seed = 42;      ///< Seed of the random numbers of each region.
    bool null2 = true;       ///< True if biased composition lowers scores.
};

/// Append a hit for each target that has a domain, in the order of the targets, regardless of its score. parsed[k]
/// belongs to targets[k] and has been processed by forward_parse; its rows are released.
void find_domains(const SearchModel &model, const TargetBlock &block, Targets targets, ParsedTarget *parsed,
                  const DomainOptions &options, std::vector<TargetHit> &out);

}  // namespace tropalign
