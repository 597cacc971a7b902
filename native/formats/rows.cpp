#include "rows.hpp"

#include <charconv>
#include <cmath>
#include <cstring>

namespace tropalign {
namespace {

constexpr char kOperations[] = "MIDNSHP=X       ";

/// A growing buffer whose tail is written in place.
class Buffer {
  public:
    explicit Buffer(size_t guess) { text_.resize(guess); }
    char *room(size_t n) {
        if (used_ + n > text_.size()) text_.resize((used_ + n) * 2);
        return text_.data() + used_;
    }
    void advance_to(char *end) { used_ = end - text_.data(); }
    void put(const char *p, size_t n) {
        char *to = room(n);
        std::memcpy(to, p, n);
        used_ += n;
    }
    std::string take() {
        text_.resize(used_);
        return std::move(text_);
    }

  private:
    std::string text_;
    size_t used_ = 0;
};

void put_cigar(Buffer &out, const uint32_t *operations, int64_t count) {
    if (count == 0) return out.put("*", 1);
    char *p = out.room(static_cast<size_t>(count) * 10);
    for (int64_t k = 0; k < count; ++k) {
        uint32_t length = operations[k] >> 4;
        if (length < 10) *p++ = static_cast<char>('0' + length);
        else p = std::to_chars(p, p + 9, length).ptr;
        *p++ = kOperations[operations[k] & 15];
    }
    out.advance_to(p);
}

void put_real(Buffer &out, double x, int decimals) {
    if (std::isnan(x)) return out.put("nan", 3);
    char *p = out.room(400);
    out.advance_to(std::to_chars(p, p + 400, x, std::chars_format::fixed, decimals).ptr);
}

void put_value(Buffer &out, const RowColumn &column, int64_t row) {
    if (!column.constant_text.empty()) out.put(column.constant_text.data(), column.constant_text.size());
    switch (column.kind) {
        case RowColumn::int32: {
            char *p = out.room(12);
            return out.advance_to(std::to_chars(p, p + 12, static_cast<const int32_t *>(column.data)[row]).ptr);
        }
        case RowColumn::int64: {
            char *p = out.room(21);
            return out.advance_to(std::to_chars(p, p + 21, static_cast<const int64_t *>(column.data)[row]).ptr);
        }
        case RowColumn::real: return put_real(out, static_cast<const double *>(column.data)[row], column.decimals);
        case RowColumn::text: {
            int64_t k = column.index ? column.index[row] : row, begin = column.offsets[k];
            return out.put(static_cast<const char *>(column.data) + begin, column.offsets[k + 1] - begin);
        }
        case RowColumn::cigar: {
            int64_t begin = column.offsets[row];
            return put_cigar(out, static_cast<const uint32_t *>(column.data) + begin, column.offsets[row + 1] - begin);
        }
        case RowColumn::constant: return;
    }
}

}  // namespace

std::string join_rows(const std::vector<RowColumn> &columns, int64_t n_rows) {
    Buffer out(static_cast<size_t>(n_rows) * 64 + 64);
    for (int64_t row = 0; row < n_rows; ++row) {
        for (size_t k = 0; k < columns.size(); ++k) {
            if (k) out.put("\t", 1);
            put_value(out, columns[k], row);
        }
        out.put("\n", 1);
    }
    return out.take();
}

}  // namespace tropalign
