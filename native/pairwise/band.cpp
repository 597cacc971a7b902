#include "band.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace tropalign {
namespace {

/// Sum the best scores of the `pairs` best residues.
int64_t best_of(const BestLetters &best, const LetterCounts &counts, int64_t pairs) {
    int64_t sum = 0;
    for (int k = 0; k < kLetters && pairs > 0; ++k) {
        const int a = best.letter[k];
        const int64_t taken = std::min<int64_t>(counts.count[a], pairs);
        sum += taken * best.best[a];
        pairs -= taken;
    }
    return sum;
}

constexpr int64_t kNoPath = std::numeric_limits<int64_t>::min();

/// Return the smallest number of [least, most] for which is_enough holds (and for all larger ones); `most` if it
/// holds for no smaller one.
template <class IsEnough>
int64_t first_that(int64_t least, int64_t most, IsEnough is_enough) {
    while (least < most) {
        const int64_t middle = least + (most - least) / 2;
        if (is_enough(middle)) most = middle;
        else least = middle + 1;
    }
    return least;
}

}  // namespace

LetterCounts::LetterCounts(const Letters &letters) : count{} {
    int32_t more[3][kLetters] = {};  // four tables, so that runs of equal residues do not wait for each other
    int k = 0;
    for (; k + 4 <= letters.length; k += 4) {
        ++count[letters.codes[k]], ++more[0][letters.codes[k + 1]];
        ++more[1][letters.codes[k + 2]], ++more[2][letters.codes[k + 3]];
    }
    for (; k < letters.length; ++k) ++count[letters.codes[k]];
    for (int a = 0; a < kLetters; ++a) count[a] += more[0][a] + more[1][a] + more[2][a];
}

BestLetters::BestLetters(const Scoring &scoring) : best{} {
    for (int a = 0; a < kPadCode; ++a)
        for (int b = 0; b < kPadCode; ++b)
            for (const int32_t score : {scoring.matrix[a * kLetters + b], scoring.matrix[b * kLetters + a]})
                best[a] = std::max(best[a], score);
    std::iota(letter, letter + kLetters, uint8_t{0});
    std::stable_sort(letter, letter + kLetters, [this](uint8_t a, uint8_t b) { return best[a] > best[b]; });
}

BandBound::BandBound(const Scoring &scoring, const BestLetters &best, const LanePair &pair, const LetterCounts &rows,
                     const LetterCounts &columns)
    : scoring_(scoring), best_(best), pair_(pair), rows_(rows), columns_(columns) {}

int64_t BandBound::most(int64_t pairs) const {
    return std::min(best_of(best_, rows_, pairs), best_of(best_, columns_, pairs));
}

int64_t BandBound::above(int64_t diagonal) const {
    const int64_t m = pair_.rows.length, n = pair_.columns.length;
    return beyond(diagonal, n, n - m, pair_.free_columns_begin, pair_.free_rows_end);
}

int64_t BandBound::below(int64_t diagonal) const {
    const int64_t m = pair_.rows.length, n = pair_.columns.length;
    return beyond(diagonal, m, m - n, pair_.free_rows_begin, pair_.free_columns_end);
}

int64_t BandBound::beyond(int64_t diagonal, int64_t residues, int64_t corner, bool free_begin, bool free_end) const {
    if (diagonal > residues) return kNoPath;
    int64_t bound = most(residues - diagonal);
    if (!free_begin) bound -= scoring_.open + scoring_.extend * diagonal;
    if (!free_end) bound -= scoring_.open + scoring_.extend * (diagonal - corner);
    return bound;
}

Band BandBound::narrowest(int64_t score) const {
    const int64_t m = pair_.rows.length, n = pair_.columns.length;
    const int64_t high = first_that(std::max<int64_t>(0, n - m), n, [&](int64_t k) { return above(k + 1) < score; });
    const int64_t low = first_that(std::max<int64_t>(0, m - n), m, [&](int64_t k) { return below(k + 1) < score; });
    return {static_cast<int32_t>(-low), static_cast<int32_t>(high), score - 1};
}

Band BandBound::widened(Band band, int lanes) const {
    const int32_t covered = 2 * lanes;
    const int32_t width = band.high - band.low + 2;  // one more, so that low is even
    const int32_t more = (width + covered - 1) / covered * covered - (width - 1);
    Band wide{};
    wide.low = (band.low - more / 2) & ~1;
    wide.high = wide.low + (width + covered - 1) / covered * covered - 1;
    wide.beyond = std::max(above(int64_t{wide.high} + 1), below(1 - int64_t{wide.low}));
    return wide;
}

}  // namespace tropalign
