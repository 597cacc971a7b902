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

Scoring::Scoring(Mode mode, Depth depth, const int32_t *scores, int32_t open, int32_t extend, const SecondTrack &second)
    : mode(mode), depth(depth), pass(depth == Depth::score ? Pass::score : Pass::walk), open(open), extend(extend),
      lowest(-1), highest(0), is_symmetric(true), step_fits8(true), positive{}, track(second.offset) {
    for (int a = 0; a < kLetters; ++a)
        for (int b = 0; b < kLetters; ++b) {
            if (a == kPadCode || b == kPadCode) continue;
            lowest = std::min(lowest, scores[a * kLetters + b]);
            highest = std::max(highest, scores[a * kLetters + b]);
            is_symmetric &= scores[a * kLetters + b] == scores[b * kLetters + a];
            if (scores[a * kLetters + b] > 0) positive[b / 8 * kLetters + a] |= static_cast<int8_t>(1 << b % 8);
        }
    never = std::numeric_limits<int32_t>::min();
    switch (mode) {
        case Mode::local:
            break;
        case Mode::global:
            never = static_cast<int32_t>(std::max<int64_t>(-2 * int64_t{open} - 1, never));
            break;
    }
    for (int k = 0; k < kLetters * kLetters; ++k) {
        bool pad = k / kLetters == kPadCode || k % kLetters == kPadCode;
        matrix[k] = pad ? lowest : scores[k];
        int64_t s = matrix[k];
        switch (mode) {
            case Mode::local:
                break;
            case Mode::global:
                s += 2 * int64_t{extend};
                if (!track) s = std::max<int64_t>(s, never);
                break;
        }
        s = std::clamp<int64_t>(s, std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max());
        step[k] = static_cast<int32_t>(s);
        step8[k] = static_cast<int8_t>(s);
        step8_by_column[k % kLetters * kLetters + k / kLetters] = step8[k];
        if (s < -128 || s > 127) step_fits8 = false;
    }
    if (track) add_track(second.scores);
    match = matrix[0], mismatch = matrix[1], plain_letters = 1;
    auto is_plain = [&](int a, int b) { return matrix[a * kLetters + b] == (a == b ? match : mismatch); };
    for (bool all = true; plain_letters < kPadCode; ++plain_letters) {
        for (int a = 0; a <= plain_letters; ++a) all &= is_plain(a, plain_letters) && is_plain(plain_letters, a);
        if (!all) break;
    }
}

/// Add the scores of a track: the lowest and highest terms are sums, whose residues need not occur together.
void Scoring::add_track(const int32_t *scores) {
    int32_t least = 0, most = 0;
    for (int a = 0; a < kPadCode; ++a)
        for (int b = 0; b < kPadCode; ++b) {
            const int32_t score = scores[a * kLetters + b];
            least = std::min(least, score), most = std::max(most, score);
            is_symmetric &= score == scores[b * kLetters + a];
        }
    for (int k = 0; k < kLetters * kLetters; ++k) {
        const bool pad = k / kLetters == kPadCode || k % kLetters == kPadCode;
        track_scores[k] = pad ? least : scores[k];
        track8[k] = static_cast<int8_t>(track_scores[k]);
        track8_by_column[k % kLetters * kLetters + k / kLetters] = track8[k];
    }
    // In 8 bits, sums saturate at -128. No cell is entered diagonally with a term up to `never`, so that saturated sums
    // change nothing if `never` is at least -128.
    const int64_t shift = int64_t{step[0]} - matrix[0];
    step_fits8 &= least >= -128 && most <= 127 && highest + most + shift <= 127;
    step_fits8 &= lowest + least + shift >= -128 || never >= -128;
    lowest += least, highest += most;
}

Scoring Scoring::turned() const {
    int32_t scores[kLetters * kLetters], second[kLetters * kLetters];
    for (int k = 0; k < kLetters * kLetters; ++k) {
        scores[k] = matrix[k % kLetters * kLetters + k / kLetters];
        if (track) second[k] = track_scores[k % kLetters * kLetters + k / kLetters];
    }
    return Scoring(mode, depth, scores, open, extend, {track, second}).with(pass);
}

}  // namespace tropalign
