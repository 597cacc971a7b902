// Alignment of two groups of aligned sequences with each other, column by column: the step of progressive
// alignment and of refinement.
//
// Column i of the first group and j of the second (from 1) share
//
//     P(i, j) = sum over pairs (x, y) of share(x, y) S_xy(residue of x in column i, residue of y in column j)
//
// with x in the first group, y in the second, and shares that add up to 1. The alignment has the highest sum of P
// over the columns that it aligns: see column_path.hpp, also for the tie rule.
//
// All numbers are integers, so the order of additions does not matter. A weight becomes a multiple of 2^-24 of the
// largest, rounded to nearest; a share is that number divided by the sum of all, in units of 1 / (2^31 - 1),
// rounded down. A term of P is share times value over 2^15, rounded to nearest. D adds P shifted right by the bits
// of min(m, n), so that no sum exceeds 31 bits.
#pragma once
#include <cstdint>
#include <vector>

#include "column_path.hpp"
#include "store.hpp"

namespace tropalign {

/// The column of every residue, sequences concatenated.
class ResidueColumns {
  public:
    /// Initially each sequence is unaligned: residue r is in column r.
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

/// Sequences that are aligned with each other.
struct AlignedGroup {
    std::vector<int32_t> members;
    int32_t n_columns;
};

/// A sequence of the first group and one of the second, and the weight of their posteriors relative to other
/// pairs: zero or more.
struct CrossPair {
    int32_t x, y;
    double weight;
};

/// Return all pairs of two groups that the store has, with the product of their sequences' weights.
std::vector<CrossPair> all_cross_pairs(const PosteriorStore &store, const AlignedGroup &first,
                                       const AlignedGroup &second, const double *weights);

/// Align two groups by the posteriors of pairs, x in the first group and y in the second. If the watch stops the work,
/// the result is invalid.
MergedColumns align_columns(const PosteriorStore &store, const ResidueColumns &columns, const AlignedGroup &first,
                            const AlignedGroup &second, const std::vector<CrossPair> &pairs, int n_threads,
                            const Watch &watch);

/// Move the members of a group to new columns.
void move_columns(ResidueColumns &columns, const std::vector<int32_t> &members, const std::vector<int32_t> &to);

}  // namespace tropalign
