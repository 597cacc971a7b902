// Pairwise alignment straight from its definition, for comparison: three whole matrices, one cell after another.
//   E(i,j) = max(H(i,j-1) - open, E(i,j-1)) - extend       a residue of the target beside a gap
//   F(i,j) = max(H(i-1,j) - open, F(i-1,j)) - extend       a residue of the query beside a gap
//   H(i,j) = max(H(i-1,j-1) + s(i,j), E(i,j), F(i,j))      and 0, in local mode
// (Gotoh 1982). A residue that hangs over at a free end costs nothing.
#pragma once
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace oracle {

struct Rules {
    bool local;
    int32_t open, extend;
    const int32_t *matrix;  // 32 x 32
    bool free_query_start, free_query_end, free_target_start, free_target_end;

    int64_t score(uint8_t a, uint8_t b) const { return matrix[a * 32 + b]; }
};

using Codes = std::vector<uint8_t>;

/// What alignments claim of themselves, as the engine returns it.
struct Claim {
    int64_t score;
    int64_t query_start, query_end, target_start, target_end;
    int64_t identical, similar, gaps, columns;
    std::vector<uint32_t>
        runs;  // length << 4 | operation of BAM: 1 takes a query residue, 2 a target residue, 7 and 8 both
};

inline int64_t best_score(const Rules &rules, const Codes &query, const Codes &target) {
    constexpr int64_t kNever = INT64_MIN / 4;
    const size_t m = query.size(), n = target.size();
    auto gap = [&](size_t length) { return length ? -(rules.open + rules.extend * static_cast<int64_t>(length)) : 0; };
    std::vector<std::vector<int64_t>> H(m + 1, std::vector<int64_t>(n + 1, 0)),
        E(m + 1, std::vector<int64_t>(n + 1, kNever)), F = E;
    for (size_t i = 1; i <= m && !rules.local; ++i) H[i][0] = rules.free_query_start ? 0 : gap(i);
    for (size_t j = 1; j <= n && !rules.local; ++j) H[0][j] = rules.free_target_start ? 0 : gap(j);
    int64_t best = 0;
    for (size_t i = 1; i <= m; ++i)
        for (size_t j = 1; j <= n; ++j) {
            E[i][j] = std::max(H[i][j - 1] - rules.open, E[i][j - 1]) - rules.extend;
            F[i][j] = std::max(H[i - 1][j] - rules.open, F[i - 1][j]) - rules.extend;
            H[i][j] = std::max({H[i - 1][j - 1] + rules.score(query[i - 1], target[j - 1]), E[i][j], F[i][j]});
            if (rules.local) best = std::max(best, H[i][j] = std::max<int64_t>(H[i][j], 0));
        }
    if (rules.local) return best;
    best = H[m][n];
    for (size_t i = 0; i <= m && rules.free_query_end; ++i) best = std::max(best, H[i][n]);
    for (size_t j = 0; j <= n && rules.free_target_end; ++j) best = std::max(best, H[m][j]);
    return best;
}

/// What is wrong with where an alignment begins and ends; empty where nothing is.
inline std::string fault_of_ends(const Rules &rules, const Codes &query, const Codes &target, const Claim &c) {
    const auto m = static_cast<int64_t>(query.size()), n = static_cast<int64_t>(target.size());
    if (c.query_start < 0 || c.query_start > c.query_end || c.query_end > m) return "the query's ends";
    if (c.target_start < 0 || c.target_start > c.target_end || c.target_end > n) return "the target's ends";
    if (rules.local) return "";
    if (c.query_start > 0 && !rules.free_query_start) return "the query's begin is not free";
    if (c.target_start > 0 && !rules.free_target_start) return "the target's begin is not free";
    if (c.query_end < m && !rules.free_query_end) return "the query's end is not free";
    if (c.target_end < n && !rules.free_target_end) return "the target's end is not free";
    if (c.query_start > 0 && c.target_start > 0) return "both sequences hang over in front";
    if (c.query_end < m && c.target_end < n) return "both sequences hang over behind";
    return "";
}

/// What is wrong with an alignment's path, which is scored again; empty where nothing is.
inline std::string fault_of_path(const Rules &rules, const Codes &query, const Codes &target, const Claim &c) {
    int64_t i = c.query_start, j = c.target_start, score = 0, identical = 0, similar = 0, gaps = 0, columns = 0;
    uint32_t before = 0;
    for (const uint32_t run : c.runs) {
        const uint32_t operation = run & 15;
        const int64_t length = run >> 4;
        if (length == 0 || operation == before) return "a run that is empty or one with the run before it";
        columns += length;
        if (operation == 1 || operation == 2) {
            score -= rules.open + rules.extend * length, gaps += length;
            (operation == 1 ? i : j) += length;
        } else if (operation == 7 || operation == 8) {
            if (i + length > c.query_end || j + length > c.target_end) return "a path that leaves its ends";
            for (int64_t k = 0; k < length; ++k, ++i, ++j) {
                const uint8_t a = query[static_cast<size_t>(i)], b = target[static_cast<size_t>(j)];
                if ((a == b) != (operation == 7)) return "a pair under the wrong operation";
                identical += a == b, similar += rules.score(a, b) > 0, score += rules.score(a, b);
            }
        } else {
            return "an unknown operation";
        }
        before = operation;
    }
    if (i != c.query_end || j != c.target_end) return "a path that does not reach its ends";
    if (score != c.score) return "a path of score " + std::to_string(score);
    if (identical != c.identical || similar != c.similar || gaps != c.gaps || columns != c.columns) return "the counts";
    return "";
}

}  // namespace oracle
