// Rows of text from columns, without a Python object per cell: tab-separated tables, and any record whose parts
// are concatenated.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tropalign {

/// One column of a table. `kind` determines which members are used; `prefix` comes before every value.
///
/// Doubles are written in four ways: real has a fixed number of decimals; shortest has as many digits as give the
/// same double again, and "null" for NaN and infinity, as in JSON; evalue and bits are rounded as in BLAST's
/// tables.
struct RowColumn {
    enum Kind { int32, int64, real, shortest, evalue, bits, text, cigar, constant } kind = constant;
    const void *data = nullptr;        // int32_t, int64_t, double, char or uint32_t (BAM-coded operations)
    int64_t data_size = 0;             // items of `data`
    const int64_t *offsets = nullptr;  // text and cigar: start of each in `data`
    int64_t n_items = 0;               // text and cigar: offsets has n_items + 1 entries
    const int64_t *index = nullptr;    // text: item of each row, -1 for '*'; null: item k for row k
    int decimals = 4;                  // real: digits after the point, 0 to 9
    std::string prefix;
};

/// The text between the columns of a row, and after its last one.
struct RowLayout {
    std::string separator = "\t", terminator = "\n";
};

/// Return the bytes that write_rows() may touch, a few more than it fills. Throws std::invalid_argument if a
/// column points outside its data, and std::length_error if no memory can hold the text.
size_t bound_rows(const std::vector<RowColumn> &columns, const RowLayout &layout, int64_t n_rows);

/// Write rows [0, n_rows) and return the end of the text. `out` has bound_rows() bytes. Unless null, `offsets`
/// takes n_rows + 1 entries: the start of each row.
char *write_rows(const std::vector<RowColumn> &columns, const RowLayout &layout, int64_t n_rows, char *out,
                 int64_t *offsets = nullptr);

}  // namespace tropalign
