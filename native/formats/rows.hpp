// Tab-separated rows from columns, without a Python object a cell.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace tropalign {

/// One column of a table. Which members count depends on `kind`.
struct RowColumn {
    enum Kind { int32, int64, real, text, cigar, constant } kind;
    const void *data = nullptr;         // int32_t, int64_t, double, char or uint32_t (BAM-coded operations)
    const int64_t *offsets = nullptr;   // text and cigar: where each begins
    const int64_t *index = nullptr;     // text: which of them a row takes; null: the row's own
    int decimals = 4;                   // real
    std::string constant_text;          // constant, or what comes before a value
};

/// Rows [0, n_rows) of the columns, tab-separated, each ended by a newline.
std::string join_rows(const std::vector<RowColumn> &columns, int64_t n_rows);

}  // namespace tropalign
