// Two groups of aligned sequences aligned with each other, column by column: the step of which progressive alignment
// and refinement are made.
//
// Column i of the first group and j of the second (from 1) share
//
//     P(i, j) = sum over pairs (x, y) of share(x, y) S_xy(residue of x in column i, residue of y in column j)
//
// with x in the first group, y in the second, and shares that add up to 1. The alignment has the highest sum of P over
// the columns that it puts together: column_path.hpp, where the tie rule is, too.
//
// All numbers are integers, so the order of additions does not matter. A weight becomes a whole number of 2^-24 of the
// largest, rounded to nearest; a share is that number over the sum of all, in units of 1 / (2^31 - 1), rounded down. A
// term of P is share times value over 2^15, rounded to nearest. D adds P shifted right by the bits of min(m, n), so
// that no sum passes 31 bits.
#pragma once
#include <cstdint>
#include <vector>

#include "column_path.hpp"
#include "store.hpp"

namespace tropalign {

/// The column of every residue, sequences one after another.
class ResidueColumns {
  public:
    /// Each sequence by itself: residue r is in column r.
    explicit ResidueColumns(const PosteriorStore &store);

    int32_t length(int32_t x) const { return static_cast<int32_t>(offsets_[x + 1] - offsets_[x]); }
    int32_t *of(int32_t x) { return columns_.data() + offsets_[x]; }
    const int32_t *of(int32_t x) const { return columns_.data() + offsets_[x]; }
    std::vector<int32_t> &all() { return columns_; }
    const std::vector<int32_t> &all() const { return columns_; }

  private:
    std::vector<int64_t> offsets_;  // [n_sequences + 1]
    std::vector<int32_t> columns_;
};

/// Sequences whose columns belong together.
struct AlignedGroup {
    std::vector<int32_t> members;
    int32_t n_columns;
};

/// A sequence of the first group and one of the second, and what their posteriors count for beside those of other
/// pairs: zero or more.
struct CrossPair {
    int32_t x, y;
    double weight;
};

/// All pairs of two groups that the store has, with the product of their sequences' weights.
std::vector<CrossPair> all_cross_pairs(const PosteriorStore &store, const AlignedGroup &first,
                                       const AlignedGroup &second, const double *weights);

/// Aligns two groups by the posteriors of these pairs, x in the first group and y in the second. Where the watch stops
/// it, the result is of no use.
MergedColumns align_columns(const PosteriorStore &store, const ResidueColumns &columns, const AlignedGroup &first,
                            const AlignedGroup &second, const std::vector<CrossPair> &pairs, int n_threads,
                            const Watch &watch);

/// Moves the members of a group to new columns.
void move_columns(ResidueColumns &columns, const std::vector<int32_t> &members, const std::vector<int32_t> &to);

}  // namespace tropalign
