#include "progressive.hpp"

#include <algorithm>

namespace tropalign {
namespace {

/// Runs the merges whose children are all done: several at a time, a thread each, or a large one by all threads.
class PosteriorProgressive {
  public:
    PosteriorProgressive(const PosteriorStore &store, const std::array<int32_t, 2> *children, const double *weights,
                         int n_threads, Watch &watch)
        : store_(store), children_(children), weights_(weights), n_threads_(n_threads), watch_(watch),
          n_(store.n_sequences()), columns_(store), groups_(2 * static_cast<size_t>(n_) - 1) {
        for (int32_t x = 0; x < n_; ++x) groups_[x] = {{x}, store.length(x)};
    }

    ResidueColumns run() {
        for (const std::vector<int32_t> &wave : waves()) {
            if (watch_.is_stopped()) break;
            run_wave(wave);
        }
        return std::move(columns_);
    }

  private:
    /// Return the nodes by height, in waves: a node depends on nodes of earlier waves only.
    std::vector<std::vector<int32_t>> waves() const {
        std::vector<int32_t> height(groups_.size(), 0);
        std::vector<std::vector<int32_t>> found;
        for (int32_t k = 0; k < n_ - 1; ++k) {
            const size_t above = static_cast<size_t>(std::max(height[children_[k][0]], height[children_[k][1]]));
            height[n_ + k] = static_cast<int32_t>(above) + 1;
            if (found.size() <= above) found.resize(above + 1);
            found[above].push_back(n_ + k);
        }
        return found;
    }

    int64_t cost(int32_t node) const {
        const auto &[one, other] = children_[node - n_];
        const int64_t n_pairs = static_cast<int64_t>(groups_[one].members.size() * groups_[other].members.size());
        return n_pairs * groups_[one].n_columns + int64_t{groups_[one].n_columns} * groups_[other].n_columns / 8;
    }

    /// Run a wave; a merge that takes more than a thread's share of the wave is done by all threads.
    void run_wave(const std::vector<int32_t> &wave) {
        int64_t total = 0;
        for (int32_t node : wave) total += cost(node);
        std::vector<int32_t> small;
        for (int32_t node : wave)
            if (cost(node) <= total / n_threads_) small.push_back(node);
            else merge(node, n_threads_);
        parallel(n_threads_, static_cast<int64_t>(small.size()), 1,
                 [&](int, int64_t k) { merge(small[static_cast<size_t>(k)], 1); });
    }

    void merge(int32_t node, int n_threads) {
        if (watch_.is_stopped()) return;
        const auto &[one, other] = children_[node - n_];
        AlignedGroup &first = groups_[one], &second = groups_[other];
        const std::vector<CrossPair> pairs = all_cross_pairs(store_, first, second, weights_);
        const MergedColumns merged = align_columns(store_, columns_, first, second, pairs, n_threads, watch_);
        if (watch_.is_stopped()) return;
        move_columns(columns_, first.members, merged.first);
        move_columns(columns_, second.members, merged.second);
        first.members.insert(first.members.end(), second.members.begin(), second.members.end());
        groups_[node] = {std::move(first.members), merged.n_columns};
        watch_.advance(1);
    }

    const PosteriorStore &store_;
    const std::array<int32_t, 2> *children_;
    const double *weights_;
    const int n_threads_;
    Watch &watch_;
    const int32_t n_;
    ResidueColumns columns_;
    std::vector<AlignedGroup> groups_;  // of each node
};

}  // namespace

ResidueColumns align_progressively(const PosteriorStore &store, const std::array<int32_t, 2> *children,
                                   const double *weights, int n_threads, Watch &watch) {
    return PosteriorProgressive(store, children, weights, n_threads, watch).run();
}

}  // namespace tropalign
