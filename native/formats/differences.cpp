#include "differences.hpp"

#include <charconv>

namespace tropalign {
namespace {

constexpr size_t kNumber = 20;  // digits of a number, and its sign

char *put_number(char *out, int64_t number) { return std::to_chars(out, out + kNumber, number).ptr; }

char *put_letters(char *out, const uint8_t *from, int64_t n, const uint8_t *letters) {
    for (int64_t k = 0; k < n; ++k) *out++ = static_cast<char>(letters[from[k]]);
    return out;
}

/// A row of operations and the letters that they take.
struct Row {
    const uint32_t *begin, *end;
    const uint8_t *query, *target;
};

Row row_of(const AlignedRows &rows, int64_t k) {
    return {rows.operations + rows.offsets[k], rows.operations + rows.offsets[k + 1],
            rows.query_letters + rows.query_begin[k], rows.target_letters + rows.target_begin[k]};
}

char *put_cs(char *out, Row row, const uint8_t *letters) {
    for (; row.begin != row.end; ++row.begin) {
        const int64_t n = *row.begin >> 4;
        const uint32_t kind = *row.begin & 15;
        if (kind == kInsertion) {
            *out++ = '+';
            out = put_letters(out, row.query, n, letters);
        } else if (kind == kDeletion) {
            *out++ = '-';
            out = put_letters(out, row.target, n, letters);
        } else if (kind == kEqual) {
            *out++ = ':';
            out = put_number(out, n);
        } else {
            for (int64_t k = 0; k < n; ++k) {
                *out++ = '*';
                *out++ = static_cast<char>(letters[row.target[k]]);
                *out++ = static_cast<char>(letters[row.query[k]]);
            }
        }
        if (kind != kDeletion) row.query += n;
        if (kind != kInsertion) row.target += n;
    }
    return out;
}

}  // namespace

size_t bound_differences(const AlignedRows &rows) {
    constexpr size_t kMost = 3;  // bytes per column: "*ct"
    size_t total = kNumber;      // which a number may touch beyond its digits
    for (int64_t k = 0; k < rows.n_rows; ++k) {
        const auto n_columns = static_cast<size_t>(columns_of(rows, k));
        total += kMost * n_columns + static_cast<size_t>(rows.offsets[k + 1] - rows.offsets[k]);  // a sign per run
    }
    return total;
}

char *write_differences(const AlignedRows &rows, const uint8_t *letters, char *out, int64_t *offsets) {
    char *p = out;
    for (int64_t k = 0; k < rows.n_rows; ++k) {
        offsets[k] = p - out;
        p = put_cs(p, row_of(rows, k), letters);
    }
    offsets[rows.n_rows] = p - out;
    return p;
}

}  // namespace tropalign
