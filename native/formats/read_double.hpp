// Parsing of a word as a floating-point number: by std::from_chars, or by a stream if the C++ library lacks it
// (libc++ before version 20, and so macOS).
#pragma once
#include <charconv>
#include <cmath>
#include <locale>
#include <sstream>
#include <string>
#include <string_view>
#include <version>

namespace tropalign {

/// Parse a whole word as a finite number; false for any other, as with std::from_chars.
inline bool read_double_by_stream(std::string_view word, double &value) {
    // Streams skip blanks, and accept a plus sign and hexadecimal digits.
    if (word.empty() || word[0] == '+' || word.find_first_not_of("0123456789.eE+-") != word.npos) return false;
    std::istringstream stream{std::string(word)};
    stream.imbue(std::locale::classic());  // decimal point in any locale
    return stream >> value && stream.peek() == std::char_traits<char>::eof() && std::isfinite(value);
}

/// Parse a number by the fastest available method.
inline bool read_double(std::string_view word, double &value) {
#if defined(__cpp_lib_to_chars)
    const auto [stop, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    return error == std::errc() && stop == word.data() + word.size() && std::isfinite(value);
#else
    return read_double_by_stream(word, value);
#endif
}

}  // namespace tropalign
