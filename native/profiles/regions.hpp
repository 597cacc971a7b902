// Regions of a target that hold domains, by the posteriors of residues, starts and ends.
#pragma once
#include <cstdint>
#include <vector>

#include "parsers.hpp"

namespace tropalign {

// Positions at which domains start and end in a target, and homologous residues, by the special states'
// posteriors.

struct DomainPosteriors {
    /// By residue, from 1 to L (index 0 is zero): expected number of domains started, and ended, up to here
    /// (HMMER's btot and etot); the probability that a domain contains the residue (mocc).
    std::vector<float> begin, end, homology;
    float n_expected = 0;    ///< Expected number of domains: the last of `begin`.
    bool overflows = false;  ///< The numbers of Backward left the range of floats; hmmsearch gives up here.
};

/// Compute the posteriors; `parsed` has been processed by both parsers.
void domain_posteriors(const TargetBlock &block, int32_t target, const ParsedTarget &parsed, DomainPosteriors &out);

struct Region {
    int32_t begin = 0, end = 0;  ///< Residues, 0-based and half-open.
    bool is_clustered = false;   ///< May hold several domains: stochastic traces are clustered to separate them.

    int32_t length() const { return end - begin; }
};

/// HMMER's thresholds, all of them probabilities or expected numbers.
struct RegionThresholds {
    float trigger = 0.25f;  ///< Probability of homology that a region reaches at some residue (rt1).
    float extent = 0.10f;   ///< A region ends where that probability, excluding starts or ends, falls below this (rt2).
    float several = 0.20f;  ///< Expected number of ends before a start in regions to be clustered (rt3).
};

std::vector<Region> find_regions(const DomainPosteriors &posteriors, const RegionThresholds &thresholds);

}  // namespace tropalign
