#include "progressive.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "../compute/growing_work.hpp"
#include "align.hpp"

namespace tropalign {
namespace {

/// Sum of the weights of the sequences that are compared with a delayed one, in compat.
constexpr int32_t kCompatTotal = 1000;
/// Without compat, a weight is multiplied by an identity of up to 100, in thousandths.
constexpr double kFineWeights = 1000;
/// Maximum number of columns of a profile, from compat, where scores are below 4096 per column.
constexpr int64_t kMostColumns = int64_t{1} << 18;

ProfileRows merged(const ProfileRows &first, const ProfileRows &second, const std::vector<MergeStep> &steps) {
    ProfileRows found;
    found.n_columns = static_cast<int64_t>(steps.size());
    found.members.resize(first.members.size() + second.members.size());
    std::merge(first.members.begin(), first.members.end(), second.members.begin(), second.members.end(),
               found.members.begin());
    found.letters.resize(found.members.size() * steps.size());
    for (const auto &[group, gap] :
         {std::pair{&first, MergeStep::second_only}, std::pair{&second, MergeStep::first_only}})
        for (size_t k = 0; k < group->members.size(); ++k) {
            const auto place = std::lower_bound(found.members.begin(), found.members.end(), group->members[k]);
            uint8_t *out = found.letters.data() + static_cast<size_t>(place - found.members.begin()) * steps.size();
            const uint8_t *letter = group->row(k);
            for (MergeStep step : steps) *out++ = step == gap ? kClustalwGap : *letter++;
        }
    return found;
}

class ClustalwProgressive {
  public:
    ClustalwProgressive(const ClustalwRules &rules, const ClustalwFamily &family, size_t step_bytes, int n_threads,
                        const Poll &poll)
        : rules_(rules), family_(family), step_bytes_(step_bytes), n_threads_(n_threads), poll_(poll),
          identities_(family), tree_weights_(family.weights, family.weights + family.n),
          groups_(2 * static_cast<size_t>(family.n) - 1) {}

    std::optional<ClustalwAlignment> run() {
        find_delayed();
        if (!align_tree() || !add_delayed()) return {};
        return result();
    }

  private:
    void place(int32_t sequence) {
        const int64_t begin = family_.offsets[sequence], end = family_.offsets[sequence + 1];
        groups_[sequence] = {{sequence}, end - begin, {family_.letters + begin, family_.letters + end}};
    }

    /// Delay the sequences of low identity with all others. Identities are compared as integers.
    void find_delayed() {
        const std::vector<double> highest = identities_.highest();
        std::vector<bool> waits(highest.size());
        for (int32_t k = 0; k < family_.n; ++k) {
            waits[k] = static_cast<int32_t>(highest[k]) <= rules_.delay;
            if (waits[k]) delayed_.push_back(k);
            else place(k);
        }
        find_order(waits);
        means_ = identities_.means(waits);
    }

    /// Find the order in which the first pass adds the sequences: first those below a node's inner children, then the
    /// leaves that are its children, in the order of the family.
    void find_order(const std::vector<bool> &waits) {
        const int32_t n = family_.n;
        std::vector<std::pair<int32_t, bool>> stack{{2 * n - 2, false}};
        while (!stack.empty()) {
            const auto [node, is_left] = stack.back();
            stack.pop_back();
            const auto [one, other] = family_.children[node - n];
            if (is_left) {
                for (int32_t child : {std::min(one, other), std::max(one, other)})
                    if (child < n && !waits[child]) order_.push_back(child);
            } else {
                stack.emplace_back(node, true);
                if (other >= n) stack.emplace_back(other, false);
                if (one >= n) stack.emplace_back(one, false);
            }
        }
    }

    bool align_tree() {
        const int32_t n = family_.n;
        std::vector<int32_t> parents(2 * static_cast<size_t>(n) - 1, -1);
        std::vector<std::atomic<int>> waits(static_cast<size_t>(n - 1));
        std::vector<int32_t> ready;
        for (int32_t k = 0; k < n - 1; ++k) {
            int below = 0;
            for (int32_t child : family_.children[k]) {
                parents[child] = n + k;
                below += child >= n;
            }
            waits[static_cast<size_t>(k)] = below;
            if (below == 0) ready.push_back(n + k);
        }
        GrowingWork<int32_t> work;
        work.add_last(std::move(ready));
        return run_polled(work, n_threads_, [&](int32_t node) {
            join(node);
            const int32_t parent = parents[node];
            if (parent >= 0 && --waits[static_cast<size_t>(parent - n)] == 0) work.add_first({parent});
        });
    }

    template <class Work>
    bool run_polled(GrowingWork<int32_t> &items, int n_threads, Work work) {
        const bool is_done = items.run(n_threads, work, [&] {
            if (!poll_(n_done_)) is_stopped_ = true;
            return !is_stopped_;
        });
        return is_done && !is_stopped_;
    }

    void join(int32_t node) {
        const auto &[one, other] = family_.children[node - family_.n];
        ProfileRows &first = groups_[one], &second = groups_[other];
        if (first.n_columns == 0 || second.n_columns == 0) {
            groups_[node] = std::move(first.n_columns == 0 ? second : first);
            return;
        }
        groups_[node] = aligned(first, second, tree_weights_, means_[node - family_.n]);
        first = second = {};
        ++n_done_;
    }

