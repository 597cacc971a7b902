// Bounds by counts: residues are counted once per sequence; a bound is then a sum over the alphabet. With c(a) copies
// of residue a in one sequence and d(a) in the other, at most min(c(a), d(a)) columns pair a with itself. Each further
// copy of a in the first sequence is paired with another residue, a gap, or nothing, and so adds at most the score of
// a with the best other residue (of the second sequence, or of the alphabet), or 0.
#include "pair_bounds.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>

#include "../compute/buffer.hpp"
#include "../compute/parallel.hpp"

namespace tropalign {
namespace {

/// Pairs that a thread takes at a time.
constexpr int64_t kBoundsAtOnce = 8192;
constexpr int32_t kLongest = INT16_MAX, kHighestScore = 1000;

using Counts = std::array<int16_t, kLetters>;

/// Counts of residues, of the sequences in use alone: a call may have few of a million. All counts of a sequence that
/// is too long are 0.
class LetterCounts {
  public:
    explicit LetterCounts(const Sequences &sequences)
        : sequences_(sequences), counts_(sequences.count), is_counted_(sequences.count) {}

    void add(const int64_t *index, int64_t n) {
        for (int64_t k = 0; k < n; ++k)
            if (!is_counted_[index[k]]) is_counted_[index[k]] = 1, count(index[k]);
    }
    const Counts &operator[](int64_t k) const { return counts_[k]; }

  private:
    void count(int64_t k) {
        const Letters letters = sequences_[k];
        counts_[k].fill(0);
        if (letters.length > kLongest) return;
        for (int32_t i = 0; i < letters.length; ++i) ++counts_[k][letters.codes[i]];
    }
    const Sequences &sequences_;
    Buffer<Counts> counts_;
    std::vector<uint8_t> is_counted_;
};

/// Upper bounds of the contribution of each residue of a sequence to a score.
struct Gains {
    Counts other;  // with a different residue or a gap: zero or more
    Counts equal;  // with itself, in addition to `other`
};

/// Compute the gains; `present`: the residues of the other sequence. The matrix is indexed [query's residue][target's
/// residue].
Gains gains_of(const Scoring &scoring, const Counts &present, bool is_query) {
    auto score = [&](int own, int other) {
        return scoring.matrix[is_query ? own * kLetters + other : other * kLetters + own];
    };
    Gains gains;
    for (int a = 0; a < kLetters; ++a) {
        int32_t other = 0;
        for (int b = 0; b < kLetters; ++b)
            if (b != a && present[b]) other = std::max(other, score(a, b));
        gains.other[a] = static_cast<int16_t>(other);
        gains.equal[a] = static_cast<int16_t>(std::max(score(a, a) - other, 0));
    }
    return gains;
}

int32_t dot(const Counts &a, const Counts &b) {
    int32_t sum = 0;
    for (int k = 0; k < kLetters; ++k) sum += int32_t{a[k]} * b[k];
    return sum;
}

Counts common(const Counts &a, const Counts &b) {
    Counts both;
    for (int k = 0; k < kLetters; ++k) both[k] = std::min(a[k], b[k]);
    return both;
}

/// Call work(begin, end) for runs of pairs.
template <class Work>
void for_pairs(const BoundRequest &request, Work work) {
    const int64_t n_items = (request.n_pairs + kBoundsAtOnce - 1) / kBoundsAtOnce;
    parallel(request.n_threads, n_items, 1,
             [&](int, int64_t k) { work(k * kBoundsAtOnce, std::min((k + 1) * kBoundsAtOnce, request.n_pairs)); });
}

/// Counts of both sides; if both are one set, it is counted once.
struct BothCounts {
    explicit BothCounts(const BoundRequest &request) : of_queries(request.queries) {
        if (request.queries.codes != request.targets.codes) own.emplace(request.targets);
        of_queries.add(request.query_index, request.n_pairs);
        (own ? *own : of_queries).add(request.target_index, request.n_pairs);
    }
    const LetterCounts &of_targets() const { return own ? *own : of_queries; }

    LetterCounts of_queries;
    std::optional<LetterCounts> own;
};

bool is_long(const Letters &letters) { return letters.length > kLongest; }

}  // namespace

void score_bounds(const Scoring &scoring, const BoundRequest &request, bool pays_ends, int32_t *bound) {
    if (scoring.highest > kHighestScore) return std::fill_n(bound, request.n_pairs, kNoBound), void();
    const BothCounts counts(request);
    Counts any;
    any.fill(1);
    any[kPadCode] = 0;
    const Gains of_query = gains_of(scoring, any, true);
    for_pairs(request, [&](int64_t begin, int64_t end) {
        int64_t last = -1;
        Gains of_target{};  // with the residues of query `last`
        int32_t query_other = 0;
        for (int64_t k = begin; k < end; ++k) {
            const int64_t q = request.query_index[k], t = request.target_index[k];
            const Letters query = request.queries[q], target = request.targets[t];
            bound[k] = kNoBound;
            if (is_long(query) || is_long(target)) continue;
            const Counts &c = counts.of_queries[q], &d = counts.of_targets()[t];
            if (q != last) {
                last = q;
                of_target = gains_of(scoring, c, false);
                query_other = dot(c, of_query.other);
            }
            const Counts both = common(c, d);
            const int32_t by_target = dot(both, of_target.equal) + dot(d, of_target.other);
            const int32_t by_query = dot(both, of_query.equal) + query_other;
            const int32_t difference = std::abs(query.length - target.length);
            const int32_t gap = pays_ends && difference ? scoring.open + scoring.extend * difference : 0;
            bound[k] = std::min(by_target, by_query) - gap;
        }
    });
}

void identity_bounds(const BoundRequest &request, int32_t *bound) {
    const BothCounts counts(request);
    for_pairs(request, [&](int64_t begin, int64_t end) {
        for (int64_t k = begin; k < end; ++k) {
            const int64_t q = request.query_index[k], t = request.target_index[k];
            bound[k] = kNoBound;
            if (is_long(request.queries[q]) || is_long(request.targets[t])) continue;
            const Counts both = common(counts.of_queries[q], counts.of_targets()[t]);
            int32_t sum = 0;
            for (int a = 0; a < kLetters; ++a) sum += both[a];
            bound[k] = sum;
        }
    });
}

}  // namespace tropalign
