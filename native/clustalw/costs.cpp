// Gap costs at each column of a profile, from gaps nearby, hydrophilic runs and residues.
#include <algorithm>
#include <cmath>

#include "profiles.hpp"

namespace tropalign {
namespace {

/// 180 minus the propensity for a gap next to each residue (Pascarella and Argos 1992, J. Mol. Biol. 224, 461), by
/// residue code.
constexpr std::array<int32_t, kClustalwLetters> kReluctance = [] {
    constexpr char letters[] = "ACDEFGHKILMNPQRSTVYW";
    constexpr int propensity[] = {87, 87,  104, 69, 80,  139, 100, 104, 68,  79,
                                  71, 137, 126, 93, 128, 124, 111, 75,  100, 77};
    std::array<int32_t, kClustalwLetters> found{};
    for (int k = 0; k < 20; ++k) {
        const int place = letters[k] - 'A';
        found[static_cast<size_t>(place > 'J' - 'A' ? place - 1 : place)] = 180 - propensity[k];
    }
    return found;
}();

/// Number of adjacent hydrophilic residues that form a run.
constexpr int64_t kShortestRun = 4;

/// Count for each column the rows in which it is within a hydrophilic run.
std::vector<int32_t> hydrophilic_rows(uint32_t hydrophilic, const ProfileRows &rows) {
    std::vector<int32_t> found(static_cast<size_t>(rows.n_columns));
    for (size_t k = 0; k < rows.members.size(); ++k) {
        const uint8_t *row = rows.row(k);
        for (int64_t end = 0; end < rows.n_columns; ++end) {
            const int64_t begin = end;
            while (end < rows.n_columns && hydrophilic >> row[end] & 1) ++end;
            if (end - begin >= kShortestRun)
                for (int64_t j = begin; j < end; ++j) ++found[j];
        }
    }
    return found;
}

/// Return the sums of kReluctance over the rows.
std::vector<int32_t> reluctances(const ProfileRows &rows) {
    std::array<int32_t, 256> of_letter{};
    std::copy(kReluctance.begin(), kReluctance.end(), of_letter.begin());
    std::vector<int32_t> found(static_cast<size_t>(rows.n_columns));
    for (size_t k = 0; k < rows.members.size(); ++k) {
        const uint8_t *row = rows.row(k);
        for (int64_t j = 0; j < rows.n_columns; ++j) found[j] += of_letter[row[j]];
    }
    return found;
}

/// Distance to a nearby gap: 1 to `distance` for columns without gaps near one with gaps (1 is adjacent to it),
/// else 0. To the left of a gap the range is one column shorter. A later gap overrides an earlier one:
///
///     gaps      . . . . x . . . x . . . . .        distance 4
///     nearness  0 3 2 1 0 3 2 1 0 1 2 3 4 0
std::vector<int32_t> nearness(const std::vector<int32_t> &gaps, int32_t distance) {
    const auto n = static_cast<int64_t>(gaps.size());
    std::vector<int32_t> found(gaps.size());
    for (int64_t i = 0; i < n; ++i) {
        if (gaps[i] == 0) continue;
        for (int64_t back = distance - 1; back >= 1; --back)
            if (i - back >= 0 && gaps[i - back] == 0) found[i - back] = static_cast<int32_t>(back);
        while (i + 1 < n && gaps[i + 1] > 0) ++i;
        for (int64_t on = 1; on <= distance && i + on < n && gaps[i + on] == 0; ++on)
            found[i + on] = static_cast<int32_t>(on);
    }
    return found;
}

/// Factor of the cost of opening a gap at a column without gaps.
class LocalFactor {
  public:
    LocalFactor(const ClustalwRules &rules, const ProfileRows &rows)
        : is_compat_(rules.is_compat), n_rows_(static_cast<int32_t>(rows.members.size())) {
        if (rules.is_nucleotide) return;
        if (rules.has_hydrophilic_gaps) hydrophilic_ = hydrophilic_rows(rules.hydrophilic, rows);
        if (rules.has_residue_gaps) reluctance_ = reluctances(rows);
    }

    double of_column(int64_t j) const {
        // CLUSTALW counts percents, so that a run in less than a hundredth of the rows does not count.
        if (!hydrophilic_.empty() && 100 * hydrophilic_[j] >= n_rows_) return 0.5;
        if (reluctance_.empty()) return 1;
        if (is_compat_) return static_cast<float>(reluctance_[j] / n_rows_ / 100.0);
        return reluctance_[j] / (100.0 * n_rows_);
    }

