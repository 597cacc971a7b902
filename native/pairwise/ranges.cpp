#include "ranges.hpp"

#include <algorithm>

namespace tropalign {
namespace {

/// True if every value of the difference form fits: u and v lie within [-2 open - max s', max s' + open], s' = s +
/// 2 extend (sweep.hpp), and `extend` itself, a free border's difference, must fit. The + 1 is for the lowest s'
/// that Scoring keeps, which is one below the cost of two gaps.
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
    switch (scoring.mode) {
        case Mode::local:
            return local_range(scoring, bits).usable();
        case Mode::global:
            return global_fits(scoring, (int64_t{1} << (bits - 1)) - 1);
    }
    __builtin_unreachable();
}

int64_t most_score(const Scoring &scoring, int bits) {
    switch (scoring.mode) {
        case Mode::local: {
            const LocalRange range = local_range(scoring, bits);
            return range.limit - range.floor;
        }
        case Mode::global:
            return kAnyScore;
    }
    __builtin_unreachable();
}

int bits_at_most(const Scoring &scoring, int64_t length) {
    int bits = 8;
    while (bits < 32 && !fits(scoring, bits)) bits *= 2;
    while (bits < 32 && length * scoring.highest > most_score(scoring, bits)) bits *= 2;
    return bits;
}

}  // namespace tropalign
