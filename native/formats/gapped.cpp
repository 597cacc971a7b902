#include "gapped.hpp"

#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string_view>

namespace tropalign {
namespace {

constexpr uint32_t kInsertion = 1, kDeletion = 2, kEqual = 7, kDifferent = 8;
constexpr int kCodes = 32, kBlock = 50, kNameWidth = 13;

/// Columns, query letters and target letters that the operations of a row take.
struct Extent {
    int64_t columns = 0, query = 0, target = 0;
};

Extent extent_of(const uint32_t *begin, const uint32_t *end) {
    Extent extent;
    for (const uint32_t *op = begin; op != end; ++op) {
        int64_t length = *op >> 4;
        uint32_t kind = *op & 15;
        if (kind != kInsertion && kind != kDeletion && kind != kEqual && kind != kDifferent)
            throw std::out_of_range("an alignment has an operation other than =, X, I and D");
        extent.columns += length;
        if (kind != kDeletion) extent.query += length;
        if (kind != kInsertion) extent.target += length;
    }
    return extent;
}

char middle_of(const AlignedRows &rows, uint32_t kind, int64_t q, int64_t t) {
    bool identical = kind == kEqual;
    if (!rows.positive) return identical ? '|' : '.';
    bool positive = rows.positive[(rows.query_codes[q] & 31) * kCodes + (rows.target_codes[t] & 31)];
    if (identical) return positive ? '|' : ' ';
    return positive ? ':' : '.';
}

void append_padded(std::string &out, std::string_view name) {
    name = name.substr(0, kNameWidth);
    out.append(name);
    out.append(kNameWidth - name.size(), ' ');
}

void append_number(std::string &out, int64_t x) {
    char text[32];
    out.append(text, static_cast<size_t>(std::snprintf(text, sizeof text, " %6lld", static_cast<long long>(x))));
}

/// A line of a block: the positions are 1-based; a line without letters repeats the last position.
void append_line(std::string &out, std::string_view name, std::string_view letters, int64_t &position) {
    int64_t n = 0;
    for (char c : letters) n += c != '-';
    append_padded(out, name);
    append_number(out, n ? position + 1 : position);
    out.push_back(' ');
    out.append(letters);
    position += n;
    append_number(out, position);
    out.push_back('\n');
}

void append_share(std::string &out, const char *label, int width, int64_t part, int64_t whole) {
    char text[96];
    double percent = whole ? 100.0 * static_cast<double>(part) / static_cast<double>(whole) : 0.0;
    int n = std::snprintf(text, sizeof text, "# %s:%*lld/%lld (%4.1f%%)\n", label, width, static_cast<long long>(part),
                          static_cast<long long>(whole), percent);
    out.append(text, static_cast<size_t>(n));
}

std::string_view name_of(const char *names, const int64_t *offsets, int64_t count, int64_t k) {
    if (k < 0 || k >= count) throw std::out_of_range("an alignment names no sequence");
    return {names + offsets[k], static_cast<size_t>(offsets[k + 1] - offsets[k])};
}

}  // namespace

GappedText gapped_text(const AlignedRows &rows) {
    GappedText text;
    text.offsets.resize(static_cast<size_t>(rows.n_rows) + 1);
    int64_t total = 0;
    for (int64_t row = 0; row < rows.n_rows; ++row) {
        Extent extent = extent_of(rows.operations + rows.offsets[row], rows.operations + rows.offsets[row + 1]);
        if (rows.query_begin[row] < 0 || rows.query_begin[row] + extent.query > rows.query_size ||
            rows.target_begin[row] < 0 || rows.target_begin[row] + extent.target > rows.target_size)
            throw std::out_of_range("an alignment is longer than its sequences");
        total += extent.columns;
        text.offsets[static_cast<size_t>(row) + 1] = total;
    }
    const auto size = static_cast<size_t>(total);
    text.query.resize(size), text.middle.resize(size), text.target.resize(size);
    char *query = text.query.data(), *middle = text.middle.data(), *target = text.target.data();
    for (int64_t row = 0; row < rows.n_rows; ++row) {
        int64_t q = rows.query_begin[row], t = rows.target_begin[row];
        for (int64_t k = rows.offsets[row]; k < rows.offsets[row + 1]; ++k) {
            const int64_t length = rows.operations[k] >> 4;
            const auto n = static_cast<size_t>(length);
            const uint32_t kind = rows.operations[k] & 15;
            if (n == 0) continue;
            if (kind == kInsertion || kind == kDeletion) std::memset(middle, ' ', n);
            else
                for (int64_t i = 0; i < length; ++i) middle[i] = middle_of(rows, kind, q + i, t + i);
            if (kind == kDeletion) std::memset(query, '-', n);
            else std::memcpy(query, rows.query_letters + q, n), q += length;
            if (kind == kInsertion) std::memset(target, '-', n);
            else std::memcpy(target, rows.target_letters + t, n), t += length;
            query += length, middle += length, target += length;
        }
    }
    return text;
}

std::string srspair_records(const GappedText &text, const SrspairHeader &header, int64_t n_rows) {
    static constexpr char kRule[] = "#=======================================\n";
    static const std::string kMargin(kNameWidth + 8, ' ');
    std::string out;
    out.reserve(static_cast<size_t>(text.offsets.back()) * 5 + static_cast<size_t>(n_rows) * 512);
    for (int64_t row = 0; row < n_rows; ++row) {
        const int64_t begin = text.offsets[static_cast<size_t>(row)], end = text.offsets[static_cast<size_t>(row) + 1];
        if (begin == end) continue;
        auto query = name_of(header.query_names, header.query_name_offsets, header.n_queries, header.query_index[row]);
        auto target = name_of(header.target_names, header.target_name_offsets, header.n_targets, header.target_index[row]);
        out.append(kRule).append("#\n# Aligned_sequences: 2\n# 1: ").append(query).append("\n# 2: ").append(target);
        out.append("\n").append(header.scoring);
        if (header.strand) out.append(header.strand[row] < 0 ? "# Strand: -\n" : "# Strand: +\n");
        out.append("#\n# Length: ").append(std::to_string(end - begin)).append("\n");
        append_share(out, "Identity", 8, header.identical[row], end - begin);
        append_share(out, "Similarity", 6, header.similar[row], end - begin);
        append_share(out, "Gaps", 12, header.gaps[row], end - begin);
        out.append("# Score: ").append(std::to_string(header.score[row])).append(".0\n# \n#\n").append(kRule).append("\n");
        int64_t q = header.query_start[row], t = header.target_start[row];
        for (int64_t at = begin; at < end; at += kBlock) {
            const auto n = static_cast<size_t>(end - at < kBlock ? end - at : kBlock);
            if (at > begin) out.push_back('\n');
            append_line(out, query, {text.query.data() + at, n}, q);
            out.append(kMargin).append(text.middle.data() + at, n).push_back('\n');
            append_line(out, target, {text.target.data() + at, n}, t);
        }
        out.append("\n\n");
    }
    return out;
}

}  // namespace tropalign
