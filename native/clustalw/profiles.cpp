#include "profiles.hpp"

#include <algorithm>
#include <cmath>

#include "../simd/dispatch.hpp"

namespace tropalign {

TROPALIGN_DISPATCH(ProfileKernels, profile_kernels)

namespace {

/// Without compat, scores of the first profile are in eighths of a matrix unit, and frequencies of the second in
/// 2^-14. Their products are shifted to kFineUnits per matrix unit; a sum stays below 2^31 since scores are below
/// 4096.
constexpr int kScoreUnits = 8, kFrequencyOne = 1 << 14, kFineShift = 15;
static_assert(kScoreUnits * kFrequencyOne >> kFineShift == kFineUnits);

/// Amount subtracted from each frequency; the rest is scaled so that 1 stays 1. CLUSTALW rounds down to tenths, which
/// has an advantage: without it, columns of many rare residues would gain from being aligned with anything, since no
/// score is negative. SP of 110 families of BAliBASE 3 is .731 without subtraction, .742 with it, and .739 for the
/// original.
constexpr int64_t kRare = kFrequencyOne * 2 / 25;

/// Return the mean number of residues per row, truncated.
int64_t mean_length(const ProfileRows &rows) {
    const auto n_residues =
        static_cast<int64_t>(rows.letters.size()) - std::count(rows.letters.begin(), rows.letters.end(), kClustalwGap);
    return static_cast<int64_t>(static_cast<float>(n_residues) / static_cast<float>(rows.members.size()));
}

const MatrixRule &rule_for(const ClustalwRules &rules, double identity, int64_t shorter) {
    for (const MatrixRule &rule : rules.series)
        if (identity > rule.above && shorter < rule.shorter_than) return rule;
    return rules.series.back();
}

/// Sums of the weights of the rows that have each residue in each column: kClustalwLetters + 1 per column, the
/// last one for gaps.
class LetterWeights {
  public:
    static constexpr size_t kPerColumn = kClustalwLetters + 1;

    LetterWeights(const ProfileRows &rows, const std::vector<int32_t> &weights)
        : sums_(static_cast<size_t>(rows.n_columns) * kPerColumn) {
        for (size_t k = 0; k < rows.members.size(); ++k) {
            const int64_t weight = weights[static_cast<size_t>(rows.members[k])];
            const uint8_t *row = rows.row(k);
            for (int64_t j = 0; j < rows.n_columns; ++j) sums_[static_cast<size_t>(j) * kPerColumn + row[j]] += weight;
            total_ += weight;
        }
    }

    const int64_t *column(int64_t j) const { return sums_.data() + static_cast<size_t>(j) * kPerColumn; }
    int64_t total() const { return total_; }

