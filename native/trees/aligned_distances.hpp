// Distances of the rows of an alignment.
#pragma once
#include <cstdint>

#include "../compute/buffer.hpp"
#include "../compute/poll.hpp"

namespace tropalign {

// In how many columns two rows of an alignment agree, and the table of the kernel that counts them.

/// The code of what is not compared: gaps and ambiguous letters. Others are below 64, those of nucleotides A 0, C 1, G
/// 2, T 3, so that transitions (A and G, C and T) differ in just the second bit.
inline constexpr uint8_t kNotCompared = 0x80;
/// Rows are filled up to a multiple of so many columns by kNotCompared.
inline constexpr int64_t kColumnsAtOnce = 64;

/// Columns in which both rows hold a letter; of these the equal ones, and those that differ by a transition.
struct ColumnCounts {
    int32_t compared, equal, transitions;
};

struct ColumnCountKernels {
    const char *isa;
    /// Counts of `row` with each of n rows that follow one another; n_columns is a multiple of kColumnsAtOnce.
    void (*count)(const uint8_t *row, const uint8_t *others, int64_t n, int64_t n_columns, ColumnCounts *counts);
};

/// The table of the chosen instruction set.
const ColumnCountKernels *selected_column_count_kernels();

/// Rows of codes, filled up to a multiple of kColumnsAtOnce columns.
class CodedRows {
  public:
    /// Empty rows.
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
/// Distances of all pairs, on this thread only.
void aligned_distances(const CodedRows &rows, DistanceModel model, double *distances);

}  // namespace tropalign
