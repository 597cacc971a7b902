#include "fasta.hpp"

#include <cstring>

namespace tropalign {
namespace {

/// What Python's strip() takes for blank, in ASCII.
constexpr bool is_blank(unsigned char c) { return c == ' ' || (c >= 9 && c <= 13) || (c >= 28 && c <= 31); }

std::string_view stripped_front(std::string_view text) {
    while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
    return text;
}

std::string_view stripped(std::string_view text) {
    while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
    return stripped_front(text);
}

void append(std::vector<uint8_t> &data, std::string_view text) { data.insert(data.end(), text.begin(), text.end()); }

/// The line that begins at `begin`, its end aside.
std::string_view line_at(std::string_view text, size_t begin) {
    const auto *end = static_cast<const char *>(std::memchr(text.data() + begin, '\n', text.size() - begin));
    return text.substr(begin, end ? static_cast<size_t>(end - text.data()) - begin : std::string_view::npos);
}

/// Where the last record begins, if another one comes before it; else 0.
size_t last_record(std::string_view text) {
    for (size_t at = text.size(); (at = text.rfind("\n", at - 1)) != std::string_view::npos && at > 0;) {
        const std::string_view line = stripped_front(line_at(text, at + 1));
        if (!line.empty() && line.front() == '>') return at + 1;
    }
    return 0;
}

void add_header(FastaRecords &found, std::string_view header) {
    const size_t blank = header.find_first_of(" \t");
    append(found.names.data, header.substr(0, blank));
    found.names.end();
    if (blank != std::string_view::npos) append(found.descriptions.data, stripped(header.substr(blank + 1)));
    found.descriptions.end();
}

}  // namespace

FastaRecords split_fasta(std::string_view text, bool goes_on, int64_t most_records, bool leading_blanks) {
    FastaRecords found;
    const size_t size = goes_on ? last_record(text) : text.size();
    found.letters.data.reserve(size);
    int64_t n_records = 0;
    size_t at = 0;
    while (at < size) {
        const std::string_view line = line_at(text, at), inside = stripped(line);
        const size_t next = at + line.size() + 1;
        if (!inside.empty() && inside.front() == '>') {
            if (n_records == most_records) break;
            if (n_records++ > 0) found.letters.end();
            const std::string_view header = inside.substr(1);
            add_header(found, leading_blanks ? stripped_front(header) : header);
        } else if (n_records > 0 && !inside.empty() && inside.front() != '#') {
            append(found.letters.data, inside);
        }
        at = next;
    }
    if (n_records > 0) found.letters.end();
    found.n_bytes = at < size ? at : size;
    return found;
}

}  // namespace tropalign
