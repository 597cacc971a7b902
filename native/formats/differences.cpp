#include "differences.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "digits.hpp"

namespace tropalign {
namespace {

constexpr size_t kColumn = 3;          // bytes of a column of two residues: "*ct"
constexpr int64_t kColumnsAtOnce = 8;  // columns of this kind that are written together: most runs are not longer
constexpr size_t kBeyond = 64;         // bytes beyond the text that such columns and a number may overwrite
using Word = std::array<char, 4>;

/// Text of each residue, a word each, as part of a column's text: '*', the target's residue, the query's.
struct Shown {
    const uint8_t *letters;
    std::array<uint32_t, 256> target{}, query{};

    explicit Shown(const uint8_t *table) : letters(table) {
        for (size_t k = 0; k < 256; ++k) {
            const auto letter = static_cast<char>(table[k]);
            target[k] = std::bit_cast<uint32_t>(Word{'*', letter});
            query[k] = std::bit_cast<uint32_t>(Word{0, 0, letter});
        }
    }
};

char *put_letters(char *out, const uint8_t *from, int64_t n, const uint8_t *letters) {
    for (int64_t k = 0; k < n; ++k) *out++ = static_cast<char>(letters[from[k]]);
    return out;
}

/// Write a run of n mismatch columns; n_readable residues of both sequences can be read.
char *put_different(char *out, const uint8_t *target, const uint8_t *query, int64_t n, int64_t n_readable,
                    const Shown &shown) {
    auto put = [&](int64_t k) {
        const uint32_t word = shown.target[target[k]] | shown.query[query[k]];
        std::memcpy(out + kColumn * static_cast<size_t>(k), &word, sizeof word);  // the fourth byte is overwritten
    };
    int64_t k = 0;
    for (; k < n && k + kColumnsAtOnce <= n_readable; k += kColumnsAtOnce)
        for (int64_t j = 0; j < kColumnsAtOnce; ++j) put(k + j);
    for (; k < n; ++k) put(k);
    return out + kColumn * static_cast<size_t>(n);
}

/// A row of operations and the residues that they use.
struct Row {
    const uint32_t *begin, *end;
    const uint8_t *query, *target, *query_end, *target_end;  // ends of the readable memory
};

Row row_of(const AlignedRows &rows, int64_t k) {
    return {rows.operations + rows.offsets[k],        rows.operations + rows.offsets[k + 1],
            rows.query_letters + rows.query_begin[k], rows.target_letters + rows.target_begin[k],
            rows.query_letters + rows.query_size,     rows.target_letters + rows.target_size};
}

char *put_cs(char *out, Row row, const Shown &shown) {
    for (; row.begin != row.end; ++row.begin) {
        const int64_t n = *row.begin >> 4;
        const uint32_t kind = *row.begin & 15;
        if (kind == kInsertion) {
            *out++ = '+';
            out = put_letters(out, row.query, n, shown.letters);
        } else if (kind == kDeletion) {
            *out++ = '-';
            out = put_letters(out, row.target, n, shown.letters);
        } else if (kind == kEqual) {
            *out++ = ':';
            out = put_integer(out, n);
        } else {
            const int64_t n_readable = std::min(row.query_end - row.query, row.target_end - row.target);
            out = put_different(out, row.target, row.query, n, n_readable, shown);
        }
        if (kind != kDeletion) row.query += n;
        if (kind != kInsertion) row.target += n;
    }
    return out;
}

char *put_md(char *out, Row row, const uint8_t *letters) {
    int64_t n_equal = 0;
    for (; row.begin != row.end; ++row.begin) {
        const int64_t n = *row.begin >> 4;
        const uint32_t kind = *row.begin & 15;
        if (kind == kInsertion) continue;
        if (kind == kEqual) {
            n_equal += n;
        } else if (kind == kDeletion) {
            out = put_integer(out, n_equal);
            *out++ = '^';
            out = put_letters(out, row.target, n, letters);
            n_equal = 0;
        } else {
            for (int64_t k = 0; k < n; ++k, n_equal = 0) {
                out = put_integer(out, n_equal);
                *out++ = static_cast<char>(letters[row.target[k]]);
            }
        }
        row.target += n;
    }
    return put_integer(out, n_equal);
}

}  // namespace

size_t bound_differences(const AlignedRows &rows) {
    size_t total = kBeyond;
    for (int64_t k = 0; k < rows.n_rows; ++k) {
        const auto n_columns = static_cast<size_t>(columns_of(rows, k));
        total += kColumn * n_columns + static_cast<size_t>(rows.offsets[k + 1] - rows.offsets[k]);  // a sign per run
    }
    return total;
}

char *write_differences(const AlignedRows &rows, const uint8_t *letters, char *out, int64_t *offsets) {
    const Shown shown(letters);
    char *p = out;
    for (int64_t k = 0; k < rows.n_rows; ++k) {
        offsets[k] = p - out;
        p = put_cs(p, row_of(rows, k), shown);
    }
    offsets[rows.n_rows] = p - out;
    return p;
}

size_t bound_mismatches(const AlignedRows &rows) {
    size_t total = kBeyond;
    for (int64_t k = 0; k < rows.n_rows; ++k) {
        // A column has at most a zero and a residue; a run of equal ones, and the end, a number.
        const auto n_numbers = static_cast<size_t>(rows.offsets[k + 1] - rows.offsets[k]) + 1;
        total += 2 * static_cast<size_t>(columns_of(rows, k)) + (1 + kInt64Digits) * n_numbers;
    }
    return total;
}

char *write_mismatches(const AlignedRows &rows, const uint8_t *letters, char *out, int64_t *offsets) {
    char *p = out;
    for (int64_t k = 0; k < rows.n_rows; ++k) {
        offsets[k] = p - out;
        p = put_md(p, row_of(rows, k), letters);
    }
    offsets[rows.n_rows] = p - out;
    return p;
}

}  // namespace tropalign
