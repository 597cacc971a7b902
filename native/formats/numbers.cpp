#include "numbers.hpp"

#include <cstdint>
#include <string_view>

#include "read_double.hpp"

namespace tropalign {
namespace {

/// Digits of which any number is an exact double, as are these powers of ten.
constexpr int64_t kExactDigits = 15;
constexpr double kPowers[kExactDigits + 1] = {1,   1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                              1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};

bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/// Read a word such as -12.5 at *at and move behind it; false if it has another form or too many digits. The quotient
/// of two exact doubles is correctly rounded (Clinger 1990).
bool read_short(const char **at, const char *end, double &value) {
    const char *p = *at;
    const bool is_negative = p < end && *p == '-';
    p += is_negative;
    const char *const begin = p;
    uint64_t digits = 0;
    const auto read_digits = [&] {
        for (; p < end && static_cast<uint8_t>(*p - '0') < 10; ++p)
            digits = 10 * digits + static_cast<uint8_t>(*p - '0');
    };
    read_digits();
    int64_t n_digits = p - begin, decimals = 0;
    if (p < end && *p == '.') {
        const char *const point = p++;
        read_digits();
        decimals = p - point - 1;
        n_digits += decimals;
    }
    if (n_digits == 0 || n_digits > kExactDigits || (p < end && !is_blank(*p))) return false;
    value = static_cast<double>(digits) / kPowers[decimals];
    if (is_negative) value = -value;
    *at = p;
    return true;
}

}  // namespace

std::optional<std::vector<double>> read_numbers(const char *text, size_t size) {
    std::vector<double> values;
    const char *const end = text + size;
    for (const char *p = text;;) {
        while (p < end && is_blank(*p)) ++p;
        if (p == end) return values;
        double value;
        if (!read_short(&p, end, value)) {
            const char *const word = p;
            while (p < end && !is_blank(*p)) ++p;
            if (!read_double({word, static_cast<size_t>(p - word)}, value)) return std::nullopt;
        }
        values.push_back(value);
    }
}

}  // namespace tropalign