  private:
    std::vector<int64_t> sums_;
    int64_t total_ = 0;
};

int16_t frequency(const ClustalwRules &rules, int64_t weight, int64_t total) {
    if (total == 0) return 0;
    if (rules.is_compat) {  // one decimal digit
        const float share = 10 * static_cast<float>(weight) / static_cast<float>(total);
        return static_cast<int16_t>(share);
    }
    const int64_t above = std::max<int64_t>(0, (kFrequencyOne * weight + total / 2) / total - kRare);
    return static_cast<int16_t>(above * kFrequencyOne / (kFrequencyOne - kRare));
}

/// Return the residue codes that have a frequency above 0 in any column, padded to an even number with
/// kClustalwLetters.
std::vector<int32_t> letters_in(const ClustalwRules &rules, const LetterWeights &columns, int64_t n) {
    std::array<bool, kClustalwLetters> is_in{};
    for (int64_t j = 0; j < n; ++j)
        for (size_t a = 0; a < kClustalwLetters; ++a)
            is_in[a] |= frequency(rules, columns.column(j)[a], columns.total()) != 0;
    std::vector<int32_t> found;
    for (int32_t a = 0; a < kClustalwLetters; ++a)
        if (is_in[static_cast<size_t>(a)]) found.push_back(a);
    if (found.size() % 2 == 1 || found.empty()) found.resize(found.size() / 2 * 2 + 2, kClustalwLetters);
    return found;
}

std::vector<int16_t> frequency_blocks(const ClustalwRules &rules, const LetterWeights &columns, int64_t n,
                                      const std::vector<int32_t> &letters) {
    const auto n_blocks = static_cast<size_t>((n + kProfileBlock - 1) / kProfileBlock);
    constexpr auto kPairSize = static_cast<size_t>(2 * kProfileBlock);
    std::vector<int16_t> blocks(n_blocks * letters.size() / 2 * kPairSize);
    for (int64_t j = 0; j < n; ++j) {
        int16_t *block = blocks.data() + static_cast<size_t>(j / kProfileBlock) * letters.size() / 2 * kPairSize;
        for (size_t a = 0; a < letters.size(); ++a)
            if (letters[a] < kClustalwLetters)
                block[a / 2 * kPairSize + static_cast<size_t>(j % kProfileBlock) * 2 + a % 2] =
                    frequency(rules, columns.column(j)[letters[a]], columns.total());
    }
    return blocks;
}

/// Return the mean scores in each column, times the share of rows without a gap there.
std::vector<int16_t> column_scores(const ClustalwRules &rules, const MatrixRule &matrix, const LetterWeights &columns,
                                   const std::vector<int32_t> &gaps, int64_t n_rows,
                                   const std::vector<int32_t> &letters) {
    std::vector<int16_t> scores(gaps.size() * letters.size());
    for (size_t j = 0; j < gaps.size(); ++j) {
        if (gaps[j] == n_rows) continue;
        std::array<int64_t, kClustalwLetters> sums{};
        for (size_t a = 0; a < kClustalwLetters; ++a) {
            const int64_t weight = columns.column(static_cast<int64_t>(j))[a];
            if (weight == 0) continue;
            for (size_t b = 0; b < kClustalwLetters; ++b) sums[b] += weight * matrix.scores[a * kClustalwLetters + b];
        }
        const float share = static_cast<float>(n_rows - gaps[j]) / static_cast<float>(n_rows);
        const double fine = kScoreUnits * static_cast<double>(n_rows - gaps[j]) /
                            (static_cast<double>(n_rows) * static_cast<double>(columns.total()));
        for (size_t k = 0; k < letters.size(); ++k) {
            if (letters[k] == kClustalwLetters) continue;
            const int64_t sum = sums[static_cast<size_t>(letters[k])];
            scores[j * letters.size() + k] =
                rules.is_compat
                    ? static_cast<int16_t>(static_cast<float>(sum) / static_cast<float>(columns.total()) * share)
                    : static_cast<int16_t>(std::floor(static_cast<double>(sum) * fine + 0.5));
        }
    }
    return scores;
}

}  // namespace

ProfilePair profile_pair(const ClustalwRules &rules, const ProfileRows &first, const ProfileRows &second,
                         const std::vector<int32_t> &weights, double identity) {
    const int64_t first_length = mean_length(first), second_length = mean_length(second);
    const MatrixRule &matrix = rule_for(rules, identity, std::min(first_length, second_length));
    const BaseCosts base = base_costs(rules, matrix, first_length, second_length);
    const std::vector<int32_t> first_gaps = inner_gaps(rules, first), second_gaps = inner_gaps(rules, second);
    const LetterWeights first_letters(first, weights), second_letters(second, weights);
    const std::vector<int32_t> letters = letters_in(rules, second_letters, second.n_columns);

    ProfilePair pair{};
    pair.n_first = first.n_columns;
    pair.n_second = second.n_columns;
    pair.n_pairs = static_cast<int32_t>(letters.size() / 2);
    pair.shift = rules.is_compat ? 0 : kFineShift;
    pair.has_end_gaps = rules.has_end_gaps;
    pair.scores =
        column_scores(rules, matrix, first_letters, first_gaps, static_cast<int64_t>(first.members.size()), letters);
    pair.blocks = frequency_blocks(rules, second_letters, second.n_columns, letters);
    pair.first = gap_costs(rules, base, first, first_gaps);
    pair.second = gap_costs(rules, base, second, second_gaps);
    return pair;
}

}  // namespace tropalign
