// Characters of sequence files in bulk: counted, checked and encoded, each in one pass; duplicate names.
#pragma once
#include <array>
#include <cstdint>

namespace tropalign {

/// Count the occurrences of each byte.
std::array<int64_t, 256> count_bytes(const uint8_t *letters, int64_t n);

struct PlainText {
    int64_t n_lines;    ///< Ends of lines before first_bad, or in all.
    int64_t first_bad;  ///< The first byte that is zero or outside ASCII; -1 if none.
};

PlainText check_plain(const uint8_t *text, int64_t n);

struct Unknown {
    int64_t count = 0, first = -1;
};

/// Encode characters by a table of 256, in which 255 marks unknown ones: these become `wildcard`, and are counted;
/// `first` is the position of the first one.
Unknown encode_letters(const uint8_t *letters, int64_t n, const uint8_t *table, uint8_t wildcard, uint8_t *codes);

struct Repeated {
    int64_t first = -1, again = -1;
};

/// Find the first text that occurred before, and its first occurrence; -1 if all differ. Text k is data[offsets[k]
/// .. offsets[k + 1]).
Repeated find_repeated(const uint8_t *data, const int64_t *offsets, int64_t n);

}  // namespace tropalign
