#include "words.hpp"

#include <algorithm>

namespace tropalign {
namespace {

/// Padded states for which there are kernels.
constexpr int32_t kMostStates = 16;
/// See words.hpp.
constexpr double kSmallestWordStep = 0x1p-40;
/// Maximum size of a table in numbers: it should stay in the second cache.
constexpr int64_t kMostNumbers = 40'000;
/// Minimum number of positions for which words are made: making them takes the time of some thousand steps.
constexpr int64_t kFewestPositions = 1 << 16;

/// Return each word of `from` with each symbol appended.
WordTable longer(const WordTable &from, const WordTable &symbols, size_t padded) {
    const size_t size = padded * padded;
    WordTable made;
    made.ahead.resize(from.powers.size() * symbols.powers.size() * size);
    double *to = made.ahead.data();
    for (size_t word = 0; word < from.powers.size(); ++word)
        for (size_t symbol = 0; symbol < symbols.powers.size(); ++symbol, to += size) {
            made.powers.push_back(from.powers[word] + symbols.powers[symbol]);
            for (size_t i = 0; i < padded; ++i)
                for (size_t k = 0; k < padded; ++k)
                    for (size_t j = 0; j < padded; ++j)
                        to[i * padded + j] +=
                            from.ahead[word * size + i * padded + k] * symbols.ahead[symbol * size + k * padded + j];
        }
    return made;
}

void transpose(WordTable &table, size_t padded) {
    table.back.resize(table.ahead.size());
    for (size_t word = 0; word < table.ahead.size(); word += padded * padded)
        for (size_t i = 0; i < padded; ++i)
            for (size_t j = 0; j < padded; ++j) table.back[word + j * padded + i] = table.ahead[word + i * padded + j];
}

}  // namespace

bool HmmWords::suit(const HmmModel &model) {
    return model.n_symbols > 0 && model.padded <= kMostStates &&
           std::all_of(model.transition.begin(), model.transition.end(),
                       [](double p) { return p >= kSmallestWordStep; });
}

bool HmmWords::pay(int64_t length) { return length >= kFewestPositions; }

HmmWords::HmmWords(const HmmModel &model) {
    const auto padded = static_cast<size_t>(model.padded), n_states = static_cast<size_t>(model.n_states);
    symbols_.powers = model.powers;
    symbols_.ahead.resize(model.powers.size() * padded * padded);
    for (size_t symbol = 0; symbol < model.powers.size(); ++symbol)
        for (size_t i = 0; i < n_states; ++i)
            for (size_t j = 0; j < n_states; ++j)
                symbols_.ahead[(symbol * padded + i) * padded + j] =
                    model.transition[i * n_states + j] * model.emissions[symbol * padded + j];
    words_ = symbols_;
    while (length_ < kLongestHmmWord && static_cast<int64_t>(words_.ahead.size()) * model.n_symbols <= kMostNumbers) {
        words_ = longer(words_, symbols_, padded);
        ++length_;
    }
    transpose(symbols_, padded);
    transpose(words_, padded);
}

}  // namespace tropalign
