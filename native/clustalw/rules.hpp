// CLUSTALW's rules of profile alignment (Thompson, Higgins and Gibson 1994, Nucleic Acids Res. 22, 4673; Larkin et
// al. 2007, Bioinformatics 23, 2947), as numbers. "Compat" is arithmetic that truncates where CLUSTALW 2.1 does,
// so that it reproduces the same alignment; without it the same rules are computed to the last digit that fits.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tropalign {

/// Codes of the letters A to Z without J; a gap has the code after them.
inline constexpr int kClustalwLetters = 25;
inline constexpr uint8_t kClustalwGap = kClustalwLetters;
/// Without compat, costs and scores are integers in quarters of a hundredth of the matrix's own units.
inline constexpr int32_t kFineUnits = 4;

/// A matrix of a series, and the condition for profiles to use it: more than `above` percent identical, and fewer than
/// `shorter_than` residues per row, on average, in the shorter profile.
struct MatrixRule {
    double above;
    int32_t shorter_than;
    float scale;       // factor of the gap opening cost
    int32_t mismatch;  // negated mean score of two different residues
    std::array<int32_t, kClustalwLetters * kClustalwLetters> scores;
};

struct ClustalwRules {
    bool is_compat, is_nucleotide;
    double gap_open, gap_extend;
    int32_t gap_distance;
    uint32_t hydrophilic;  // a bit per residue code
    bool has_hydrophilic_gaps, has_residue_gaps, has_end_gaps, counts_end_gaps, negative_matrix, has_weights;
    int32_t delay;
    std::vector<MatrixRule> series;  // the first that fits is used
};

/// Some sequences of a family, aligned.
struct ProfileRows {
    std::vector<int32_t> members;  // ascending
    int64_t n_columns = 0;
    std::vector<uint8_t> letters;  // n_columns per member

    const uint8_t *row(size_t k) const { return letters.data() + static_cast<int64_t>(k) * n_columns; }
};

/// A column of a merged alignment: a column of both groups, or of one group with a gap in the other.
enum class MergeStep : uint8_t { both, second_only, first_only };

}  // namespace tropalign
