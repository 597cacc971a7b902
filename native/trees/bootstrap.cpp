#include "bootstrap.hpp"

#include <algorithm>
#include <cmath>

#include "../compute/parallel.hpp"
#include "joining.hpp"

namespace tropalign {
namespace {

/// Return a pseudorandom number determined by x (Steele, Lea and Flood 2014).
uint64_t mixed(uint64_t x) {
    x += 0x9E3779B97F4A7C15;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
    return x ^ (x >> 31);
}

/// A number per split: the exclusive or of the random numbers of the leaves on one side. Without a root both sides are
/// equivalent, and the smaller number is used. The probability that two of a million splits share a number of 64
/// bits is one in 40 million.
class Splits {
  public:
    Splits(int64_t n_leaves, bool is_rooted) : n_leaves_(n_leaves), is_rooted_(is_rooted) {
        for (int64_t k = 0; k < n_leaves; ++k) all_ ^= mixed(k);
    }

    /// Return the splits of each node except the root.
    std::vector<uint64_t> of(const int32_t *parents, int64_t n_nodes) const {
        std::vector<uint64_t> sides(n_nodes, 0);
        for (int64_t k = 0; k < n_leaves_; ++k) sides[k] = mixed(k);
        for (int64_t k = 0; k < n_nodes - 1; ++k) sides[parents[k]] ^= sides[k];
        sides.pop_back();
        if (!is_rooted_)
            for (uint64_t &side : sides) side = std::min(side, side ^ all_);
        return sides;
    }

  private:
    const int64_t n_leaves_;
    const bool is_rooted_;
    uint64_t all_ = 0;
};

template <class Pairs>
void set_parents(const Pairs &children, int64_t n_leaves, std::vector<int32_t> &parents) {
    for (size_t k = 0; k < children.size(); ++k)
        for (int32_t child : children[k]) parents[child] = static_cast<int32_t>(n_leaves + k);
}

/// Return the parents of the nodes of a sample's tree; its distances are overwritten.
std::vector<int32_t> parents_of(double *distances, int32_t n, const Bootstrap &bootstrap) {
    const bool is_joining = bootstrap.is_joining;
    const Poll go_on = [](int64_t) { return true; };
    std::vector<int32_t> parents(2 * static_cast<size_t>(n) - (is_joining ? 2 : 1), -1);
    if (is_joining) {
        const JoinedTree tree = join_neighbours(distances, n, false, go_on);
        set_parents(tree.children, n, parents);
        for (int32_t child : tree.last) parents[child] = 2 * n - 3;
    } else {
        set_parents(join_clusters(distances, n, bootstrap.linkage, go_on).children, n, parents);
    }
    return parents;
}

/// Memory of a thread for a sample.
struct Sample {
    CodedRows rows;
    std::vector<double> distances;
    std::vector<int32_t> columns;
};

/// Call take(thread, item, parents) with the tree of each sample; false if poll ended the work.
template <class Take>
bool with_samples(const CodedRows &rows, const Bootstrap &bootstrap, int n_threads, const Poll &poll,
                  const Take &take) {
    const int64_t n = rows.n_rows(), n_pairs = n * (n - 1) / 2;
    std::vector<Sample> samples;
    for (int thread = 0; thread < n_threads; ++thread)
        samples.push_back({CodedRows(n, bootstrap.n_columns), std::vector<double>(n_pairs),
                           std::vector<int32_t>(bootstrap.n_columns)});
    const auto work = [&](int thread, int64_t item) {
        Sample &sample = samples[thread];
        uint64_t state = mixed(bootstrap.seed ^ mixed(static_cast<uint64_t>(bootstrap.first_sample + item)));
        for (int32_t &column : sample.columns) {
            state = mixed(state);
            column = static_cast<int32_t>((static_cast<unsigned __int128>(state) * bootstrap.n_columns) >> 64);
        }
        sample.rows.take_columns(rows, sample.columns.data(), bootstrap.n_columns);
        aligned_distances(sample.rows, bootstrap.model, sample.distances.data());
        for (double &distance : sample.distances)
            if (!std::isfinite(distance)) distance = bootstrap.greatest;
        take(thread, item, parents_of(sample.distances.data(), static_cast<int32_t>(n), bootstrap));
    };
    return parallel(n_threads, bootstrap.n_samples, 1, work, poll);
}

}  // namespace

std::vector<int32_t> bootstrap_counts(const CodedRows &rows, const int32_t *parents, int64_t n_nodes,
                                      const Bootstrap &bootstrap, int n_threads, const Poll &poll) {
    const int64_t n = rows.n_rows();
    const Splits splits(n, !bootstrap.is_joining);
    const std::vector<uint64_t> wanted = splits.of(parents, n_nodes);
    n_threads = useful_threads(n_threads, bootstrap.n_samples, 1);
    std::vector<std::vector<int32_t>> of_threads(n_threads, std::vector<int32_t>(n_nodes, 0));
    const auto count = [&](int thread, int64_t, const std::vector<int32_t> &found) {
        std::vector<uint64_t> there = splits.of(found.data(), static_cast<int64_t>(found.size()));
        std::sort(there.begin(), there.end());
        for (size_t k = n; k < wanted.size(); ++k)
            of_threads[thread][k] += std::binary_search(there.begin(), there.end(), wanted[k]);
    };
    std::vector<int32_t> counts(n_nodes, 0);
    if (!with_samples(rows, bootstrap, n_threads, poll, count)) return counts;
    for (const std::vector<int32_t> &some : of_threads)
        for (int64_t k = 0; k < n_nodes; ++k) counts[k] += some[k];
    return counts;
}

std::vector<uint64_t> bootstrap_splits(const CodedRows &rows, const Bootstrap &bootstrap, int n_threads,
                                       const Poll &poll) {
    const int64_t n = rows.n_rows(), per_sample = splits_per_sample(n, bootstrap.is_joining);
    const Splits splits(n, !bootstrap.is_joining);
    std::vector<uint64_t> all(per_sample * bootstrap.n_samples, 0);
    const auto keep = [&](int, int64_t item, const std::vector<int32_t> &found) {
        const std::vector<uint64_t> there = splits.of(found.data(), static_cast<int64_t>(found.size()));
        std::copy(there.begin() + n, there.end(), all.begin() + item * per_sample);
    };
    with_samples(rows, bootstrap, useful_threads(n_threads, bootstrap.n_samples, 1), poll, keep);
    return all;
}

std::vector<uint64_t> tree_splits(const int32_t *parents, int64_t n_nodes, int64_t n_leaves, bool is_joining) {
    const std::vector<uint64_t> all = Splits(n_leaves, !is_joining).of(parents, n_nodes);
    return {all.begin() + n_leaves, all.end()};
}

}  // namespace tropalign
