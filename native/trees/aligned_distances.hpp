// Distances of the rows of an alignment.
#pragma once
#include <cstdint>

#include "../compute/buffer.hpp"
#include "../compute/poll.hpp"
#include "column_counts.hpp"

namespace tropalign {

/// Rows of codes (column_counts.hpp), filled up to a multiple of kColumnsAtOnce columns.
class CodedRows {
  public:
    /// All of them empty.
    CodedRows(int64_t n_rows, int64_t n_columns);

    /// From rows without a gap between them.
    static CodedRows copied(const uint8_t *codes, int64_t n_rows, int64_t n_columns);
    /// These columns of other rows, in this order; as many as those have, or fewer.
    void take_columns(const CodedRows &rows, const int32_t *columns, int64_t count);

    int64_t n_rows() const { return n_rows_; }
    int64_t width() const { return width_; }
    const uint8_t *row(int64_t k) const { return codes_.data() + k * width_; }

  private:
    int64_t n_rows_, width_;
    Buffer<uint8_t> codes_;
};

/// How a distance follows from the share p of compared columns that differ.
enum class DistanceModel {
    identity,  ///< p
    kimura,  ///< of proteins: -ln(1 - p - p^2 / 5) (Kimura 1983), from p = 0.75 on by Dayhoff's model as CLUSTAL W has
             ///< it
    jc69,    ///< -3/4 ln(1 - 4/3 p) (Jukes and Cantor 1969)
    k2p,     ///< by transitions and transversions (Kimura 1980)
};

/// The distance of what was counted: infinity where the model has none so large, no number where nothing is compared.
double distance_of(const ColumnCounts &counts, DistanceModel model);

/// Writes the distances of (0, 1), (0, 2), ..., (1, 2), ...; false when poll, called with the number of blocks begun
/// out of n_distance_blocks, said so.
bool aligned_distances(const CodedRows &rows, DistanceModel model, int n_threads, double *distances, const Poll &poll);
int64_t n_distance_blocks(int64_t n_rows);
/// The same on this thread only.
void aligned_distances(const CodedRows &rows, DistanceModel model, double *distances);

}  // namespace tropalign
