// Records of sequence files: sequences, names and descriptions, concatenated with their offsets.
#pragma once
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace tropalign {

/// Concatenated texts: text k is data[offsets[k] .. offsets[k + 1]).
struct Texts {
    std::vector<uint8_t> data;
    std::vector<int64_t> offsets{0};

    void add(std::string_view text) { data.insert(data.end(), text.begin(), text.end()); }
    void end() { offsets.push_back(static_cast<int64_t>(data.size())); }
};

struct FileRecords {
    Texts letters;       ///< Lines of a record joined.
    Texts names;         ///< Headers up to the first blank.
    Texts descriptions;  ///< Rest of each header, stripped.
    size_t n_bytes = 0;  ///< Bytes of the text that were read; the rest belongs to incomplete records.

    /// Add a header, without its leading sign. leading_blanks: blanks before a name are skipped.
    void add_header(std::string_view header, bool leading_blanks);
};

/// True for the ASCII characters that Python's strip() removes.
constexpr bool is_blank(unsigned char c) { return c == ' ' || (c >= 9 && c <= 13) || (c >= 28 && c <= 31); }

inline std::string_view stripped_front(std::string_view text) {
    while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
    return text;
}

inline std::string_view stripped(std::string_view text) {
    while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
    return stripped_front(text);
}

/// Return the line that starts at `begin`, without its end.
inline std::string_view line_at(std::string_view text, size_t begin) {
    const auto *end = static_cast<const char *>(std::memchr(text.data() + begin, '\n', text.size() - begin));
    return text.substr(begin, end ? static_cast<size_t>(end - text.data()) - begin : std::string_view::npos);
}

// FASTA records of a piece of text, in one pass.

/// Split a text that starts with a record, '>'. As long as the text `goes_on`, its last record is not returned,
/// since its end is not known. Blanks at the ends of lines are removed, and lines that start with '#', which are
/// comments.
FileRecords split_fasta(std::string_view text, bool goes_on, int64_t most_records, bool leading_blanks);

// FASTQ records of a piece of text in the usual form: four lines each, ended by '\n'.

/// Reason why the records end, if any.
enum class FastqEnd { none, text_ends, unusual };

struct FastqRecords : FileRecords {
    /// none: the block is full, or the text ended with a record. text_ends: more text is needed. unusual: a record
    /// that another reader must judge. In the last two cases n_bytes is 0.
    FastqEnd stopped_by = FastqEnd::none;
    std::vector<uint8_t> qualities;  ///< A character per residue, if qualities are kept.
};

/// Return a block of records: most_records of them, or as many as hold most_letters, or the rest of a text that
/// does not go on. Qualities are dropped unless keeps_qualities.
FastqRecords split_fastq(std::string_view text, bool goes_on, int64_t most_records, int64_t most_letters,
                         bool leading_blanks, bool keeps_qualities);

}  // namespace tropalign
