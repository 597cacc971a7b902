// Integers as text, small ones by a table.
#pragma once
#include <array>
#include <charconv>
#include <cstdint>
#include <cstring>

namespace tropalign {

/// Bytes that put_integer() may touch.
constexpr int kInt64Digits = 20;

/// Text of 0..999, left-aligned, with its number of digits in the fourth byte.
inline constexpr auto kSmallNumbers = [] {
    std::array<std::array<char, 4>, 1000> table{};
    for (int k = 0; k < 1000; ++k) {
        int n = 0;
        if (k >= 100) table[k][n++] = static_cast<char>('0' + k / 100);
        if (k >= 10) table[k][n++] = static_cast<char>('0' + k / 10 % 10);
        table[k][n++] = static_cast<char>('0' + k % 10);
        table[k][3] = static_cast<char>(n);
    }
    return table;
}();

template <class T>
char *put_integer(char *p, T x) {
    if (x >= 0 && x < 1000) {
        const auto &small = kSmallNumbers[static_cast<size_t>(x)];
        std::memcpy(p, small.data(), 4);
        return p + small[3];
    }
    return std::to_chars(p, p + kInt64Digits, x).ptr;
}

}  // namespace tropalign
