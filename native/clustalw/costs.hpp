// What gaps cost at each column of a profile.
#pragma once
#include <vector>

#include "rules.hpp"

namespace tropalign {

/// Costs beside column k of n, from 1; 0 and n are the profile's ends, where gaps are free unless ends cost.
///
///     column    1   2   3 ... n
///     open[ ] 0   1   2   3   n
struct GapCosts {
    std::vector<int32_t> open, extend;  // n + 2 each, the last ones 0
};

/// Costs of a gap before a column's own letters count.
struct BaseCosts {
    double open, extend;
};

BaseCosts base_costs(const ClustalwRules &rules, const MatrixRule &matrix, int64_t first_length, int64_t second_length);

/// Rows that have a gap in each column; those at the ends of a row do not count unless the rules say so.
std::vector<int32_t> inner_gaps(const ClustalwRules &rules, const ProfileRows &rows);

GapCosts gap_costs(const ClustalwRules &rules, const BaseCosts &base, const ProfileRows &rows,
                   const std::vector<int32_t> &gaps);

}  // namespace tropalign
