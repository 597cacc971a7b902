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

}  // namespace tropalign
