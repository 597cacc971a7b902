// Records of sequence files: letters, names and descriptions one after another, with their places.
#pragma once
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace tropalign {

/// Texts one after another: text k is data[offsets[k] .. offsets[k + 1]).
struct Texts {
    std::vector<uint8_t> data;
    std::vector<int64_t> offsets{0};

    void add(std::string_view text) { data.insert(data.end(), text.begin(), text.end()); }
    void end() { offsets.push_back(static_cast<int64_t>(data.size())); }
};

struct FileRecords {
    Texts letters;       ///< Lines of a record joined.
    Texts names;         ///< Headers up to the first blank ...
    Texts descriptions;  ///< ... and what follows, without blanks at the ends.
    size_t n_bytes = 0;  ///< Of the text; what follows belongs to records that were not taken.

    /// A header, without the sign that it begins with. leading_blanks: those before a name are no part of it.
    void add_header(std::string_view header, bool leading_blanks);
};

/// What Python's strip() takes for blank, in ASCII.
constexpr bool is_blank(unsigned char c) { return c == ' ' || (c >= 9 && c <= 13) || (c >= 28 && c <= 31); }

inline std::string_view stripped_front(std::string_view text) {
    while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
    return text;
}

inline std::string_view stripped(std::string_view text) {
    while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
    return stripped_front(text);
}

/// The line that begins at `begin`, its end aside.
inline std::string_view line_at(std::string_view text, size_t begin) {
    const auto *end = static_cast<const char *>(std::memchr(text.data() + begin, '\n', text.size() - begin));
    return text.substr(begin, end ? static_cast<size_t>(end - text.data()) - begin : std::string_view::npos);
}

// FASTA records of a piece of text, in one pass.

/// The records of a text that begins with one, '>'. As long as the text `goes_on`, its last record is not taken, since
/// its end is not known. Blanks at the ends of lines are left out, and lines that begin with '#', which are comments.
FileRecords split_fasta(std::string_view text, bool goes_on, int64_t most_records, bool leading_blanks);

// FASTQ records of a piece of text, where they are as nearly all files have them: four lines each, ended by '\n'.

/// What stands in the way of a whole number of records, if anything.
enum class FastqEnd { none, text_ends, unusual };

struct FastqRecords : FileRecords {
    /// none: the block is full, or the text ended with a record. text_ends: more of it is needed. unusual: a record
    /// that another reader has to judge. But for none, no record was taken.
    FastqEnd stopped_by = FastqEnd::none;
    std::vector<uint8_t> qualities;  ///< A character per letter, where they are kept.
};

/// A block of records: most_records of them, or as many as hold most_letters, or the rest of a text that does not go
/// on. Qualities are left out unless keeps_qualities.
FastqRecords split_fastq(std::string_view text, bool goes_on, int64_t most_records, int64_t most_letters,
                         bool leading_blanks, bool keeps_qualities);

}  // namespace tropalign
