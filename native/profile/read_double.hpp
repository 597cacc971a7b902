// A word as a floating-point number: by std::from_chars, or by a stream where the C++ library lacks that (libc++ before
// version 20, and so macOS).
#pragma once
#include <charconv>
#include <cmath>
#include <locale>
#include <sstream>
#include <string>
#include <string_view>
#include <version>

namespace tropalign {

/// A whole word as a finite number; false for any other, as std::from_chars says it.
inline bool read_double_by_stream(std::string_view word, double &value) {
    // Streams skip blanks, and take a plus and hexadecimal digits.
    if (word.empty() || word[0] == '+' || word.find_first_not_of("0123456789.eE+-") != word.npos) return false;
    std::istringstream stream{std::string(word)};
    stream.imbue(std::locale::classic());  // a point, whatever the program's language is
    return stream >> value && stream.peek() == std::char_traits<char>::eof() && std::isfinite(value);
}

/// Reads a number by the faster way that there is.
inline bool read_double(std::string_view word, double &value) {
#if defined(__cpp_lib_to_chars)
    const auto [stop, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    return error == std::errc() && stop == word.data() + word.size() && std::isfinite(value);
#else
    return read_double_by_stream(word, value);
#endif
}

}  // namespace tropalign
