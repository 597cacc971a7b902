#include "ranges.hpp"

#include <algorithm>

namespace tropalign {
namespace {

/// Whether every value of the difference form fits: u and v lie within [-2 open - max s', max s' + open] where
/// s' = s + 2 extend (sweep.hpp), and `extend` itself, a free border's difference, has to be one of them. The + 1 is
/// the lowest s' that Scoring keeps, which is one below the cost of two gaps.
bool global_fits(const Scoring &scoring, int64_t most) {
    const int64_t q = scoring.open, extend = scoring.extend;
    const int64_t highest = std::max<int64_t>(scoring.highest + 2 * extend, 0);
    return std::max(highest, extend) + 2 * q + 1 <= most && extend <= highest + q;
}

}  // namespace

LocalRange local_range(const Scoring &scoring, int bits) {
    const int64_t most = (int64_t{1} << (bits - 1)) - 1, least = -most - 1;
    return {least + std::max<int64_t>(int64_t{scoring.open} + 2 * int64_t{scoring.extend}, -int64_t{scoring.lowest}),
            most - scoring.highest};
}

bool fits(const Scoring &scoring, int bits) {
    if (scoring.mode == Mode::local) return local_range(scoring, bits).usable();
    return global_fits(scoring, (int64_t{1} << (bits - 1)) - 1);
}

int bits_at_most(const Scoring &scoring, int64_t length) {
    int bits = 8;
    while (bits < 32 && !fits(scoring, bits)) bits *= 2;
    if (scoring.mode == Mode::global) return bits;
    const int64_t score = length * scoring.highest;
    for (; bits < 32; bits *= 2)
        if (const LocalRange range = local_range(scoring, bits); score <= range.limit - range.floor) break;
    return bits;
}

}  // namespace tropalign
