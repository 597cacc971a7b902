// Bounds that show which cells of the matrix of two similar nucleotide sequences need not be computed.
//
// `least` is the score of some alignment of the pair, and `rest` an upper bound on what residues add to any alignment.
// A path that enters a skipped cell from a cell with H scores at most H + rest there; if that is below `least`, no
// optimal path does so (docs/exactness.md has the proof).
//
//     +--------------+      Left of a column j, only rows with H + rest of the columns from j on >= least are
//     |####\         |      continued: the first row rises. Above a row i, only columns with H + rest of the rows from
//     |#######\      |      i on >= least are continued: the last row falls.
//     |  #######\    |
//     |     #######\ |      `rest`: a residue adds at most its best score. A k-mer that does not occur in the other
//     |        ######|      sequence adds less by `loss`: it contains a mismatch or touches a gap.
//     +--------------+
#pragma once
#include <cstdint>
#include <vector>

#include "scoring.hpp"

namespace tropalign {

/// Step between the rows, and between the columns, that have a bound.
inline constexpr int kPruneStep = 16;

/// The k-mers of a sequence of nucleotides.
class Seeds {
  public:
    /// `length`: residues of a k-mer.
    Seeds(const Letters &, int length);

    static constexpr uint32_t kNone = UINT32_MAX;
    std::vector<uint32_t> at;  // the k-mer's number at each position; kNone if it has other codes than A, C, G and T
    int length, others = 0;    // others: residues other than A, C, G and T
    bool has(uint32_t seed) const { return present_[seed / 64] >> seed % 64 & 1; }

  private:
    std::vector<uint64_t> present_;
};

/// Return a k-mer length for which sequences of `residues` residues have few common k-mers by chance.
int seed_length(int residues);

/// Bounds of a pair. by_row[k] and by_column[k]: upper bounds on what the residues from kPruneStep * k on add to the
/// score of an alignment.
struct PruneLimits {
    int32_t least = 0;
    std::vector<int32_t> by_row, by_column;
    /// Rows of an alignment of that score, from first_row[k] to before end_row[k], in columns kPruneStep * k and later.
    std::vector<int32_t> first_row, end_row;
};

/// Computes the bounds of pairs with the same rows.
class Pruning {
  public:
    /// True if pairs of the scoring have bounds: nucleotides with a match and a mismatch score.
    static bool suits(const Scoring &);

    /// `length`: of a k-mer.
    Pruning(const Scoring &, const Letters &rows, int length);
    PruneLimits limits(const LanePair &) const;

  private:
    /// Equal k-mers along a diagonal.
    struct Run {
        int begin, end, diagonal;  // columns; column - row
        int row() const { return begin - diagonal; }
    };
    std::vector<Run> runs(const Seeds &columns) const;
    std::vector<Run> chain(const Seeds &columns) const;
    void add_chain(const LanePair &, const std::vector<Run> &, PruneLimits &) const;
    std::vector<int32_t> rest_of(const Letters &, const int32_t *best, const Seeds &own, const Seeds &other) const;

    const Scoring &scoring_;
    const Letters rows_;
    const Seeds seeds_;
    std::vector<int32_t> position_;  // of the last occurrence of each k-mer in the rows; -1 if it does not occur
    int32_t best_of_row_[kLetters] = {}, best_of_column_[kLetters] = {};  // a residue's best score, at least 0
    int32_t loss_;
};

}  // namespace tropalign
