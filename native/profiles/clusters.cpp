#include "clusters.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "traces.hpp"

namespace tropalign {
namespace {

/// True if `overlap` is at least 4/5 of `length`. HMMER divides as floats and compares with .8f: a quotient of
/// integers below 2^17 other than 4/5 itself differs from it by more than rounding can.
bool is_most(int32_t overlap, int32_t length) { return 5 * overlap >= 4 * length; }

/// Single linkage: assigns a cluster number to each segment.
///
/// Clusters are numbered, and their segments visited, in the order of Easel's search of the graph, which decides
/// between clusters that start at the same residue: a stack of waiting segments, the first on top; the top one
/// starts a cluster; each segment that is linked with one of the cluster leaves the stack, those nearest to the
/// top first, and the top fills its position. Here the linked segments are found by their position in the target,
/// and removed in that order.
class Linkage {
  public:
    Linkage(const std::vector<Segment> &segments, int32_t diagonals)
        : segments_(segments), diagonals_(diagonals), kernels_(*selected_ensemble_kernels()), rank_of_(segments.size()),
          cluster_of_(segments.size(), -1) {
        const auto n = static_cast<int32_t>(segments.size());
        for (int32_t k = n; k-- > 0;) waiting_.push_back(k), rank_of_[k] = n - 1 - k;
        ids_.resize(n);
        std::iota(ids_.begin(), ids_.end(), 0);
        std::stable_sort(ids_.begin(), ids_.end(),
                         [&](int32_t a, int32_t b) { return segments[a].begin < segments[b].begin; });
        for (const Segment &s : segments) longest_ = std::max(longest_, s.end - s.begin);
        sort_out();
    }

    std::vector<int32_t> run(int32_t &n_clusters) {
        std::vector<int32_t> found;
        for (n_clusters = 0; !waiting_.empty(); ++n_clusters) {
            found.push_back(waiting_.back()), take(waiting_.back(), n_clusters);
            while (!found.empty()) {
                const int32_t v = found.back();
                found.pop_back();
                find_linked(segments_[v]);
                for (const int32_t w : linked_) found.push_back(w), take(w, n_clusters);
            }
        }
        return std::move(cluster_of_);
    }

  private:
    /// Remove a segment from the stack.
    void take(int32_t v, int32_t cluster) {
        cluster_of_[v] = cluster;
        const int32_t rank = rank_of_[v], top = waiting_.back();
        waiting_[rank] = top, rank_of_[top] = rank;
        waiting_.pop_back();
    }

    /// Rebuild the columns of the waiting segments, sorted by start, without those removed since.
    void sort_out() {
        std::erase_if(ids_, [&](int32_t k) { return cluster_of_[k] >= 0; });
        for (auto *column : {&columns_.begin, &columns_.end, &columns_.model_begin, &columns_.model_end})
            column->resize(ids_.size() + SegmentColumns::kSpare);
        for (size_t k = 0; k < ids_.size(); ++k) {
            const Segment &s = segments_[ids_[k]];
            columns_.begin[k] = s.begin, columns_.end[k] = s.end;
            columns_.model_begin[k] = s.model_begin, columns_.model_end[k] = s.model_end;
        }
        places_.resize(ids_.size());
    }

    /// Set linked_ to the waiting segments that are linked with a segment, from the top of the stack down.
    void find_linked(const Segment &segment) {
        linked_.clear();
        if (waiting_.empty()) return;
        if (5 * waiting_.size() < 4 * ids_.size()) sort_out();
        const auto begins = columns_.begin.begin(), end = begins + static_cast<ptrdiff_t>(ids_.size());
        const auto first = std::upper_bound(begins, end, segment.begin - longest_);
        const auto last = std::lower_bound(first, end, segment.end);
        const size_t n = kernels_.linked(columns_, first - begins, last - begins, segment, diagonals_, places_.data());
        for (size_t k = 0; k < n; ++k)
            if (const int32_t id = ids_[places_[k]]; cluster_of_[id] < 0) linked_.push_back(id);
        std::sort(linked_.begin(), linked_.end(), [&](int32_t a, int32_t b) { return rank_of_[a] > rank_of_[b]; });
    }

    const std::vector<Segment> &segments_;
    const int32_t diagonals_;
    const EnsembleKernels &kernels_;
    int32_t longest_ = 0;
    std::vector<int32_t> waiting_, rank_of_;  // the stack, and the position of each segment in it
    std::vector<int32_t> cluster_of_;         // -1: waiting
    std::vector<int32_t> ids_;                // segments in the order of the columns
    SegmentColumns columns_;
    std::vector<int32_t> places_, linked_;
};

/// Count each value of an interval; return the first value from the left or right end with at least `enough`
/// occurrences, else the most frequent one.
template <class Get>
int32_t outermost(std::span<const Segment> members, Get get, int32_t enough, bool from_right) {
    int32_t low = get(members[0]), high = low;
    for (const Segment &s : members) low = std::min(low, get(s)), high = std::max(high, get(s));
    std::vector<int32_t> counts(high - low + 1);
    for (const Segment &s : members) ++counts[get(s) - low];
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

void add_cluster(std::span<const Segment> members, int32_t n_traces, const ClusterThresholds &thresholds,
                 std::vector<Cluster> &clusters) {
    int32_t of_traces = 0, last = -1;
    for (const Segment &s : members) of_traces += s.trace != last, last = s.trace;
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

/// Drop the less probable one of two clusters that mostly overlap, at a tie the first.
void drop_dominated(std::vector<Cluster> &clusters) {
    const size_t n = clusters.size();
    std::vector<bool> is_dominated(n);
    for (size_t a = 0; a < n; ++a)
        for (size_t b = a + 1; b < n; ++b) {
            const Cluster &x = clusters[a], &y = clusters[b];
            const int32_t overlap = std::min(x.end, y.end) - std::max(x.begin, y.begin);
            if (overlap == 0) break;  // as in HMMER; a negative overlap does not end the loop
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
    const std::vector<int32_t> cluster_of = Linkage(segments, thresholds.diagonals).run(n_clusters);
    // Members of cluster c: positions [begins[c], begins[c + 1]), by ascending trace.
    std::vector<int32_t> begins(n_clusters + 2);
    for (const int32_t c : cluster_of) ++begins[c + 2];
    std::partial_sum(begins.begin(), begins.end(), begins.begin());
    std::vector<Segment> members(segments.size());
    for (size_t k = 0; k < segments.size(); ++k) members[begins[cluster_of[k] + 1]++] = segments[k];
    std::vector<Cluster> clusters;
    for (int32_t c = 0; c < n_clusters; ++c)
        add_cluster({members.data() + begins[c], members.data() + begins[c + 1]}, n_traces, thresholds, clusters);
    std::stable_sort(clusters.begin(), clusters.end(),
                     [](const Cluster &a, const Cluster &b) { return a.begin < b.begin; });
    drop_dominated(clusters);
    return clusters;
}

}  // namespace tropalign
