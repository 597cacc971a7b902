#include "rows.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <stdexcept>

#include "digits.hpp"

namespace tropalign {
namespace {

constexpr char kOperations[] = "MIDNSHP=X???????";
constexpr char kAbsent = '*';                           // for a row without text
constexpr int kInt32Digits = 11, kOperationDigits = 9;  // an operation's length has 28 bits
constexpr int kSlack = 16;                              // short copies write whole words
constexpr int64_t kMostBytes = int64_t{1} << 46;        // longest text: beyond any machine, and far from overflows
constexpr int kShortDouble = 26;  // bytes of a double's shortest form, and of E-values and bits in BLAST's format
constexpr char kTooLong[] = "the rows are too long for any memory";
constexpr double kTenTo[] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9};

/// Text of every operation shorter than 256, by its BAM code: at most three digits and the operation's letter.
constexpr uint32_t kShortOperations = 256 << 4;
constexpr auto kOperationText = [] {
    std::array<std::array<char, 4>, kShortOperations> table{};
    for (uint32_t op = 0; op < kShortOperations; ++op) {
        const auto &digits = kSmallNumbers[op >> 4];
        for (int k = 0; k < digits[3]; ++k) table[op][static_cast<size_t>(k)] = digits[static_cast<size_t>(k)];
        table[op][static_cast<size_t>(digits[3])] = kOperations[op & 15];
    }
    return table;
}();

char *put_cigar(char *p, const uint32_t *operations, int64_t count) {
    if (count == 0) {
        *p = '*';
        return p + 1;
    }
    for (int64_t k = 0; k < count; ++k) {
        const uint32_t op = operations[k];
        if (op < kShortOperations) {
            std::memcpy(p, kOperationText[op].data(), 4);
            p += 2 + (op >= 10 << 4) + (op >= 100 << 4);
        } else {
            p = put_integer(p, static_cast<int32_t>(op >> 4));
            *p++ = kOperations[op & 15];
        }
    }
    return p;
}

/// Return the maximum number of bytes that a real needs: all digits before the point, the point, the decimals, the
/// sign.
size_t real_bound(double x, int decimals) {
    if (!std::isfinite(x)) return 4;
    double size = std::fabs(x);
    return size < 1e9 ? 12 + decimals : 313 + decimals;
}

/// Write decimal places like printf's "%.*f", which rounds the exact binary value.
char *put_real(char *p, double x, int decimals) {
    if (std::isnan(x)) {
        std::memcpy(p, "nan", 3);
        return p + 3;
    }
    double scaled = x * kTenTo[decimals], below = std::floor(scaled), rest = scaled - below;
    // Far from a tie, rounding the product equals rounding x itself; near one, the library decides.
    if (scaled >= 0 && !std::signbit(x) && scaled < 1e15 && std::fabs(rest - 0.5) > 1e-3) {
        auto digits = static_cast<uint64_t>(below) + (rest > 0.5);
        auto unit = static_cast<uint64_t>(kTenTo[decimals]);
        p = put_integer(p, static_cast<int64_t>(digits / unit));
        if (decimals == 0) return p;
        uint64_t fraction = digits % unit;
        *p++ = '.';
        for (int k = decimals; k-- > 0; fraction /= 10) p[k] = static_cast<char>('0' + fraction % 10);
        return p + decimals;
    }
    return std::to_chars(p, p + real_bound(x, decimals), x, std::chars_format::fixed, decimals).ptr;
}

/// Write the fewest digits that give the same number again.
char *put_shortest(char *p, double x) {
    if (!std::isfinite(x)) {
        std::memcpy(p, "null", 4);
        return p + 4;
    }
    return std::to_chars(p, p + kShortDouble, x).ptr;
}

char *put_fixed(char *p, double x, int decimals) {
    return std::to_chars(p, p + kShortDouble, x, std::chars_format::fixed, decimals).ptr;
}

char *put_scientific(char *p, double x, int decimals) {
    return std::to_chars(p, p + kShortDouble, x, std::chars_format::scientific, decimals).ptr;
}

/// Write an E-value as in BLAST's tables (outfmt 6); -1 if absent.
char *put_evalue(char *p, double x) {
    if (!(x >= 0)) {
        std::memcpy(p, "-1", 2);
        return p + 2;
    }
    if (x < 1e-180) return put_real(p, 0.0, 1);
    if (x < 0.0009 || x >= 1e15) return put_scientific(p, x, 2);
    return put_fixed(p, x, x < 0.1 ? 3 : x < 1 ? 2 : x < 10 ? 1 : 0);
}

/// Write bits as in BLAST's tables, without its blank before numbers below 10; 0 if absent.
char *put_bits(char *p, double x) {
    if (!std::isfinite(x) || x == 0) {
        *p = '0';
        return p + 1;
    }
    if (std::fabs(x) > 99999) return put_scientific(p, x, 3);
    return x > 99.9 ? put_integer(p, static_cast<int64_t>(x)) : put_fixed(p, x, 1);
}

/// Most names and prefixes are short: copy 16 bytes at once if possible.
char *put_text(char *p, const char *text, const char *text_end, size_t n) {
    if (n == 0) return p;
    if (n <= kSlack && text + kSlack <= text_end) std::memcpy(p, text, kSlack);
    else std::memcpy(p, text, n);
    return p + n;
}

char *put_value(char *p, const RowColumn &column, int64_t row) {
    switch (column.kind) {
        case RowColumn::int32:
            return put_integer(p, static_cast<const int32_t *>(column.data)[row]);
        case RowColumn::int64:
            return put_integer(p, static_cast<const int64_t *>(column.data)[row]);
        case RowColumn::real:
            return put_real(p, static_cast<const double *>(column.data)[row], column.decimals);
        case RowColumn::shortest:
            return put_shortest(p, static_cast<const double *>(column.data)[row]);
        case RowColumn::evalue:
            return put_evalue(p, static_cast<const double *>(column.data)[row]);
        case RowColumn::bits:
            return put_bits(p, static_cast<const double *>(column.data)[row]);
        case RowColumn::text: {
            auto *data = static_cast<const char *>(column.data);
            const int64_t k = column.index ? column.index[row] : row;
            if (k < 0) {
                *p = kAbsent;
                return p + 1;
            }
            const int64_t begin = column.offsets[k];
            return put_text(p, data + begin, data + column.data_size,
                            static_cast<size_t>(column.offsets[k + 1] - begin));
        }
        case RowColumn::cigar: {
            int64_t begin = column.offsets[row];
            return put_cigar(p, static_cast<const uint32_t *>(column.data) + begin, column.offsets[row + 1] - begin);
        }
        case RowColumn::constant:
            break;
    }
    return p;
}

void check_offsets(const RowColumn &column) {
    for (int64_t k = 0; k < column.n_items; ++k)
        if (column.offsets[k] > column.offsets[k + 1]) throw std::invalid_argument("the offsets of a column descend");
    if (column.offsets[0] < 0 || column.offsets[column.n_items] > column.data_size)
        throw std::invalid_argument("the offsets of a column reach beyond its data");
}

size_t bound_text(const RowColumn &column, int64_t n_rows) {
    check_offsets(column);
    if (!column.index) {
        if (n_rows > column.n_items) throw std::invalid_argument("a text column has fewer items than there are rows");
        return static_cast<size_t>(column.offsets[n_rows] - column.offsets[0]);
    }
    int64_t total = 0;
    for (int64_t row = 0; row < n_rows; ++row) {
        int64_t k = column.index[row];
        if (k < -1 || k >= column.n_items) throw std::invalid_argument("the index of a text column is out of range");
        total += k < 0 ? 1 : column.offsets[k + 1] - column.offsets[k];
        if (total > kMostBytes) throw std::length_error(kTooLong);
    }
    return static_cast<size_t>(total);
}

size_t bound_cigars(const RowColumn &column, int64_t n_rows) {
    check_offsets(column);
    if (n_rows > column.n_items) throw std::invalid_argument("a CIGAR column has fewer items than there are rows");
    auto *operations = static_cast<const uint32_t *>(column.data);
    const int64_t end = column.offsets[n_rows];
    int64_t total = n_rows;  // a '*' each
    for (int64_t k = column.offsets[0]; k < end;) {
        const int64_t stop = std::min<int64_t>(end, k + 4096);
        int32_t sum = 0;  // narrow, so that the loop vectorises
        for (; k < stop; ++k) {
            auto length = static_cast<int32_t>(operations[k] >> 4);
            sum += 2 + (length > 9) + (length > 99) + (length > 999 ? kOperationDigits - 3 : 0);
        }
        total += sum;
    }
    return static_cast<size_t>(total);
}

size_t bound_column(const RowColumn &column, int64_t n_rows) {
    const auto n = static_cast<size_t>(n_rows);
    switch (column.kind) {
        case RowColumn::int32:
            return n * kInt32Digits;
        case RowColumn::int64:
            return n * kInt64Digits;
        case RowColumn::real: {
            size_t total = 0;
            for (size_t k = 0; k < n; ++k)
                total += real_bound(static_cast<const double *>(column.data)[k], column.decimals);
            return total;
        }
        case RowColumn::shortest:
        case RowColumn::evalue:
        case RowColumn::bits:
            return n * kShortDouble;
        case RowColumn::text:
            return bound_text(column, n_rows);
        case RowColumn::cigar:
            return bound_cigars(column, n_rows);
        case RowColumn::constant:
            break;
    }
    return 0;
}

}  // namespace

