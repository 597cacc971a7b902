#include "clusters.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace tropalign {
namespace {

/// At least 4/5 of `length`. HMMER divides as floats and compares with .8f: a quotient of whole numbers below 2^17
/// other than 4/5 itself is further from it than rounding reaches.
bool is_most(int64_t overlap, int64_t length) { return 5 * overlap >= 4 * length; }

bool are_linked(const Segment &a, const Segment &b, int32_t diagonals) {
    const int32_t overlap = std::min(a.end, b.end) - std::max(a.begin, b.begin);
    if (!is_most(overlap, std::min(a.end - a.begin, b.end - b.begin))) return false;
    // In the model HMMER counts one node less.
    const int32_t nodes = std::min(a.model_end, b.model_end) - std::max(a.model_begin, b.model_begin) - 1;
    if (!is_most(nodes, std::min(a.model_end - a.model_begin, b.model_end - b.model_begin))) return false;
    return std::abs((a.begin - a.model_begin) - (b.begin - b.model_begin)) <= diagonals ||
           std::abs((a.end - a.model_end) - (b.end - b.model_end)) <= diagonals;
}

/// The number of each segment's cluster. Clusters are numbered in the order in which Easel's search of the graph comes
/// upon them, which decides between clusters that begin at the same residue.
std::vector<int32_t> link_segments(const std::vector<Segment> &segments, int32_t diagonals, int32_t &n_clusters) {
    const auto n = static_cast<int32_t>(segments.size());
    std::vector<int32_t> waiting(n), found, cluster_of(n);
    for (int32_t k = 0; k < n; ++k) waiting[k] = n - 1 - k;
    for (n_clusters = 0; !waiting.empty(); ++n_clusters) {
        found.push_back(waiting.back()), waiting.pop_back();
        while (!found.empty()) {
            const int32_t v = found.back();
            found.pop_back();
            cluster_of[v] = n_clusters;
            for (size_t k = waiting.size(); k-- > 0;) {
                if (!are_linked(segments[v], segments[waiting[k]], diagonals)) continue;
                found.push_back(waiting[k]);
                waiting[k] = waiting.back(), waiting.pop_back();
            }
        }
    }
    return cluster_of;
}

/// How often each number of an interval comes; the first number of at least `enough` from the left or right end, or
/// that which comes most often.
template <class Get>
int32_t outermost(const std::vector<const Segment *> &members, Get get, int32_t enough, bool from_right) {
    int32_t low = get(*members[0]), high = low;
    for (const Segment *s : members) low = std::min(low, get(*s)), high = std::max(high, get(*s));
    std::vector<int32_t> counts(high - low + 1);
    for (const Segment *s : members) ++counts[get(*s) - low];
    const auto is_enough = [&](int32_t count) { return count >= enough; };
    if (from_right) {
        const auto at = std::find_if(counts.rbegin(), counts.rend(), is_enough);
        if (at != counts.rend()) return high - static_cast<int32_t>(at - counts.rbegin());
    } else {
        const auto at = std::find_if(counts.begin(), counts.end(), is_enough);
        if (at != counts.end()) return low + static_cast<int32_t>(at - counts.begin());
    }
    return low + static_cast<int32_t>(std::max_element(counts.begin(), counts.end()) - counts.begin());
}

void add_cluster(const std::vector<const Segment *> &members, int32_t n_traces, const ClusterThresholds &thresholds,
                 std::vector<Cluster> &clusters) {
    int32_t of_traces = 0, last = -1;
    for (const Segment *s : members) of_traces += s->trace != last, last = s->trace;
    const float probability = static_cast<float>(of_traces) / static_cast<float>(n_traces);
    if (probability < thresholds.min_probability) return;
    const auto enough = static_cast<int32_t>(ceilf(static_cast<float>(of_traces) * thresholds.min_end_share));
    const Cluster cluster{outermost(
                              members, [](const Segment &s) { return s.begin; }, enough, false),
                          outermost(
                              members, [](const Segment &s) { return s.end; }, enough, true),
                          outermost(
                              members, [](const Segment &s) { return s.model_begin; }, enough, false),
                          outermost(members, [](const Segment &s) { return s.model_end; }, enough, true), probability};
    if (cluster.begin < cluster.end && cluster.model_begin < cluster.model_end) clusters.push_back(cluster);
}

/// Of two that overlap for the most part, the less probable one goes, at a tie the first.
void drop_dominated(std::vector<Cluster> &clusters) {
    const size_t n = clusters.size();
    std::vector<bool> is_dominated(n);
    for (size_t a = 0; a < n; ++a)
        for (size_t b = a + 1; b < n; ++b) {
            const Cluster &x = clusters[a], &y = clusters[b];
            const int32_t overlap = std::min(x.end, y.end) - std::max(x.begin, y.begin);
            if (overlap == 0) break;  // as HMMER: not at a gap between them
            if (is_most(overlap, std::min(x.end - x.begin, y.end - y.begin)))
                is_dominated[x.probability > y.probability ? b : a] = true;
        }
    size_t kept = 0;
    for (size_t k = 0; k < n; ++k)
        if (!is_dominated[k]) clusters[kept++] = clusters[k];
    clusters.resize(kept);
}

}  // namespace

std::vector<Cluster> cluster_segments(const std::vector<Segment> &segments, int32_t n_traces,
                                      const ClusterThresholds &thresholds) {
    int32_t n_clusters = 0;
    const std::vector<int32_t> cluster_of = link_segments(segments, thresholds.diagonals, n_clusters);
    std::vector<std::vector<const Segment *>> members(n_clusters);
    for (size_t k = 0; k < segments.size(); ++k) members[cluster_of[k]].push_back(&segments[k]);
    std::vector<Cluster> clusters;
    for (const auto &cluster : members) add_cluster(cluster, n_traces, thresholds, clusters);
    std::stable_sort(clusters.begin(), clusters.end(),
                     [](const Cluster &a, const Cluster &b) { return a.begin < b.begin; });
    drop_dominated(clusters);
    return clusters;
}

}  // namespace tropalign
