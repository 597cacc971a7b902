// One pair of similar sequences: wavefronts in a band that is proven to be wide enough (docs/exactness.md has the
// proofs).
#pragma once
#include "walk.hpp"
#include "wavefront.hpp"

namespace tropalign::TROPALIGN_ISA {

/// Count the positions in which two sequences of equal length differ.
inline int64_t differences(const uint8_t *a, const uint8_t *b, int length) {
    constexpr int W = kVectorBytes;
    int64_t n = 0;
    for (int k = 0; k < length; k += W) {
        const auto p = load<int8_t, W>(a + k), q = load<int8_t, W>(b + k);
        const uint64_t bits = different_bits<W>(p, q);
        const int valid = kDifferentBits * std::min(length - k, W);
        n += __builtin_popcountll(bits & ~uint64_t{0} >> (64 - valid)) / kDifferentBits;
    }
    return n;
}

class SimilarPair {
  public:
    SimilarPair(const Scoring &scoring, const Penalties &penalties, const LanePair &pair, const WaveLimits &limits,
                UnitScratch &scratch)
        : scoring_(scoring), penalties_(penalties), pair_(pair), scratch_(scratch), limits_(limits),
          waves_(penalties, pair, scratch), m_(pair.rows.length), n_(pair.columns.length) {}

    bool run(LaneResult &result) {
        const int64_t cells = int64_t{m_} * n_;
        most_vectors_ = std::min(kFewCells * cells, cells + kBegunCells) / kVectorCells / limits_.share;
        find_most_penalty();
        const int penalty = lowest_penalty();
        if (penalty < 0) return false;
        result = LaneResult{};
        result.score = penalties_.score(m_, n_, penalty);
        result.row_end = m_, result.column_end = n_;
        if (scoring_.depth == Depth::alignment) walk(penalty, result);
        return true;
    }

  private:
    // Time of the whole matrix, in cells of a large one: each cell of a short pair counts as three, or the
    // start-up costs kBegunCells (short_pair.hpp; better_alone in cpu_plan.cpp). A vector of a wave takes as long
    // as kVectorCells cells.
    static constexpr int64_t kFewCells = 3, kBegunCells = 1'400'000, kVectorCells = kVectorBytes * kVectorBytes / 10;
    /// Diagonals on either side of a first band; vectors per wave up to which a first band does not pay.
    static constexpr int kNarrow = 12, kFewVectors = 16;
    /// Shares of the time of the matrix: a first band takes at most 1 / kFirstShare, and a pair is given up no
    /// earlier than after 1 / kJudged.
    static constexpr int64_t kFirstShare = 3, kJudged = 64;

    int lowest_penalty() {
        auto never = [](int64_t, int64_t) { return false; };
        const int64_t last = int64_t{n_} - m_;
        int64_t limit = most_penalty_;
        if (last == 0) {  // the alignment without gaps
            limit = std::min(limit, penalties_.mismatch * differences(pair_.rows.codes, pair_.columns.codes, m_));
            const WaveBand band = enough(limit);
            if (limit < most_penalty_ && waves_.vectors(band) <= kFewVectors * limit) return waves_.sweep(band, never);
        }
        WaveBand narrow = within({std::min<int64_t>(0, last) - kNarrow, std::max<int64_t>(0, last) + kNarrow, 0});
        const int64_t per_wave = waves_.vectors(narrow), letters = int64_t{m_} + n_;
        narrow.limit = std::min(limit, most_vectors_ / (kFirstShare * per_wave));
        if (!suits(narrow)) return -1;
        const int found = waves_.sweep(narrow, [&](int64_t penalty, int64_t progress) {
            return penalty * per_wave * kJudged >= most_vectors_ && penalty * letters > most_penalty_ * progress;
        });
        if (found < 0) return -1;
        const WaveBand band = enough(found);
        if (band.lowest >= narrow.lowest && band.highest <= narrow.highest) return found;
        return waves_.sweep(band, never);
    }

