// An inverted index of the targets' k-mers:
//
//     slot of a k-mer      0        1        2  ...
//     entries            t0 x1    t0 x2    t3 x1        target, copies
//                        t4 x1    t1 x1
//
// The k-th copy of a k-mer in a query adds 1 to every target with k copies or more: in total the smaller number of
// copies.
#include "shared_words.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "../compute/parallel.hpp"

namespace tropalign {
namespace {

/// Slots of k-mers: 2^18 = 4^9; they fill a part of a second-level cache.
constexpr int kBits = 18;
constexpr size_t kPlaces = size_t{1} << kBits;

/// Call work(slot) for each k-mer of a sequence, from start to end, or only for those that start every `step`
/// residues.
template <class Work>
void for_words(const Letters &letters, int32_t word, int32_t step, Work work) {
    const uint64_t mask = (uint64_t{1} << (5 * word)) - 1;
    uint64_t value = 0;
    for (int32_t i = 0, next = word - 1; i < letters.length; ++i) {
        value = (value << 5 | letters.codes[i]) & mask;
        if (i != next) continue;
        next += step;
        work(static_cast<uint32_t>(value * 0x9E3779B97F4A7C15u >> (64 - kBits)));
    }
}

class WordIndex {
  public:
    struct Entry {
        int32_t target, copies;
    };

    WordIndex(const Sequences &targets, int32_t word, int32_t step) : word_(word), begin_(kPlaces + 1), end_(kPlaces) {
        for (int64_t t = 0; t < targets.count; ++t)
            for_words(targets[t], word, step, [&](uint32_t at) { ++begin_[at + 1]; });
        for (size_t at = 0; at < kPlaces; ++at) begin_[at + 1] += begin_[at];
        std::copy(begin_.begin(), begin_.end() - 1, end_.begin());
        entries_.resize(begin_.back());
        for (int64_t t = 0; t < targets.count; ++t) {
            const auto target = static_cast<int32_t>(t);
            for_words(targets[t], word, step, [&](uint32_t at) {
                if (end_[at] > begin_[at] && entries_[end_[at] - 1].target == target) ++entries_[end_[at] - 1].copies;
                else entries_[end_[at]++] = {target, 1};
            });
        }
    }

    /// Count the k-mers that each target has in common with a query. `seen`: zero for every slot, before and
    /// after.
    void count(const Letters &query, std::vector<int32_t> &seen, int32_t *shared) const {
        for_words(query, word_, 1, [&](uint32_t at) {
            const int32_t copy = ++seen[at];
            for (int64_t k = begin_[at]; k < end_[at]; ++k) shared[entries_[k].target] += entries_[k].copies >= copy;
        });
        for_words(query, word_, 1, [&](uint32_t at) { seen[at] = 0; });
    }

  private:
    int32_t word_;
    std::vector<int64_t> begin_, end_;
    std::vector<Entry> entries_;
};

}  // namespace

void shared_words(const Sequences &queries, const Sequences &targets, int32_t word, int n_threads, int32_t *shared) {
    const WordIndex index(targets, word, 1);
    std::vector<std::vector<int32_t>> copies(n_threads);  // of each k-mer in a thread's query: zero between two queries
    parallel(n_threads, queries.count, 1, [&](int thread, int64_t q) {
        copies[thread].resize(kPlaces);
        int32_t *row = shared + q * targets.count;
        std::fill_n(row, targets.count, 0);
        index.count(queries[q], copies[thread], row);
    });
}

void similar_by_words(const Sequences &queries, const Sequences &targets, int32_t word, double identity,
                      double rounding, int n_threads, uint8_t *similar) {
    const WordIndex index(targets, word, word);
    const auto identical = [&](int32_t n) { return static_cast<int32_t>(std::ceil(identity * n - rounding)); };
    // Per target: its residues minus its k-mers, and the identical residues required if it is the shorter one.
    std::vector<int32_t> beyond_words(targets.count), own(targets.count);
    for (int64_t t = 0; t < targets.count; ++t) {
        const int32_t n = targets[t].length;
        beyond_words[t] = n - n / word, own[t] = identical(n);
    }
    std::vector<std::vector<int32_t>> copies(n_threads), rows(n_threads);
    parallel(n_threads, queries.count, 1, [&](int thread, int64_t q) {
        copies[thread].resize(kPlaces);
        std::vector<int32_t> &shared = rows[thread];
        shared.assign(targets.count, 0);
        index.count(queries[q], copies[thread], shared.data());
        const int32_t m = queries[q].length, of_query = identical(m);
        const int32_t *found = shared.data();
        uint8_t *row = similar + q * targets.count;
        for (int64_t t = 0; t < targets.count; ++t)
            row[t] = found[t] + beyond_words[t] >= 2 * std::min(of_query, own[t]) - m;
    });
}

}  // namespace tropalign
