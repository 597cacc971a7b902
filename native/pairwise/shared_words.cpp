// An inverted index of the targets' words:
//
//     place of a word    0        1        2  ...
//     entries            t0 x1    t0 x2    t3 x1        target, copies
//                        t4 x1    t1 x1
//
// The k-th copy of a word in a query adds 1 to every target with k copies or more: in all the smaller number of copies.
#include "shared_words.hpp"

#include <algorithm>
#include <vector>

#include "../compute/parallel.hpp"

namespace tropalign {
namespace {

/// Places of words: 4^9, which fill a part of a processor's second cache.
constexpr int kBits = 18;
constexpr size_t kPlaces = size_t{1} << kBits;

/// Calls work(place) for each word of a sequence, from its begin to its end.
template <class Work>
void for_words(const Letters &letters, int32_t word, Work work) {
    const uint64_t mask = (uint64_t{1} << (5 * word)) - 1;
    uint64_t value = 0;
    for (int32_t i = 0; i < letters.length; ++i) {
        value = (value << 5 | letters.codes[i]) & mask;
        if (i >= word - 1) work(static_cast<uint32_t>(value * 0x9E3779B97F4A7C15u >> (64 - kBits)));
    }
}

class WordIndex {
  public:
    struct Entry {
        int32_t target, copies;
    };

    WordIndex(const Sequences &targets, int32_t word) : begin_(kPlaces + 1), end_(kPlaces) {
        for (int64_t t = 0; t < targets.count; ++t) for_words(targets[t], word, [&](uint32_t at) { ++begin_[at + 1]; });
        for (size_t at = 0; at < kPlaces; ++at) begin_[at + 1] += begin_[at];
        std::copy(begin_.begin(), begin_.end() - 1, end_.begin());
        entries_.resize(begin_.back());
        for (int64_t t = 0; t < targets.count; ++t) {
            const auto target = static_cast<int32_t>(t);
            for_words(targets[t], word, [&](uint32_t at) {
                if (end_[at] > begin_[at] && entries_[end_[at] - 1].target == target) ++entries_[end_[at] - 1].copies;
                else entries_[end_[at]++] = {target, 1};
            });
        }
    }
    const Entry *begin(uint32_t place) const { return entries_.data() + begin_[place]; }
    const Entry *end(uint32_t place) const { return entries_.data() + end_[place]; }

  private:
    std::vector<int64_t> begin_, end_;
    std::vector<Entry> entries_;
};

}  // namespace

void shared_words(const Sequences &queries, const Sequences &targets, int32_t word, int n_threads, int32_t *shared) {
    const WordIndex index(targets, word);
    std::vector<std::vector<int32_t>> copies(n_threads);  // of each word in a thread's query: zero between two queries
    parallel(n_threads, queries.count, 1, [&](int thread, int64_t q) {
        std::vector<int32_t> &seen = copies[thread];
        seen.resize(kPlaces);
        int32_t *row = shared + q * targets.count;
        std::fill_n(row, targets.count, 0);
        for_words(queries[q], word, [&](uint32_t at) {
            const int32_t copy = ++seen[at];
            for (const auto *entry = index.begin(at), *end = index.end(at); entry != end; ++entry)
                row[entry->target] += entry->copies >= copy;
        });
        for_words(queries[q], word, [&](uint32_t at) { seen[at] = 0; });
    });
}

}  // namespace tropalign