  private:
    const bool is_compat_;
    const int32_t n_rows_;
    std::vector<int32_t> hydrophilic_, reluctance_;
};

/// Convert a cost to an integer, at least 1.
int32_t whole_cost(bool is_compat, double cost) {
    if (is_compat) return std::max(1, static_cast<int32_t>(cost));
    return std::max(1, static_cast<int32_t>(std::floor(kFineUnits * cost + 0.5)));
}

}  // namespace

BaseCosts base_costs(const ClustalwRules &rules, const MatrixRule &matrix, int64_t first_length,
                     int64_t second_length) {
    const auto open = static_cast<float>(rules.gap_open), extend = static_cast<float>(rules.gap_extend);
    BaseCosts base{};
    if (rules.is_nucleotide) {
        base = {100.0 * open * matrix.scale, 100.0 * extend * matrix.scale};
    } else {
        double by_length = 1, by_difference = 1;  // divisors: smaller ones make gaps more expensive
        const int64_t shorter = std::min(first_length, second_length), longer = std::max(first_length, second_length);
        if (shorter > 0) {
            by_length = 1 / std::log10(static_cast<double>(shorter));
            const double ratio = static_cast<float>(shorter) / static_cast<float>(longer);
            by_difference = std::max(0.9, 1 + 0.5 * std::log10(ratio));
        }
        base.extend = 100.0 * extend;
        if (rules.negative_matrix) base.open = 100.0 * open;
        else if (matrix.mismatch <= 0) base.open = 100.0 * static_cast<float>(open + by_length);
        else
            base.open = matrix.scale * static_cast<float>(matrix.mismatch) *
                        static_cast<float>(open / (by_difference * by_length));
    }
    if (!std::isfinite(base.open)) base.open = 0;  // as with a mean length of one residue, whose logarithm is 0
    if (rules.is_compat) base = {std::trunc(base.open), std::trunc(base.extend)};
    return base;
}

std::vector<int32_t> inner_gaps(const ClustalwRules &rules, const ProfileRows &rows) {
    const bool counts_ends = rules.counts_end_gaps || rules.has_end_gaps;
    std::vector<int32_t> found(static_cast<size_t>(rows.n_columns));
    for (size_t k = 0; k < rows.members.size(); ++k) {
        const uint8_t *row = rows.row(k);
        int64_t begin = 0, end = rows.n_columns;
        if (!counts_ends) {
            while (begin < end && row[begin] == kClustalwGap) ++begin;
            while (end > begin && row[end - 1] == kClustalwGap) --end;
        }
        for (int64_t j = begin; j < end; ++j) found[j] += row[j] == kClustalwGap;
    }
    return found;
}

GapCosts gap_costs(const ClustalwRules &rules, const BaseCosts &base, const ProfileRows &rows,
                   const std::vector<int32_t> &gaps) {
    const int64_t n = rows.n_columns;
    const bool compat = rules.is_compat;
    const auto n_rows = static_cast<int32_t>(rows.members.size());
    const int32_t distance = rules.is_nucleotide ? 0 : rules.gap_distance;
    const std::vector<int32_t> near = nearness(gaps, distance);
    const LocalFactor factor(rules, rows);
    GapCosts costs{std::vector<int32_t>(static_cast<size_t>(n) + 2), std::vector<int32_t>(static_cast<size_t>(n) + 2)};
    for (int64_t j = 0; j < n; ++j) {
        double open = base.open, extend = base.extend;
        if (gaps[j] == 0) {
            if (!rules.is_nucleotide) {
                // Compat: a product of floats, truncated before the next factor.
                open = compat ? static_cast<float>(factor.of_column(j)) * static_cast<float>(open)
                              : factor.of_column(j) * open;
                if (compat) open = std::trunc(open);
            }
            if (near[j] > 0) open *= 2.0 + 2.0 * (distance - near[j]) / distance;
        } else {
            const float share = static_cast<float>(n_rows - gaps[j]) / static_cast<float>(n_rows);
            open = compat ? share * static_cast<float>(open) : static_cast<double>(n_rows - gaps[j]) / n_rows * open;
            extend *= 0.5;
        }
        costs.open[j + 1] = whole_cost(compat, open);
        costs.extend[j + 1] = whole_cost(compat, extend);
    }
    if (rules.has_end_gaps) {
        costs.open[0] = whole_cost(compat, base.open);
        costs.extend[0] = whole_cost(compat, base.extend);
    } else {
        costs.open[n] = costs.extend[n] = 0;
    }
    return costs;
}

}  // namespace tropalign