size_t bound_rows(const std::vector<RowColumn> &columns, const RowLayout &layout, int64_t n_rows) {
    size_t per_row = layout.terminator.size(), total = 0;
    for (const RowColumn &column : columns) {
        per_row += layout.separator.size() + column.prefix.size();
        total += bound_column(column, n_rows);
    }
    if (n_rows > kMostBytes / static_cast<int64_t>(per_row + 64)) throw std::length_error(kTooLong);
    return total + per_row * static_cast<size_t>(n_rows) + 2 * kSlack;
}

char *write_rows(const std::vector<RowColumn> &columns, const RowLayout &layout, int64_t n_rows, char *out,
                 int64_t *offsets) {
    // The text before each value, padded so that a short one is a single copy.
    std::vector<std::string> before;
    for (size_t k = 0; k < columns.size(); ++k) before.push_back((k ? layout.separator : "") + columns[k].prefix);
    std::vector<size_t> before_size;
    for (std::string &text : before) {
        before_size.push_back(text.size());
        text.append(kSlack, ' ');
    }
    char *p = out;
    for (int64_t row = 0; row < n_rows; ++row) {
        if (offsets) offsets[row] = p - out;
        for (size_t k = 0; k < columns.size(); ++k) {
            const std::string &text = before[k];
            p = put_text(p, text.data(), text.data() + text.size(), before_size[k]);
            p = put_value(p, columns[k], row);
        }
        for (char c : layout.terminator) *p++ = c;
    }
    if (offsets) offsets[n_rows] = p - out;
    return p;
}

}  // namespace tropalign
