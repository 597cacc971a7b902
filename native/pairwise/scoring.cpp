#include "scoring.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>

namespace tropalign {

Mode mode_named(std::string_view name) {
    if (name == "local") return Mode::local;
    if (name == "global" || name == "semiglobal") return Mode::global;
    throw std::invalid_argument("mode '" + std::string(name) + "' is not one of local, global, semiglobal");
}

Scoring::Scoring(Mode mode, Depth depth, const int32_t *scores, int32_t open, int32_t extend)
    : mode(mode), depth(depth), pass(depth == Depth::score ? Pass::score : Pass::walk), open(open), extend(extend),
      lowest(-1), highest(0), is_symmetric(true), step_fits8(true), positive{} {
    for (int a = 0; a < kLetters; ++a)
        for (int b = 0; b < kLetters; ++b) {
            if (a == kPadCode || b == kPadCode) continue;
            lowest = std::min(lowest, scores[a * kLetters + b]);
            highest = std::max(highest, scores[a * kLetters + b]);
            is_symmetric &= scores[a * kLetters + b] == scores[b * kLetters + a];
            if (scores[a * kLetters + b] > 0) positive[b / 8 * kLetters + a] |= static_cast<int8_t>(1 << b % 8);
        }
    const int64_t never = -2 * int64_t{open} - 1;
    for (int k = 0; k < kLetters * kLetters; ++k) {
        bool pad = k / kLetters == kPadCode || k % kLetters == kPadCode;
        matrix[k] = pad ? lowest : scores[k];
        int64_t s = matrix[k];
        switch (mode) {
            case Mode::local:
                break;
            case Mode::global:
                s = std::max(s + 2 * int64_t{extend}, never);
                break;
        }
        s = std::clamp<int64_t>(s, std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max());
        step[k] = static_cast<int32_t>(s);
        step8[k] = static_cast<int8_t>(s);
        step8_by_column[k % kLetters * kLetters + k / kLetters] = step8[k];
        if (s < -128 || s > 127) step_fits8 = false;
    }
    match = matrix[0], mismatch = matrix[1], plain_letters = 1;
    auto is_plain = [&](int a, int b) { return matrix[a * kLetters + b] == (a == b ? match : mismatch); };
    for (bool all = true; plain_letters < kPadCode; ++plain_letters) {
        for (int a = 0; a <= plain_letters; ++a) all &= is_plain(a, plain_letters) && is_plain(plain_letters, a);
        if (!all) break;
    }
}

Scoring Scoring::turned() const {
    int32_t scores[kLetters * kLetters];
    for (int k = 0; k < kLetters * kLetters; ++k) scores[k] = matrix[k % kLetters * kLetters + k / kLetters];
    return Scoring(mode, depth, scores, open, extend).with(pass);
}

}  // namespace tropalign
