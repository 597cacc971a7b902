#include "refine.hpp"

#include <algorithm>
#include <numeric>
#include <unordered_set>

#include "random.hpp"

namespace tropalign {
namespace {

/// 1 for each sequence of the first group, 0 for the others. Empty where no split can be made.
using Membership = std::string;

Membership split_at_random(int32_t n, Random &random) {
    Membership first(n, 0);
    for (char &is_first : first) is_first = random.next() & 1;
    return first;
}

Membership split_at_gap(const ResidueColumns &columns, int32_t n, int32_t n_columns, Random &random) {
    std::vector<int32_t> n_residues(n_columns, 0);
    for (int32_t column : columns.all()) ++n_residues[column];
    std::vector<int32_t> gapped;
    for (int32_t c = 0; c < n_columns; ++c)
        if (n_residues[c] < n) gapped.push_back(c);
    if (gapped.empty()) return {};
    const int32_t chosen = gapped[random.below(gapped.size())];
    Membership first(n, 0);
    for (int32_t x = 0; x < n; ++x)
        first[x] = !std::binary_search(columns.of(x), columns.of(x) + columns.length(x), chosen);
    return first;
}

Membership split_at_node(const std::array<int32_t, 2> *children, int32_t n, Random &random) {
    std::vector<uint8_t> is_below(2 * static_cast<size_t>(n) - 1, 0);
    is_below[random.below(2 * static_cast<uint64_t>(n) - 2)] = 1;
    for (int32_t k = n - 2; k >= 0; --k)
        for (int32_t child : children[k]) is_below[child] |= is_below[n + k];
    return Membership(is_below.begin(), is_below.begin() + n);
}

/// Takes out the columns in which no member has a residue, and sets the number of those left. Returns where each column
/// went, -1 for those taken out.
std::vector<int32_t> drop_empty_columns(ResidueColumns &columns, AlignedGroup &group, int32_t n_columns) {
    std::vector<int32_t> to(n_columns, 0);
    for (int32_t x : group.members)
        for (int32_t r = 0; r < columns.length(x); ++r) to[columns.of(x)[r]] = 1;
    group.n_columns = 0;
    for (int32_t &column : to) column = column ? group.n_columns++ : -1;
    move_columns(columns, group.members, to);
    return to;
}

class Refinement {
  public:
    Refinement(const PosteriorStore &store, ResidueColumns &columns, const double *weights,
               const std::array<int32_t, 2> *children, const RefineRules &rules, int n_threads, Watch &watch)
        : store_(store), columns_(columns), weights_(weights), children_(children), rules_(rules),
          n_threads_(n_threads), watch_(watch), random_(rules.seed), n_(store.n_sequences()) {
        AlignedGroup everyone{std::vector<int32_t>(n_), 0};
        std::iota(everyone.members.begin(), everyone.members.end(), 0);
        const auto last = std::max_element(columns.all().begin(), columns.all().end());
        drop_empty_columns(columns, everyone, last == columns.all().end() ? 0 : *last + 1);
        n_columns_ = everyone.n_columns;
    }

    void run() {
        for (int64_t round = 0; round < rules_.n_rounds && !watch_.is_stopped(); ++round, watch_.advance(1)) {
            const Membership first = split();
            const bool is_split = first.find('\0') != first.npos && first.find('\1') != first.npos;
            if (is_split && tried_.insert(first).second) realign(first);
        }
    }

  private:
    Membership split() {
        switch (rules_.split) {
            case Split::random:
                return split_at_random(n_, random_);
            case Split::gap:
                return split_at_gap(columns_, n_, n_columns_, random_);
            case Split::tree:
                return split_at_node(children_, n_, random_);
        }
        return {};
    }

    void realign(const Membership &is_first) {
        ResidueColumns candidate = columns_;
        AlignedGroup first, second;
        for (int32_t x = 0; x < n_; ++x) (is_first[x] ? first : second).members.push_back(x);
        const std::vector<int32_t> to_first = drop_empty_columns(candidate, first, n_columns_);
        const std::vector<int32_t> to_second = drop_empty_columns(candidate, second, n_columns_);
        std::vector<int32_t> partners(first.n_columns, -1);
        for (int32_t c = 0; c < n_columns_; ++c)
            if (to_first[c] >= 0) partners[to_first[c]] = to_second[c];
        const std::vector<CrossPair> pairs = all_cross_pairs(store_, first, second, weights_);
        const MergedColumns merged =
            align_columns(store_, candidate, first, second, pairs, partners, n_threads_, watch_);
        if (watch_.is_stopped()) return;
        move_columns(candidate, first.members, merged.first);
        move_columns(candidate, second.members, merged.second);
        if (!is_accepted(merged) || candidate.all() == columns_.all()) return;
        columns_ = std::move(candidate);
        n_columns_ = merged.n_columns;
        tried_ = {is_first};
    }

    bool is_accepted(const MergedColumns &merged) const {
        switch (rules_.accept) {
            case Accept::always:
                return true;
            case Accept::not_longer:
                return merged.n_columns <= n_columns_;
            case Accept::better:
                return merged.score > merged.before;
        }
        return false;
    }

    const PosteriorStore &store_;
    ResidueColumns &columns_;
    const double *weights_;
    const std::array<int32_t, 2> *children_;
    const RefineRules rules_;
    const int n_threads_;
    Watch &watch_;
    Random random_;
    const int32_t n_;
    int32_t n_columns_;
    std::unordered_set<Membership> tried_;  // on the alignment as it is
};

}  // namespace

void refine(const PosteriorStore &store, ResidueColumns &columns, const double *weights,
            const std::array<int32_t, 2> *children, const RefineRules &rules, int n_threads, Watch &watch) {
    Refinement(store, columns, weights, children, rules, n_threads, watch).run();
}

}  // namespace tropalign
