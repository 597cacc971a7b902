#include "gapped.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace tropalign {
namespace {

constexpr int kCodes = 32;

/// Columns, query residues and target residues of the operations of a row.
struct Extent {
    int64_t columns = 0, query = 0, target = 0;
};

Extent extent_of(const uint32_t *begin, const uint32_t *end) {
    Extent extent;
    uint32_t kinds = 0;  // a bit per operation that occurs
    for (const uint32_t *op = begin; op != end; ++op) {
        const int64_t length = *op >> 4;
        const uint32_t kind = *op & 15;
        kinds |= 1u << kind;
        extent.columns += length;
        extent.query += kind == kDeletion ? 0 : length;
        extent.target += kind == kInsertion ? 0 : length;
    }
    if (kinds & ~(1u << kInsertion | 1u << kDeletion | 1u << kEqual | 1u << kDifferent))
        throw std::invalid_argument("an alignment has an operation other than =, X, I and D");
    return extent;
}

/// Write the marks of a run of pairs: for codes that score above 0, and for others.
void put_middle(char *middle, const AlignedRows &rows, bool identical, int64_t q, int64_t t, int64_t length) {
    if (!rows.positive) {
        if (length) std::memset(middle, identical ? '|' : '.', static_cast<size_t>(length));
        return;
    }
    const char marks[2] = {identical ? ' ' : '.', identical ? '|' : ':'};
    const uint8_t *a = rows.query_codes + q, *b = rows.target_codes + t;
    for (int64_t k = 0; k < length; ++k) middle[k] = marks[rows.positive[(a[k] & 31) * kCodes + (b[k] & 31)] != 0];
}

constexpr int64_t kWord = 16;

/// Copy a short run by one 16-byte copy if the source is long enough. `to` has kWord bytes to spare.
void copy_run(char *to, const uint8_t *from, const uint8_t *from_end, int64_t n) {
    if (n <= kWord && from_end - from >= kWord) std::memcpy(to, from, kWord);
    else if (n) std::memcpy(to, from, static_cast<size_t>(n));
}

void fill_run(char *to, char c, int64_t n) { std::memset(to, c, n <= kWord ? kWord : static_cast<size_t>(n)); }

}  // namespace

int64_t columns_of(const AlignedRows &rows, int64_t row) {
    Extent extent = extent_of(rows.operations + rows.offsets[row], rows.operations + rows.offsets[row + 1]);
    auto within = [](int64_t begin, int64_t length, int64_t size) { return begin >= 0 && begin <= size - length; };
    if (!within(rows.query_begin[row], extent.query, rows.query_size) ||
        !within(rows.target_begin[row], extent.target, rows.target_size))
        throw std::invalid_argument("an alignment is longer than its sequences");
    return extent.columns;
}

GappedText gapped_text(const AlignedRows &rows, bool wants_middle) {
    GappedText text;
    text.offsets.resize(static_cast<size_t>(rows.n_rows) + 1);
    int64_t total = 0;
    for (int64_t row = 0; row < rows.n_rows; ++row)
        text.offsets[static_cast<size_t>(row) + 1] = total += columns_of(rows, row);
    const auto size = static_cast<size_t>(total), room = size + kWord;
    text.query.resize(room), text.target.resize(room);
    if (wants_middle) text.middle.assign(size, ' ');
    char *query = text.query.data(), *middle = text.middle.data(), *target = text.target.data();
    const uint8_t *query_end = rows.query_letters + rows.query_size;
    const uint8_t *target_end = rows.target_letters + rows.target_size;
    for (int64_t row = 0; row < rows.n_rows; ++row) {
        int64_t q = rows.query_begin[row], t = rows.target_begin[row];
        for (int64_t k = rows.offsets[row]; k < rows.offsets[row + 1]; ++k) {
            int64_t n = rows.operations[k] >> 4;
            const uint32_t kind = rows.operations[k] & 15;
            if (kind == kEqual || kind == kDifferent) {  // all columns between two gaps are copied at once
                if (wants_middle) put_middle(middle, rows, kind == kEqual, q, t, n);
                for (; k + 1 < rows.offsets[row + 1]; ++k) {
                    const uint32_t next = rows.operations[k + 1] & 15;
                    if (next != kEqual && next != kDifferent) break;
                    const int64_t more = rows.operations[k + 1] >> 4;
                    if (wants_middle) put_middle(middle + n, rows, next == kEqual, q + n, t + n, more);
                    n += more;
                }
            }
            if (kind == kDeletion) fill_run(query, '-', n);
            else copy_run(query, rows.query_letters + q, query_end, n), q += n;
            if (kind == kInsertion) fill_run(target, '-', n);
            else copy_run(target, rows.target_letters + t, target_end, n), t += n;
            query += n, target += n;
            if (wants_middle) middle += n;
        }
    }
    text.query.resize(size), text.target.resize(size);
    return text;
}

}  // namespace tropalign