    /// Align two groups; the larger one is the first profile.
    ProfileRows aligned(const ProfileRows &one, const ProfileRows &other, const std::vector<int32_t> &weights,
                        double identity) {
        const bool swaps = other.members.size() > one.members.size();
        const ProfileRows &first = swaps ? other : one, &second = swaps ? one : other;
        if (std::max(first.n_columns, second.n_columns) > kMostColumns)
            throw std::length_error("profiles are too long for sums of 32 bits");
        const ProfilePair pair = profile_pair(rules_, first, second, weights, identity);
        const std::function<bool()> stopped = [this] { return is_stopped_.load(std::memory_order_relaxed); };
        const std::vector<MergeStep> steps =
            rules_.is_compat ? align_by_halves(pair, stopped) : align_by_rows(pair, step_bytes_, stopped);
        if (is_stopped_) return {};
        return merged(first, second, steps);
    }

    bool add_delayed() {
        if (order_.empty()) begin_with(first_of_most_alike());
        GrowingWork<int32_t> work;
        work.add_last({0});
        return delayed_.empty() || run_polled(work, 1, [&](int32_t) { add_one_by_one(); });
    }

    /// Add the delayed sequences one by one: each time the sequence most similar to any aligned one; at a tie the
    /// first.
    void add_one_by_one() {
        std::vector<int32_t> highest(static_cast<size_t>(family_.n), -1);  // highest identity to an aligned sequence
        auto compare = [&](int32_t sequence) {
            const std::vector<double> here = identities_.with_all(sequence);
            for (int32_t k : delayed_) highest[k] = std::max(highest[k], static_cast<int32_t>(here[k]));
        };
        for (int32_t sequence : order_) compare(sequence);
        while (!delayed_.empty() && !is_stopped_) {
            const auto next = std::max_element(delayed_.begin(), delayed_.end(),
                                               [&](int32_t a, int32_t b) { return highest[a] < highest[b]; });
            const int32_t sequence = *next;
            delayed_.erase(next);
            add(groups_.back(), sequence);
            order_.push_back(sequence);
            compare(sequence);
            ++n_done_;
        }
    }

    /// Return the earlier sequence of the most similar pair. The stored identity is an integer, so that among
    /// pairs with the same integer part the last one with a fraction wins.
    int32_t first_of_most_alike() const {
        int32_t most = -1, found = 0;
        for (int32_t i = 0; i < family_.n; ++i) {
            const std::vector<double> here = identities_.with_all(i);
            for (int32_t j = i + 1; j < family_.n; ++j)
                if (most < here[j]) {
                    most = static_cast<int32_t>(here[j]);
                    found = i;
                }
        }
        return found;
    }

    void begin_with(int32_t sequence) {
        place(sequence);
        groups_.back() = std::move(groups_[sequence]);
        order_.push_back(sequence);
        std::erase(delayed_, sequence);
    }

    void add(ProfileRows &all, int32_t sequence) {
        place(sequence);
        const std::vector<double> identities = identities_.with_all(sequence);
        double sum = 0;
        for (int32_t k : all.members) sum += identities[k];
        const double identity = sum / static_cast<float>(all.members.size());
        all = aligned(all, groups_[sequence], weights_beside(all.members, identities), identity);
        groups_[sequence] = {};
    }

    /// Return the weights of the aligned sequences, times their identities with the new one.
    std::vector<int32_t> weights_beside(const std::vector<int32_t> &members, const std::vector<double> &identities) {
        if (!rules_.has_weights) return tree_weights_;
        if (!rules_.is_compat) {
            std::vector<int32_t> found = tree_weights_;
            const double most = *std::max_element(tree_weights_.begin(), tree_weights_.end());
            for (int32_t k : members) {
                const double share = tree_weights_[k] / most * identities[k] / 100;
                found[k] = std::max(1, static_cast<int32_t>(std::floor(share * kFineWeights * kFineWeights + 0.5)));
            }
            return found;
        }
        int32_t sum = 0;
        for (int32_t k : members) {
            compat_weights_[k] = static_cast<int32_t>(tree_weights_[k] * identities[k]);
            sum += compat_weights_[k];
        }
        if (sum == 0) {
            std::fill(compat_weights_.begin(), compat_weights_.end(), 1);
            sum = family_.n;
        }
        for (int32_t k : members)
            compat_weights_[k] = std::max(1, static_cast<int32_t>(int64_t{compat_weights_[k]} * kCompatTotal / sum));
        return compat_weights_;
    }

    ClustalwAlignment result() {
        const ProfileRows &all = groups_.back();
        ClustalwAlignment found{{}, all.n_columns, std::move(order_)};
        found.columns.reserve(static_cast<size_t>(family_.offsets[family_.n] - family_.offsets[0]));
        for (size_t k = 0; k < all.members.size(); ++k)
            for (int64_t j = 0; j < all.n_columns; ++j)
                if (all.row(k)[j] != kClustalwGap) found.columns.push_back(static_cast<int32_t>(j));
        return found;
    }

    const ClustalwRules &rules_;
    const ClustalwFamily &family_;
    const size_t step_bytes_;
    const int n_threads_;
    const Poll &poll_;
    const Identities identities_;
    const std::vector<int32_t> tree_weights_;
    std::vector<int32_t> compat_weights_ = tree_weights_;
    std::vector<ProfileRows> groups_;  // by node; no columns for waiting sequences and merged groups
    std::vector<double> means_;        // mean identities of each inner node's two groups
    std::vector<int32_t> delayed_, order_;
    std::atomic<bool> is_stopped_{false};
    std::atomic<int64_t> n_done_{0};
};

}  // namespace

std::optional<ClustalwAlignment> align_clustalw(const ClustalwRules &rules, const ClustalwFamily &family,
                                                size_t step_bytes, int n_threads, const Poll &poll) {
    return ClustalwProgressive(rules, family, step_bytes, n_threads, poll).run();
}

}  // namespace tropalign