    /// Find the highest penalty for which waves suit, to within an eighth.
    void find_most_penalty() {
        int64_t step = kFirstGuess;
        while (suits(enough(step)) && step < kMostPenalty) step *= 2;
        for (int k = 0; k < 4; ++k, step /= 2)
            if (suits(enough(most_penalty_ + step))) most_penalty_ += step;
    }
    static constexpr int64_t kFirstGuess = 64, kMostPenalty = int64_t{1} << 28;

    /// Cut the band to the matrix.
    WaveBand within(WaveBand band) const {
        return {std::max<int64_t>(band.lowest, -m_), std::min<int64_t>(band.highest, n_), band.limit};
    }

    /// Return the band that no alignment of penalty `limit` leaves: one that goes k diagonals beyond both the
    /// first and the last opens a gap to get there and one to come back.
    WaveBand enough(int64_t limit) const {
        const int64_t last = int64_t{n_} - m_, there = std::max<int64_t>(0, last), back = std::max<int64_t>(0, -last);
        const int64_t left = limit - 2 * penalties_.open - there * penalties_.column - back * penalties_.row;
        const int64_t beyond = std::max<int64_t>(0, left) / (penalties_.column + penalties_.row);
        return within({-back - beyond, there + beyond, limit});
    }

    /// True if the waves of a band take less time than another engine would, and fit the memory.
    bool suits(const WaveBand &band) const {
        return waves_.bytes(band) <= limits_.memory_bytes && waves_.vectors(band) / 2 + band.limit / 2 <= most_vectors_;
    }

    /// The directions of the cells in the form that walk_back requires.
    class Cells {
      public:
        Cells(const SimilarPair &whole, int penalty) : whole_(whole), penalty_(penalty) {}

        void seek(int i, int j) { i_ = i, j_ = j; }

        int diagonal_run(int i, int j) {
            const uint8_t *rows = whole_.pair_.rows.codes, *columns = whole_.pair_.columns.codes;
            const int most = std::min(i, j), mismatch = static_cast<int>(whole_.penalties_.mismatch);
            int run = 0;
            for (;; ++run, penalty_ -= mismatch) {
                run += equal_letters_before(rows + i - run, columns + j - run, most - run);
                if (run == most || !whole_.waves_.reaches(penalty_ - mismatch, j - i, i - run - 1)) break;
            }
            seek(i - run, j - run);
            return run;
        }

        bool last_wins() const { return length(true, j_) > j_; }
        int gap_length(bool is_e, int most) {
            const int k = length(is_e, most);
            penalty_ -= opening() + k * each(is_e);
            return k;
        }

      private:
        int opening() const { return static_cast<int>(whole_.penalties_.open); }
        int each(bool is_e) const { return static_cast<int>(is_e ? whole_.penalties_.column : whole_.penalties_.row); }

        /// Return the length of the shortest gap that may end in the cell; most + 1 if none may.
        int length(bool is_e, int most) const {
            int k = 1, before = penalty_ - opening() - each(is_e);
            for (; k <= most && before >= 0; ++k, before -= each(is_e))
                if (whole_.waves_.reaches(before, is_e ? j_ - k - i_ : j_ - i_ + k, is_e ? i_ : i_ - k)) return k;
            return most + 1;
        }

        const SimilarPair &whole_;
        int penalty_, i_ = 0, j_ = 0;
    };

    void walk(int penalty, LaneResult &result) {
        Cells cells(*this, penalty);
        walk_alone<Mode::global>(scoring_, pair_, cells, scratch_, result);
    }

    const Scoring &scoring_;
    const Penalties &penalties_;
    const LanePair &pair_;
    UnitScratch &scratch_;
    const WaveLimits limits_;
    Wavefront waves_;
    const int m_, n_;
    int64_t most_vectors_ = 0, most_penalty_ = 0;
};

}  // namespace tropalign::TROPALIGN_ISA
