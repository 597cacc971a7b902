#include "fasta.hpp"

namespace tropalign {
namespace {

/// Where the last record begins, if another one comes before it; else 0.
size_t last_record(std::string_view text) {
    for (size_t at = text.size(); (at = text.rfind("\n", at - 1)) != std::string_view::npos && at > 0;) {
        const std::string_view line = stripped_front(line_at(text, at + 1));
        if (!line.empty() && line.front() == '>') return at + 1;
    }
    return 0;
}

}  // namespace

FileRecords split_fasta(std::string_view text, bool goes_on, int64_t most_records, bool leading_blanks) {
    FileRecords found;
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
            found.add_header(inside.substr(1), leading_blanks);
        } else if (n_records > 0 && !inside.empty() && inside.front() != '#') {
            found.letters.add(inside);
        }
        at = next;
    }
    if (n_records > 0) found.letters.end();
    found.n_bytes = at < size ? at : size;
    return found;
}

}  // namespace tropalign
