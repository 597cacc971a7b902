// A table of scores, a number per pair of residues, in place of a matrix of letters.
#pragma once
#include <cstddef>

#include "interface.hpp"

namespace tropalign {

/// Numbers of a table as it is given.
enum class TableType { int8, int16, int32, float32 };

/// A table as it is given: row by row, a row per residue of the query, a column per residue of the target.
struct TableView {
    const void *values;
    TableType type;
    int32_t n_rows, n_columns;
};

/// A table as a sweep reads it: terms of the type of the lanes, for the pair's rows and columns. Lanes without a cell
/// read up to kTableMargin rows and columns before the table, and as many columns after it.
struct ScoreTable {
    const void *first;
    ptrdiff_t row;  // numbers from a row to the next

    template <class T>
    T at(int i, int j) const {
        return static_cast<const T *>(first)[i * row + j];
    }
};

}  // namespace tropalign
