#include "srspair.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string_view>

namespace tropalign {
namespace {

constexpr int kBlock = 50, kNameWidth = 13;  // columns of a block, characters of a name in front of it
constexpr int kLetterBytes = 4;              // most bytes of a UTF-8 character

/// Append as many characters of the name as fit; bytes from 128 to 191 continue a character in UTF-8.
void append_padded(std::string &out, std::string_view name) {
    int n_letters = 0;
    size_t size = 0;
    for (; size < name.size(); ++size) {
        if ((name[size] & 0xc0) == 0x80) continue;
        if (n_letters == kNameWidth) break;
        ++n_letters;
    }
    out.append(name.substr(0, size));
    out.append(static_cast<size_t>(kNameWidth - n_letters), ' ');
}

/// Append a number as " %6d".
void append_number(std::string &out, int64_t x) {
    char text[24];
    const auto n = static_cast<size_t>(std::to_chars(text, text + sizeof text, x).ptr - text);
    out.append(n < 6 ? 7 - n : 1, ' ').append(text, n);
}

/// Append a line of a block. `position` is the 1-based number of the last residue before it, `step` 1, or -1 on
/// the minus strand; a line without residues repeats the position.
void append_line(std::string &out, std::string_view name, std::string_view letters, int64_t &position, int64_t step) {
    const auto n = static_cast<int64_t>(letters.size()) - std::count(letters.begin(), letters.end(), '-');
    append_padded(out, name);
    append_number(out, n ? position + step : position);
    out.push_back(' ');
    out.append(letters);
    position += step * n;
    append_number(out, position);
    out.push_back('\n');
}

/// Append "# Score: 12.5": one decimal, or as many as the score needs.
void append_score(std::string &out, int64_t parts) {
    char text[48];
    const uint64_t size = parts < 0 ? 0 - static_cast<uint64_t>(parts) : static_cast<uint64_t>(parts);
    int n = std::snprintf(text, sizeof text, "# Score: %s%llu.%04llu", parts < 0 ? "-" : "",
                          static_cast<unsigned long long>(size / kScoreParts),
                          static_cast<unsigned long long>(size % kScoreParts));
    for (int spare = 3; spare > 0 && text[n - 1] == '0'; --spare) --n;
    out.append(text, static_cast<size_t>(n));
}

void append_share(std::string &out, const char *label, int width, int64_t part, int64_t whole) {
    char text[96];
    double percent = whole ? 100.0 * static_cast<double>(part) / static_cast<double>(whole) : 0.0;
    int n = std::snprintf(text, sizeof text, "# %s:%*lld/%lld (%4.1f%%)\n", label, width, static_cast<long long>(part),
                          static_cast<long long>(whole), percent);
    out.append(text, static_cast<size_t>(n));
}

std::string_view name_of(const char *names, const int64_t *offsets, int64_t count, int64_t k) {
    if (k < 0 || k >= count) throw std::invalid_argument("an alignment has no valid sequence index");
    return {names + offsets[k], static_cast<size_t>(offsets[k + 1] - offsets[k])};
}

std::string_view query_of(const SrspairHeader &h, int64_t row) {
    return name_of(h.query_names, h.query_name_offsets, h.n_queries, h.query_index[row]);
}

std::string_view target_of(const SrspairHeader &h, int64_t row) {
    return name_of(h.target_names, h.target_name_offsets, h.n_targets, h.target_index[row]);
}

/// Return rows [begin, end) of a list.
AlignedRows part_of(AlignedRows rows, int64_t begin, int64_t end) {
    rows.query_begin += begin, rows.target_begin += begin, rows.offsets += begin;
    rows.n_rows = end - begin;
    return rows;
}

void append_record(std::string &out, const GappedText &text, int64_t k, const SrspairHeader &header, int64_t row) {
    static constexpr char kRule[] = "#=======================================\n";
    static const std::string kMargin(kNameWidth + 8, ' ');
    const int64_t begin = text.offsets[static_cast<size_t>(k)], end = text.offsets[static_cast<size_t>(k) + 1];
    if (begin == end) return;
    const auto query = query_of(header, row), target = target_of(header, row);
    out.append(kRule).append("#\n# Aligned_sequences: 2\n# 1: ").append(query).append("\n# 2: ").append(target);
    const bool is_minus = header.strand && header.strand[row] < 0;
    out.append("\n").append(is_minus ? header.minus_scoring : header.scoring);
    out.append("#\n# Length: ").append(std::to_string(end - begin)).append("\n");
    append_share(out, "Identity", 8, header.identical[row], end - begin);
    append_share(out, "Similarity", 6, header.similar[row], end - begin);
    append_share(out, "Gaps", 12, header.gaps[row], end - begin);
    append_score(out, header.score[row]);
    out.append("\n# \n#\n").append(kRule).append("\n");
    int64_t q = header.query_start[row], t = header.target_start[row];
    for (int64_t at = begin; at < end; at += kBlock) {
        const auto n = static_cast<size_t>(end - at < kBlock ? end - at : kBlock);
        if (at > begin) out.push_back('\n');
        append_line(out, query, {text.query.data() + at, n}, q, is_minus ? -1 : 1);
        out.append(kMargin).append(text.middle.data() + at, n).push_back('\n');
        append_line(out, target, {text.target.data() + at, n}, t, 1);
    }
    out.append("\n\n");
}

}  // namespace

size_t bound_srspair(const AlignedRows &rows, const SrspairHeader &header) {
    constexpr size_t kHeader = 512,
                     kLine = kLetterBytes * kNameWidth + 2 * 21 + 3;  // bytes excluding names, scoring and residues
    size_t total = 0;
    for (int64_t row = 0; row < rows.n_rows; ++row) {
        const auto columns = static_cast<size_t>(columns_of(rows, row));
        const size_t names = query_of(header, row).size() + target_of(header, row).size();
        total += kHeader + std::max(header.scoring.size(), header.minus_scoring.size()) + names + 3 * columns +
                 (columns / kBlock + 1) * 3 * kLine;
    }
    return total;
}

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
