#include "pruning.hpp"

#include <algorithm>
#include <cstdlib>

namespace tropalign {
namespace {

/// Codes of A, C, G and T; others are ambiguous.
constexpr int kPlain = 4;
/// Shortest and longest k-mers.
constexpr int kShortestSeed = 6, kLongestSeed = 9;
/// Most runs before one that it may follow in a chain.
constexpr int kLookBack = 24;
/// Diagonals of the most common k-mers from which an alignment is built, in kBins bins.
constexpr int kBinDiagonals = 32, kBins = 4;

}  // namespace

Seeds::Seeds(const Letters &letters, int length)
    : at(letters.length, kNone), length(length), present_((size_t{1} << 2 * length) / 64) {
    const uint32_t mask = (uint32_t{1} << 2 * length) - 1;
    uint32_t seed = 0;
    int plain = 0;
    for (int k = 0; k < letters.length; ++k) {
        const uint8_t code = letters.codes[k];
        seed = (seed << 2 | (code & 3u)) & mask;
        plain = code < kPlain ? plain + 1 : 0;
        others += code >= kPlain;
        if (plain < length) continue;
        at[k + 1 - length] = seed;
        present_[seed / 64] |= uint64_t{1} << seed % 64;
    }
}

int seed_length(int residues) {
    int length = kShortestSeed;
    while (length < kLongestSeed && (1 << 2 * length) < 8 * residues) ++length;
    return length;
}

bool Pruning::suits(const Scoring &scoring) {
    return scoring.track == 0 && scoring.plain_letters >= kPlain && scoring.match > 0 &&
           scoring.match > scoring.mismatch;
}

Pruning::Pruning(const Scoring &scoring, const Letters &rows, int length)
    : scoring_(scoring), rows_(rows), seeds_(rows, length), position_(size_t{1} << 2 * length, -1) {
    for (int i = 0; i < rows.length; ++i)
        if (seeds_.at[i] != Seeds::kNone) position_[seeds_.at[i]] = i;
    for (int a = 0; a < kPadCode; ++a)
        for (int b = 0; b < kPadCode; ++b) {
            best_of_row_[a] = std::max(best_of_row_[a], scoring.matrix[a * kLetters + b]);
            best_of_column_[b] = std::max(best_of_column_[b], scoring.matrix[a * kLetters + b]);
        }
    // The loss of a k-mer that is not paired with an equal one. A gap that touches t k-mers costs its opening, and for
    // each of its residues a match and the extension: at least `loss_` for each of the t.
    const int32_t residue = scoring.match + scoring.extend;
    loss_ = std::max(0, std::min({scoring.match - scoring.mismatch, scoring.open + scoring.extend,
                                  scoring.open / 2 + residue, length * scoring.match}));
}

PruneLimits Pruning::limits(const LanePair &pair) const {
    const Seeds columns(pair.columns, seeds_.length);
    PruneLimits limits;
    limits.by_row = rest_of(pair.rows, best_of_row_, seeds_, columns);
    limits.by_column = rest_of(pair.columns, best_of_column_, columns, seeds_);
    limits.first_row.assign(limits.by_column.size(), INT32_MAX);
    limits.end_row.assign(limits.by_column.size(), 0);
    add_chain(pair, chain(columns), limits);
    return limits;
}

/// Bound what the residues of a sequence from every kPruneStep-th on add to a score.
std::vector<int32_t> Pruning::rest_of(const Letters &letters, const int32_t *best, const Seeds &own,
                                      const Seeds &other) const {
    const int n = letters.length;
    std::vector<int32_t> rest((n + kPruneStep - 1) / kPruneStep + 1);
    // Two k-mers may lose less: one that is entered within a gap, and one within which the path ends. So may one for
    // each ambiguous residue of the other sequence.
    int64_t sum = int64_t{loss_} * (2 + other.others);
    int free = n;
    for (size_t k = rest.size(); k-- > 0;) {
        const int begin = static_cast<int>(k) * kPruneStep, end = std::min(begin + kPruneStep, n);
        for (int at = end - 1; at >= begin; --at) {
            sum += best[letters.codes[at]];
            if (at + own.length > free || own.at[at] == Seeds::kNone || other.has(own.at[at])) continue;
            sum -= loss_, free = at;  // k-mers that do not overlap
        }
        const auto bound = static_cast<int32_t>(std::min<int64_t>(sum, INT32_MAX / 4));  // scores have 16 bits
        rest[k] = std::max(bound, k + 1 < rest.size() ? rest[k + 1] : bound);
    }
    return rest;
}

/// Return the equal k-mers of rows and columns as runs along diagonals, by their first column.
std::vector<Pruning::Run> Pruning::runs(const Seeds &columns) const {
    std::vector<Run> runs;
    for (int j = 0; j < static_cast<int>(columns.at.size()); ++j) {
        const int i = columns.at[j] == Seeds::kNone ? -1 : position_[columns.at[j]];
        if (i < 0) continue;
        if (!runs.empty() && runs.back().diagonal == j - i && runs.back().end >= j) runs.back().end = j + seeds_.length;
        else runs.push_back({j, j + seeds_.length, j - i});
    }
    return runs;
}

/// Return the runs near the most common diagonals whose residues, less the gaps between them, are the most.
std::vector<Pruning::Run> Pruning::chain(const Seeds &columns) const {
    std::vector<Run> all = runs(columns);
    std::vector<int32_t> bins((rows_.length + columns.at.size()) / kBinDiagonals + kBins + 1);
    for (const Run &run : all) bins[(run.diagonal + rows_.length) / kBinDiagonals] += run.end - run.begin;
    int32_t best = 0, around = 0;
    size_t first = 0;
    for (size_t k = 0; k < bins.size(); ++k) {
        around += bins[k] - (k >= kBins ? bins[k - kBins] : 0);
        if (around > best) best = around, first = k + 1 >= kBins ? k + 1 - kBins : 0;
    }
    const int low = static_cast<int>(first) * kBinDiagonals - rows_.length, high = low + kBins * kBinDiagonals;
    std::erase_if(all, [&](const Run &run) { return run.diagonal < low || run.diagonal >= high; });
    std::vector<int32_t> score(all.size());
    std::vector<int> before(all.size(), -1);
    int last = -1;
    for (int k = 0; k < static_cast<int>(all.size()); ++k) {
        int32_t most = 0;
        for (int q = k - 1; q >= std::max(0, k - kLookBack); --q) {
            if (all[q].row() >= all[k].row() || all[q].begin >= all[k].begin) continue;
            const int apart = std::abs(all[q].diagonal - all[k].diagonal);
            const int32_t with = score[q] - (apart ? scoring_.open + apart * scoring_.extend : 0);
            if (with > most) most = with, before[k] = q;
        }
        score[k] = most + scoring_.match * (all[k].end - all[k].begin);
        if (last < 0 || score[k] > score[last]) last = k;
    }
    std::vector<Run> chained;
    for (int k = last; k >= 0; k = before[k]) chained.push_back(all[k]);
    std::reverse(chained.begin(), chained.end());
    return chained;
}

/// Set the score and the rows of a local alignment that changes its diagonal between the runs of a chain.
void Pruning::add_chain(const LanePair &pair, const std::vector<Run> &chain, PruneLimits &limits) const {
    if (chain.empty()) return;
    const uint8_t *rows = pair.rows.codes, *columns = pair.columns.codes;
    int32_t now = 0;
    auto score = [&](int j, int diagonal) { return scoring_.matrix[rows[j - diagonal] * kLetters + columns[j]]; };
    auto add = [&](int begin, int end, int diagonal) {
        int32_t best = limits.least;
        for (int j = begin; j < end; ++j) {
            now = std::max(0, now + score(j, diagonal));
            best = std::max(best, now);
        }
        limits.least = best;
        for (int k = begin / kPruneStep; k * kPruneStep < end; ++k) {
            const int first = std::max(begin, k * kPruneStep), last = std::min(end, (k + 1) * kPruneStep);
            limits.first_row[k] = std::min(limits.first_row[k], first - diagonal);
            limits.end_row[k] = std::max(limits.end_row[k], last - diagonal);
        }
    };
    int diagonal = chain[0].diagonal, j = std::max(0, diagonal);
    for (size_t k = 1; k < chain.size(); ++k) {
        const int next = chain[k].diagonal, end = chain[k].end;
        if (next == diagonal) continue;
        // The gap's residues of the columns and of the rows; it begins in a column from `begin` on.
        const int gap = std::max(next - diagonal, 0), missing = std::max(diagonal - next, 0);
        const int begin = std::max(j, chain[k - 1].begin);
        if (begin + gap > end || begin - diagonal + missing > end - next) continue;
        int32_t sum = 0, most = 0;
        int at = begin;
        for (int from = begin; from + gap < end && from - diagonal + missing < rows_.length; ++from) {
            sum += score(from, diagonal) - score(from + gap, next);
            if (sum > most) most = sum, at = from + 1;
        }
        add(j, at, diagonal);
        now = std::max(0, now - scoring_.open - (gap + missing) * scoring_.extend);
        j = at + gap, diagonal = next;
    }
    add(j, std::min(pair.columns.length, pair.rows.length + diagonal), diagonal);
}

}  // namespace tropalign
