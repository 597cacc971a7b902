// The plan of units of posteriors: either sequence of a pair may be the one that its unit shares. The longest
// sequences, as long as they have many pairs, take as many of these as fill whole units. The pairs of the others are
// first divided evenly; then sequences with few pairs beyond whole units give these to partners that have more of
// them, until most units are full.
#include <algorithm>
#include <numeric>

#include "posteriors.hpp"

namespace tropalign {
namespace {

class Planner {
  public:
    Planner(const int32_t *pairs, int64_t n_pairs, const std::vector<int32_t> &lengths, int lanes)
        : pairs_(pairs), lengths_(lengths), lanes_(lanes), taken_(n_pairs), begins_(lengths.size() + 1),
          of_(2 * n_pairs), left_(lengths.size()) {
        for (int64_t k = 0; k < 2 * n_pairs; ++k) ++begins_[pairs[k] + 1];
        std::partial_sum(begins_.begin(), begins_.end(), begins_.begin());
        std::vector<int64_t> next(begins_.begin(), begins_.end() - 1);
        for (int64_t k = 0; k < 2 * n_pairs; ++k) of_[next[pairs[k]]++] = k / 2;
        for (size_t s = 0; s < lengths.size(); ++s) left_[s] = begins_[s + 1] - begins_[s];
    }

    PosteriorPlan run() {
        std::vector<int32_t> sequences(lengths_.size());
        std::iota(sequences.begin(), sequences.end(), 0);
        auto by = [&](auto key) {
            std::stable_sort(sequences.begin(), sequences.end(), [&](int32_t a, int32_t b) { return key(a) > key(b); });
        };
        by([&](int32_t s) { return int64_t{lengths_[s]}; });
        size_t first = 0;
        for (; first < sequences.size() && left_[sequences[first]] >= 2 * lanes_; ++first) {
            const int32_t s = sequences[first];
            take(s, left_[s] / lanes_ * lanes_);
        }
        share_out(sequences, first);
        for (const int32_t s : sequences) give_away(s);
        for (const int32_t s : sequences) take(s, owned_[s]);
        std::stable_sort(plan_.units.begin(), plan_.units.end(),
                         [](const auto &a, const auto &b) { return a.cells > b.cells; });
        return std::move(plan_);
    }

  private:
    int32_t partner(int64_t pair, int32_t s) const {
        return pairs_[2 * pair] == s ? pairs_[2 * pair + 1] : pairs_[2 * pair];
    }

    /// Give every remaining pair an owner: the sequence that is not among the first ones; of two such, either in turn.
    void share_out(const std::vector<int32_t> &sequences, size_t first) {
        std::vector<size_t> rank(sequences.size());
        for (size_t k = 0; k < sequences.size(); ++k) rank[sequences[k]] = k;
        owner_.resize(taken_.size());
        owned_.resize(lengths_.size());
        for (size_t k = 0; k < taken_.size(); ++k) {
            if (taken_[k]) continue;
            int32_t a = pairs_[2 * k], b = pairs_[2 * k + 1];
            if (rank[a] > rank[b]) std::swap(a, b);
            owner_[k] = rank[a] >= first && (rank[b] - rank[a]) % 2 ? a : b;
            ++owned_[owner_[k]];
        }
        owns_ = true;
    }

    /// Give pairs beyond whole units to partners that have more such pairs, starting with the partners that have the
    /// most.
    void give_away(int32_t s) {
        const int64_t beyond = owned_[s] % lanes_;
        if (beyond == 0) return;
        std::vector<int64_t> givable;
        for (int64_t k = begins_[s]; k < begins_[s + 1]; ++k)
            if (is_mine(of_[k], s) && owned_[partner(of_[k], s)] % lanes_ >= beyond) givable.push_back(of_[k]);
        if (static_cast<int64_t>(givable.size()) < beyond) return;
        std::stable_sort(givable.begin(), givable.end(), [&](int64_t a, int64_t b) {
            return owned_[partner(a, s)] % lanes_ > owned_[partner(b, s)] % lanes_;
        });
        for (int64_t k = 0; k < beyond; ++k) {
            owner_[givable[k]] = partner(givable[k], s);
            --owned_[s], ++owned_[owner_[givable[k]]];
        }
    }

    bool is_mine(int64_t pair, int32_t s) const { return !taken_[pair] && (!owns_ || owner_[pair] == s); }

    /// Make units of `count` pairs of a sequence. Pairs with the longest partners are left to those partners, whose
    /// other pairs have more similar lengths.
    void take(int32_t s, int64_t count) {
        if (count == 0) return;
        mine_.clear();
        for (int64_t k = begins_[s]; k < begins_[s + 1]; ++k)
            if (is_mine(of_[k], s)) mine_.push_back(of_[k]);
        std::sort(mine_.begin(), mine_.end(), [&](int64_t a, int64_t b) {
            const int32_t m = lengths_[partner(a, s)], n = lengths_[partner(b, s)];
            return m != n ? m < n : a < b;
        });
        for (int64_t k = 0; k < count; k += lanes_) {
            const int n_lanes = static_cast<int>(std::min<int64_t>(lanes_, count - k));
            const int64_t columns = lengths_[partner(mine_[k + n_lanes - 1], s)];
            plan_.units.push_back({static_cast<int64_t>(plan_.order.size()), s, n_lanes, columns * lengths_[s]});
            for (int64_t pair = k; pair < k + n_lanes; ++pair) {
                plan_.order.push_back(mine_[pair]);
                taken_[mine_[pair]] = true;
                --left_[s], --left_[partner(mine_[pair], s)];
            }
        }
    }

    const int32_t *pairs_;
    const std::vector<int32_t> &lengths_;
    const int lanes_;
    std::vector<bool> taken_;
    std::vector<int64_t> begins_, of_, left_, mine_, owned_;
    std::vector<int32_t> owner_;
    bool owns_ = false;  // true if pairs have owners
    PosteriorPlan plan_;
};

}  // namespace

PosteriorPlan plan_posteriors(const int32_t *pairs, int64_t n_pairs, const std::vector<int32_t> &lengths, int lanes) {
    return Planner(pairs, n_pairs, lengths, lanes).run();
}

}  // namespace tropalign
