// Numbers of a line of text, such as a row of a matrix.
#pragma once
#include <cstddef>
#include <optional>
#include <vector>

namespace tropalign {

/// Return the numbers of a text, separated by ASCII blanks and rounded like Python's float. Nothing if a word is
/// anything else than a finite decimal number that fits a double: those are left to Python.
std::optional<std::vector<double>> read_numbers(const char *text, size_t size);

}  // namespace tropalign
