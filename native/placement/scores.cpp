#include "scores.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "../compute/parallel.hpp"
#include "../simd/dispatch.hpp"
#include "interface.hpp"

namespace tropalign {

TROPALIGN_DISPATCH(PlaceKernels, place_kernels)

namespace {

/// Limits of the values that lanes of a width may hold.
struct LaneLimits {
    int64_t score;  // scores stay within it, away from values that saturate or mean "impossible"
    int64_t step;   // so does the sum of two of the values that a cell adds
};
// Lanes hold how far a score is below the maximum of its bases, so that a step subtracts the gain in addition to
// its cost (kernels_score.cpp).
constexpr LaneLimits kLimits8{kMostLack, 127};
// The lowest int16 means "impossible", and sums saturate at the highest. The limit leaves 767 values between scores and
// these two. Two steps of 16,000 (mismatch + on_gap, match - mismatch) are within 32,767.
constexpr LaneLimits kLimits16{32'000, 16'000};
// "Impossible" is -2^29, and nothing saturates: scores stay half as far from 0.
constexpr LaneLimits kLimits32{int64_t{1} << 28, 1 << 20};

}  // namespace

int place_word_bits(const PlaceScoring &s, int64_t n_bases, int64_t n_columns, int64_t least) {
    const int64_t gain = int64_t{std::max(s.match, s.mismatch)} + std::max(s.on_gap, 0);   // highest score of a base
    const int64_t loss = -int64_t{std::min(s.match, s.mismatch)} - std::min(s.on_gap, 0);  // negated lowest score
    const int64_t step = std::max<int64_t>({gain, loss, s.gap_open, s.gap_extend, s.insert_open, s.insert_extend});
    const int64_t most = gain * std::min(n_bases, n_columns);
    const int64_t lowest = s.whole_read ? n_bases * std::max<int64_t>(loss, s.insert_open) : 0;
    auto fits = [&](const LaneLimits &lane) { return most <= lane.score && lowest <= lane.score && step <= lane.step; };
    // With 8 bits, scores too far below the maximum count as 0: right if H is never negative, as a mismatch costs
    // nothing.
    const bool fits8 = gain * n_bases - least <= kLimits8.score && gain + step <= kLimits8.step;
    if (s.mismatch == 0 && s.match >= 0 && !s.whole_read && fits8) return 8;
    return fits(kLimits16) ? 16 : fits(kLimits32) ? 32 : 0;
}

OwnLetters::OwnLetters(const ReadBatch &reads, int64_t read) {
    std::array<int, 256> number;
    number.fill(-1);
    for (int64_t b = reads.offsets[read]; b < reads.offsets[read + 1]; ++b) {
        const uint8_t code = reads.codes[b];
        if (number[code] < 0) {
            if (code >= reads.n_codes) throw std::invalid_argument("a code of a read is beyond the alphabet");
            number[code] = static_cast<int>(sets_.size());
            sets_.push_back(reads.sets[code]);
        }
        letter_.push_back(static_cast<uint8_t>(number[code]));
    }
}

bool place_scores(const PlaceKernels &kernels, const PlaceScoring &scoring, const ReferencePlanes &planes,
                  const ReadBatch &reads, int n_threads, int word_bits, int32_t *score, const Poll &poll) {
    std::vector<PlaceScratch> scratch(n_threads);
    const ScoreGroup score_group = kernels.score(word_bits);
    auto work = [&](int thread, int64_t item) {
        const int64_t read = item / planes.n_groups, group = item % planes.n_groups;
        const OwnLetters numbered(reads, read);
        const LanePlanes lanes{planes.column(group, 0),
                               planes.n_columns,
                               planes.n_states + 1,
                               planes.n_states,
                               planes.n_empty,
                               false,
                               ~uint64_t{0}};
        score_group(scoring, lanes, numbered.letters(), scratch[thread], 0, score + item * kPlaceLanes, nullptr);
    };
    return parallel(n_threads, reads.n_reads * planes.n_groups, 1, work,
                    [&](int64_t items) { return poll(items / planes.n_groups); });
}

}  // namespace tropalign
