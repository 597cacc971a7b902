// Rounds of realignment: the family is split in two parts that are aligned again.
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <unordered_set>

#include "progressive.hpp"

namespace tropalign {

// Random numbers that are the same on all platforms: SplitMix64 (Steele, Lea and Flood 2014).

class Random {
  public:
    explicit Random(uint64_t seed) : state_(seed) {}

    uint64_t next() {
        uint64_t z = state_ += 0x9e3779b97f4a7c15;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
        z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
        return z ^ (z >> 31);
    }

    /// Return a number below n, n at most 2^32: the upper half of 32 bits times n.
    uint32_t below(uint64_t n) { return static_cast<uint32_t>((next() >> 32) * n >> 32); }

  private:
    uint64_t state_;
};

namespace {

/// 1 for each sequence of the first group, 0 for the others. Empty if no split is possible.
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

/// Remove the columns in which no member has a residue, and update the number of columns.
void drop_empty_columns(ResidueColumns &columns, AlignedGroup &group, int32_t n_columns) {
    std::vector<int32_t> to(n_columns, 0);
    for (int32_t x : group.members)
        for (int32_t r = 0; r < columns.length(x); ++r) to[columns.of(x)[r]] = 1;
    group.n_columns = 0;
    for (int32_t &column : to) column = column ? group.n_columns++ : -1;
    move_columns(columns, group.members, to);
}

class Refinement {
  public:
    Refinement(const PosteriorStore &store, ResidueColumns &columns, const double *weights, const RefineRules &rules,
               int n_threads, Watch &watch)
        : store_(store), columns_(columns), weights_(weights), rules_(rules), n_threads_(n_threads), watch_(watch),
          random_(rules.seed), n_(store.n_sequences()) {
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
        if (rules_.split == Split::gap) return split_at_gap(columns_, n_, n_columns_, random_);
        return split_at_random(n_, random_);
    }

    void realign(const Membership &is_first) {
        ResidueColumns candidate = columns_;
        AlignedGroup first, second;
        for (int32_t x = 0; x < n_; ++x) (is_first[x] ? first : second).members.push_back(x);
        drop_empty_columns(candidate, first, n_columns_);
        drop_empty_columns(candidate, second, n_columns_);
        const std::vector<CrossPair> pairs = all_cross_pairs(store_, first, second, weights_);
        const MergedColumns merged = align_columns(store_, candidate, first, second, pairs, n_threads_, watch_);
        if (watch_.is_stopped()) return;
        move_columns(candidate, first.members, merged.first);
        move_columns(candidate, second.members, merged.second);
        if (rules_.accept == Accept::not_longer && merged.n_columns > n_columns_) return;
        if (candidate.all() == columns_.all()) return;
        columns_ = std::move(candidate);
        n_columns_ = merged.n_columns;
        tried_ = {is_first};
    }

    const PosteriorStore &store_;
    ResidueColumns &columns_;
    const double *weights_;
    const RefineRules rules_;
    const int n_threads_;
    Watch &watch_;
    Random random_;
    const int32_t n_;
    int32_t n_columns_;
    std::unordered_set<Membership> tried_;  // on the current alignment
};

}  // namespace

void refine(const PosteriorStore &store, ResidueColumns &columns, const double *weights, const RefineRules &rules,
            int n_threads, Watch &watch) {
    Refinement(store, columns, weights, rules, n_threads, watch).run();
}

}  // namespace tropalign
