#include "records.hpp"

#include <array>

namespace tropalign {

void FileRecords::add_header(std::string_view header, bool leading_blanks) {
    if (leading_blanks) header = stripped_front(header);
    size_t blank = 0;
    while (blank < header.size() && header[blank] != ' ' && header[blank] != '\t') ++blank;
    names.add(header.substr(0, blank));
    names.end();
    if (blank < header.size()) descriptions.add(stripped(header.substr(blank + 1)));
    descriptions.end();
}

namespace {

/// Return the start of the last record if another one comes before it; else 0.
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

namespace {

using Lines = std::array<std::string_view, 4>;

/// Read the four lines starting at `at`, which moves past them; false if the text ends before the last one does.
bool take_lines(std::string_view text, bool goes_on, size_t &at, Lines &lines) {
    for (int k = 0; k < 4; ++k) {
        if (at > text.size()) return false;
        lines[k] = line_at(text, at);
        at += lines[k].size() + 1;
    }
    // The last line of a file need not be terminated; an empty quality without a line end is not a line.
    return at <= text.size() || (!goes_on && !lines[3].empty());
}

bool is_usual(const Lines &lines) {
    const auto [header, letters, plus, quality] = lines;
    if (header.empty() || header.front() != '@' || plus.empty() || plus.front() != '+') return false;
    if (plus.size() > 1 && plus.substr(1) != header.substr(1)) return false;
    if (letters.size() != quality.size()) return false;
    for (std::string_view line : lines)
        if (!line.empty() && line.back() == '\r') return false;
    return true;
}

}  // namespace

FastqRecords split_fastq(std::string_view text, bool goes_on, int64_t most_records, int64_t most_letters,
                         bool leading_blanks, bool keeps_qualities) {
    FastqRecords found;
    Lines lines;
    size_t at = 0;
    int64_t n_records = 0;
    auto is_full = [&] {
        return n_records == most_records || static_cast<int64_t>(found.letters.data.size()) >= most_letters;
    };
    while (!is_full() && at < text.size()) {
        size_t next = at;
        if (!take_lines(text, goes_on, next, lines)) {
            // A truncated last record is an error, which another reader reports.
            found.stopped_by = goes_on ? FastqEnd::text_ends : FastqEnd::unusual;
            return found;
        }
        if (!is_usual(lines)) {
            found.stopped_by = FastqEnd::unusual;
            return found;
        }
        found.add_header(lines[0].substr(1), leading_blanks);
        found.letters.add(lines[1]);
        found.letters.end();
        if (keeps_qualities) found.qualities.insert(found.qualities.end(), lines[3].begin(), lines[3].end());
        ++n_records;
        at = next;
    }
    if (!is_full() && goes_on) {
        found.stopped_by = FastqEnd::text_ends;
        return found;
    }
    found.n_bytes = at < text.size() ? at : text.size();
    return found;
}

}  // namespace tropalign
