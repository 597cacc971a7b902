#include "gapped.hpp"

#include <algorithm>
#include <charconv>
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

/// Marks of a run of pairs: between codes that score above 0, and between others.
void put_middle(char *middle, const AlignedRows &rows, bool identical, int64_t q, int64_t t, int64_t length) {
    if (!rows.positive) {
        if (length) std::memset(middle, identical ? '|' : '.', static_cast<size_t>(length));
        return;
    }
    const char marks[2] = {identical ? ' ' : '.', identical ? '|' : ':'};
    const uint8_t *a = rows.query_codes + q, *b = rows.target_codes + t;
    for (int64_t k = 0; k < length; ++k) middle[k] = marks[rows.positive[(a[k] & 31) * kCodes + (b[k] & 31)] != 0];
}

void append_padded(std::string &out, std::string_view name) {
    name = name.substr(0, kNameWidth);
    out.append(name);
    out.append(kNameWidth - name.size(), ' ');
}

/// " %6d"
void append_number(std::string &out, int64_t x) {
    char text[24];
    const auto n = static_cast<size_t>(std::to_chars(text, text + sizeof text, x).ptr - text);
    out.append(n < 6 ? 7 - n : 1, ' ').append(text, n);
}

/// A line of a block: the positions are 1-based; a line without letters repeats the last position.
void append_line(std::string &out, std::string_view name, std::string_view letters, int64_t &position) {
    const auto n = static_cast<int64_t>(letters.size()) - std::count(letters.begin(), letters.end(), '-');
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

std::string_view query_of(const SrspairHeader &h, int64_t row) {
    return name_of(h.query_names, h.query_name_offsets, h.n_queries, h.query_index[row]);
}

std::string_view target_of(const SrspairHeader &h, int64_t row) {
    return name_of(h.target_names, h.target_name_offsets, h.n_targets, h.target_index[row]);
}

}  // namespace

namespace {

constexpr int64_t kWord = 16;

/// Runs are short: one 16-byte copy where the source has as many letters. `to` has kWord bytes to spare.
void copy_run(char *to, const uint8_t *from, const uint8_t *from_end, int64_t n) {
    if (n <= kWord && from_end - from >= kWord) std::memcpy(to, from, kWord);
    else if (n) std::memcpy(to, from, static_cast<size_t>(n));
}

void fill_run(char *to, char c, int64_t n) { std::memset(to, c, n <= kWord ? kWord : static_cast<size_t>(n)); }

/// Rows [begin, end) of a list.
AlignedRows part_of(AlignedRows rows, int64_t begin, int64_t end) {
    rows.query_begin += begin, rows.target_begin += begin, rows.offsets += begin;
    rows.n_rows = end - begin;
    return rows;
}

int64_t columns_of(const AlignedRows &rows, int64_t row) {
    Extent extent = extent_of(rows.operations + rows.offsets[row], rows.operations + rows.offsets[row + 1]);
    if (rows.query_begin[row] < 0 || rows.query_begin[row] + extent.query > rows.query_size ||
        rows.target_begin[row] < 0 || rows.target_begin[row] + extent.target > rows.target_size)
        throw std::out_of_range("an alignment is longer than its sequences");
    return extent.columns;
}

}  // namespace

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
            const int64_t n = rows.operations[k] >> 4;
            const uint32_t kind = rows.operations[k] & 15;
            if (wants_middle && kind != kInsertion && kind != kDeletion)
                put_middle(middle, rows, kind == kEqual, q, t, n);
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

size_t bound_srspair(const AlignedRows &rows, const SrspairHeader &header) {
    constexpr size_t kHeader = 512, kLine = kNameWidth + 2 * 21 + 3;  // what stands beside names, scoring and letters
    size_t total = 0;
    for (int64_t row = 0; row < rows.n_rows; ++row) {
        const auto columns = static_cast<size_t>(columns_of(rows, row));
        const size_t names = query_of(header, row).size() + target_of(header, row).size();
        total += kHeader + header.scoring.size() + names + 3 * columns + (columns / kBlock + 1) * 3 * kLine;
    }
    return total;
}

namespace {

void append_record(std::string &out, const GappedText &text, int64_t k, const SrspairHeader &header, int64_t row) {
    static constexpr char kRule[] = "#=======================================\n";
    static const std::string kMargin(kNameWidth + 8, ' ');
    const int64_t begin = text.offsets[static_cast<size_t>(k)], end = text.offsets[static_cast<size_t>(k) + 1];
    if (begin == end) return;
    const auto query = query_of(header, row), target = target_of(header, row);
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

}  // namespace

char *write_srspair(const AlignedRows &rows, const SrspairHeader &header, char *out) {
    constexpr int64_t kAtOnce = 256;  // rows whose text stays in the cache
    std::string records;
    for (int64_t begin = 0; begin < rows.n_rows; begin += kAtOnce) {
        const int64_t end = std::min(rows.n_rows, begin + kAtOnce);
        const GappedText text = gapped_text(part_of(rows, begin, end));
        records.clear();
        for (int64_t row = begin; row < end; ++row) append_record(records, text, row - begin, header, row);
        std::memcpy(out, records.data(), records.size());
        out += records.size();
    }
    return out;
}

}  // namespace tropalign
