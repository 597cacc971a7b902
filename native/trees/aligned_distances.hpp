// Distances of the rows of an alignment.
#pragma once
#include <cstdint>

#include "../compute/buffer.hpp"
#include "../compute/poll.hpp"

namespace tropalign {

// Counts of equal columns of two rows of an alignment, and the table of the kernel that counts them.

/// Code of characters that are not compared: gaps and ambiguity codes. Others are below 64, those of nucleotides A
/// 0, C 1, G 2, T 3, so that transitions (A and G, C and T) differ only in the second bit.
inline constexpr uint8_t kNotCompared = 0x80;
/// Rows are padded with kNotCompared to a multiple of this many columns.
inline constexpr int64_t kColumnsAtOnce = 64;

/// Columns in which both rows have a residue; the equal ones among them, and those that differ by a transition.
struct ColumnCounts {
    int32_t compared, equal, transitions;
};

struct ColumnCountKernels {
    const char *isa;
    /// Counts `row` against each of n consecutive rows; n_columns is a multiple of kColumnsAtOnce.
    void (*count)(const uint8_t *row, const uint8_t *others, int64_t n, int64_t n_columns, ColumnCounts *counts);
};

/// Return the table of the chosen instruction set.
const ColumnCountKernels *selected_column_count_kernels();

/// Rows of codes, padded to a multiple of kColumnsAtOnce columns.
class CodedRows {
  public:
    /// Empty rows.
    CodedRows(int64_t n_rows, int64_t n_columns);

    /// Copy contiguous rows.
    static CodedRows copied(const uint8_t *codes, int64_t n_rows, int64_t n_columns);
    /// Copy these columns of other rows, in this order; at most as many as the other rows have.
    void take_columns(const CodedRows &rows, const int32_t *columns, int64_t count);

    int64_t n_rows() const { return n_rows_; }
    int64_t width() const { return width_; }
    const uint8_t *row(int64_t k) const { return codes_.data() + k * width_; }

  private:
    int64_t n_rows_, width_;
    Buffer<uint8_t> codes_;
};

/// Formula of a distance from the share p of compared columns that differ.
enum class DistanceModel {
    identity,  ///< p
    kimura,    ///< proteins: -ln(1 - p - p^2 / 5) (Kimura 1983); from p = 0.75 on Dayhoff's model as in CLUSTAL W
    jc69,      ///< -3/4 ln(1 - 4/3 p) (Jukes and Cantor 1969)
    k2p,       ///< by transitions and transversions (Kimura 1980)
};

/// Return the distance for these counts: infinity if they exceed the range of the model, NaN if no column is
/// compared.
double distance_of(const ColumnCounts &counts, DistanceModel model);

/// Write the distances of (0, 1), (0, 2), ..., (1, 2), ...; false if poll, called with the number of started
/// blocks out of n_distance_blocks, stopped it.
bool aligned_distances(const CodedRows &rows, DistanceModel model, int n_threads, double *distances, const Poll &poll);
int64_t n_distance_blocks(int64_t n_rows);
/// Compute distances of all pairs on this thread only.
void aligned_distances(const CodedRows &rows, DistanceModel model, double *distances);

}  // namespace tropalign
