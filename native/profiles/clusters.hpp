// Clusters, by single linkage, of the domains of stochastic traces at similar positions of target and model, and
// an envelope for each cluster of enough traces, by HMMER's rules.
#pragma once
#include <cstdint>
#include <vector>

#include "traces.hpp"

namespace tropalign {

struct ClusterThresholds {
    int32_t diagonals = 4;          ///< Maximum distance of the starts or ends of linked domains, in diagonals.
    float min_probability = 0.25f;  ///< A cluster's share of the traces.
    float min_end_share = 0.02f;    ///< An envelope's ends are the outermost that this share of the cluster has.
};

/// An envelope; half-open, like Segment.
struct Cluster {
    int32_t begin = 0, end = 0;
    int32_t model_begin = 0, model_end = 0;
    float probability = 0;
};

/// Return clusters by ascending start. Of clusters that overlap in the target, the less probable ones are dropped.
std::vector<Cluster> cluster_segments(const std::vector<Segment> &segments, int32_t n_traces,
                                      const ClusterThresholds &thresholds);

}  // namespace tropalign
