#include "prune.hpp"

#include <algorithm>
#include <memory>
#include <numeric>

#include "../compute/parallel.hpp"

namespace tropalign {
namespace {

constexpr int kBranchesPerBound = 8;  // so that a bound's branches are the lanes of one byte of a word
constexpr int kBoundsPerGroup = kPlaceLanes / kBranchesPerBound;
constexpr uint64_t kLowBits = 0x0101010101010101;

// A word holds a bit per branch, byte k those of bound k. Example, the lowest two bytes: 00010100'00000000.

/// Bit 0 of every byte that has any bit: 00000001'00000000. Each byte is folded onto its lowest bit; what is shifted in
/// from the byte above reaches its upper bits only.
uint64_t any_in_byte(uint64_t x) {
    x |= x >> 4, x |= x >> 2, x |= x >> 1;
    return x & kLowBits;
}
/// Bit 0 of every byte that has all bits: 00000000'00000000 here.
uint64_t all_in_byte(uint64_t x) { return ~any_in_byte(~x) & kLowBits; }

/// Bit 0 of byte k as bit k: of 00000001'00000000 the byte 00000010. The factor has the bits 7, 14, ..., 56: bit 8 k
/// times bit 56 - 7 k is bit 56 + k, and no two products meet in one bit, so that nothing carries.
uint8_t low_bits_gathered(uint64_t low_bits) { return static_cast<uint8_t>(low_bits * 0x0102040810204080 >> 56); }

/// Strips of columns, [begin, end).
struct Window {
    int64_t begin, end;
};

}  // namespace

BranchBounds make_bounds(const ReferencePlanes &planes) {
    BranchBounds bounds;
    bounds.n_bounds = planes.n_groups * kBoundsPerGroup;
    bounds.n_groups = (bounds.n_bounds + kPlaceLanes - 1) / kPlaceLanes;
    const int n_states = planes.n_states, n_planes = n_states + 2;
    bounds.words.resize(static_cast<size_t>(bounds.n_groups * planes.n_columns * n_planes));
    for (int64_t group = 0; group < planes.n_groups; ++group) {
        const int shift = static_cast<int>(group * kBoundsPerGroup % kPlaceLanes);
        for (int64_t a = 0; a < planes.n_columns; ++a) {
            const uint64_t *from = planes.column(group, a), flags = from[n_states], all_flagged = all_in_byte(flags);
            uint64_t *to = &bounds.words[(group * kBoundsPerGroup / kPlaceLanes * planes.n_columns + a) * n_planes];
            auto set = [&](int plane, uint64_t low_bits) {
                to[plane] |= static_cast<uint64_t>(low_bits_gathered(low_bits)) << shift;
            };
            for (int s = 0; s < n_states; ++s)  // a state without the flag if any branch offers that, else with it
                set(s, any_in_byte(from[s] & ~flags) | (all_flagged & any_in_byte(from[s])));
            set(n_states, any_in_byte(flags));
            set(n_states + 1, all_flagged);
        }
    }
    const int64_t n_strips = planes.n_columns / kPlaceColumns;
    bounds.costly_before.resize(static_cast<size_t>(bounds.n_groups * kPlaceLanes * (n_strips + 1)));
    for (int64_t bound = 0; bound < bounds.n_groups * kPlaceLanes; ++bound) {
        int32_t *before = &bounds.costly_before[bound * (n_strips + 1)];
        for (int64_t a = 0; a < planes.n_columns; ++a) {
            const uint64_t flags = bounds.words[(bound / kPlaceLanes * planes.n_columns + a) * n_planes + n_states];
            if (a % kPlaceColumns == 0) before[a / kPlaceColumns + 1] = before[a / kPlaceColumns];
            before[a / kPlaceColumns + 1] += a >= planes.n_empty && !(flags >> bound % kPlaceLanes & 1);
        }
    }
    return bounds;
}

namespace {

/// One thread's work on reads.
class Pruner {
  public:
    Pruner(ScoreGroup score_group, const PlaceScoring &scoring, const ReferencePlanes &planes,
           const BranchBounds &bounds, int n_best)
        : score_group_(score_group), s_(scoring), planes_(planes), bounds_(bounds), n_best_(n_best),
          n_strips_(planes.n_columns / kPlaceColumns), upper_(bounds.n_groups * kPlaceLanes),
          ends_(static_cast<size_t>(bounds.n_groups * (n_strips_ + 1) * kPlaceLanes)) {}

    /// Scores of one read against all lanes, and the columns of its best alignments; returns the cells computed.
    int64_t run(const ReadLetters &read, int32_t *score, int32_t *columns) {
        cells_ = 0;
        find_upper(read);
        std::fill(score, score + planes_.n_groups * kPlaceLanes, INT32_MIN);
        order_.resize(bounds_.n_bounds);
        std::iota(order_.begin(), order_.end(), 0);
        const auto n_first = std::min<int64_t>(kBoundsPerGroup, bounds_.n_bounds);
        std::partial_sort(order_.begin(), order_.begin() + n_first, order_.end(),
                          [&](int64_t a, int64_t b) { return upper_[a] != upper_[b] ? upper_[a] > upper_[b] : a < b; });
        // The bounds that promise most, where they promise it: the branches' scores there are a least score of the
        // best.
        std::vector<int64_t> first(order_.begin(), order_.begin() + n_first);
        std::vector<Window> windows;
        Window window{n_strips_, 0};
        for (int64_t bound : first) {
            find_windows(bound, read.length, upper_[bound], windows);
            window = {std::min(window.begin, windows.front().begin), std::max(window.end, windows.front().end)};
        }
        score_branches(read, first, window, score);
        least_ = nth_best(score);
        std::fill(score, score + planes_.n_groups * kPlaceLanes, INT32_MIN);
        score_candidates(read, score);
        const int64_t best = std::max_element(score, score + planes_.n_vectors) - score;
        find_windows(best / kBranchesPerBound, read.length, score[best], windows);
        columns[0] =
            static_cast<int32_t>(std::max<int64_t>(windows.front().begin * kPlaceColumns - planes_.n_empty, 0));
        columns[1] = static_cast<int32_t>(windows.back().end * kPlaceColumns - planes_.n_empty);
        return cells_;
    }

  private:
    void find_upper(const ReadLetters &read) {
        const int n_planes = planes_.n_states + 2;
        for (int64_t group = 0; group < bounds_.n_groups; ++group) {
            const LanePlanes lanes{&bounds_.words[group * planes_.n_columns * n_planes],
                                   planes_.n_columns,
                                   n_planes,
                                   planes_.n_states,
                                   planes_.n_empty,
                                   true};
            uint16_t *ends = &ends_[group * (n_strips_ + 1) * kPlaceLanes];
            score_group_(s_, lanes, read, scratch_, &upper_[group * kPlaceLanes], ends);
        }
        cells_ += bounds_.n_groups * kPlaceLanes * planes_.n_columns * read.length;
    }

    /// Windows that hold every alignment of a bound's branches that scores at least `least`, from left to right.
    void find_windows(int64_t bound, int64_t n_bases, int32_t least, std::vector<Window> &windows) const {
        const uint16_t *ends = &ends_[bound / kPlaceLanes * (n_strips_ + 1) * kPlaceLanes + bound % kPlaceLanes];
        const bool over_the_end = ends[n_strips_ * kPlaceLanes] >= least;  // a read that ends in the last column
        windows.clear();
        for (int64_t strip = 0; strip < n_strips_; ++strip) {
            if (ends[strip * kPlaceLanes] < least && !(over_the_end && strip == n_strips_ - 1)) continue;
            if (!windows.empty() && windows.back().end == strip) {
                ++windows.back().end;
                continue;
            }
            const int64_t begin = begin_of(bound, strip, n_bases, least);
            if (!windows.empty() && begin <= windows.back().end) windows.back().end = strip + 1;
            else windows.push_back({begin, strip + 1});
        }
    }

    /// The first strip in which an alignment that ends in `strip` and scores `least` may begin (the lemma of
    /// prune.hpp).
    int64_t begin_of(int64_t bound, int64_t strip, int64_t n_bases, int32_t least) const {
        const int64_t cost = std::min(s_.gap_open, s_.gap_extend);
        if (cost <= 0) return 0;
        const int32_t *before = &bounds_.costly_before[bound * (n_strips_ + 1)];
        const int64_t room = n_bases + (static_cast<int64_t>(s_.match) * n_bases - least) / cost;
        const int64_t first_within = std::upper_bound(before, before + strip, before[strip] - room) - before;  // b + 1
        return std::max<int64_t>(first_within - 1, 0);
    }

    /// Scores of the branches of up to eight bounds within a window; the higher one of what they have already.
    void score_branches(const ReadLetters &read, const std::vector<int64_t> &chosen, Window window, int32_t *score) {
        const int n_planes = planes_.n_states + 1;
        const int64_t first_column = window.begin * kPlaceColumns,
                      n_columns = (window.end - window.begin) * kPlaceColumns;
        packed_.assign(static_cast<size_t>(n_columns * n_planes), 0);
        for (size_t slot = 0; slot < chosen.size(); ++slot) {
            const uint64_t *from = planes_.column(chosen[slot] / kBoundsPerGroup, first_column);
            const int down = static_cast<int>(chosen[slot] % kBoundsPerGroup) * kBranchesPerBound;
            const int up = static_cast<int>(slot) * kBranchesPerBound;
            for (int64_t k = 0; k < n_columns * n_planes; ++k) packed_[k] |= (from[k] >> down & 255) << up;
        }
        const int n_empty = window.begin == 0 ? planes_.n_empty : 0;
        const LanePlanes lanes{packed_.data(), n_columns, n_planes, planes_.n_states, n_empty, window.end == n_strips_};
        int32_t found[kPlaceLanes];
        score_group_(s_, lanes, read, scratch_, found, nullptr);
        for (size_t slot = 0; slot < chosen.size(); ++slot)
            for (int k = 0; k < kBranchesPerBound; ++k) {
                int32_t &highest = score[chosen[slot] * kBranchesPerBound + k];
                highest = std::max(highest, found[slot * kBranchesPerBound + k]);
            }
        cells_ += kPlaceLanes * n_columns * read.length;
    }

    /// The n_best-th highest score of real branches.
    int32_t nth_best(const int32_t *score) {
        sorted_.assign(score, score + planes_.n_vectors);
        const auto nth = std::min<int64_t>(n_best_, planes_.n_vectors) - 1;
        std::nth_element(sorted_.begin(), sorted_.begin() + nth, sorted_.end(), std::greater<>());
        return std::max(sorted_[nth], 0);
    }

    void score_candidates(const ReadLetters &read, int32_t *score) {
        struct Candidate {
            Window window;
            int64_t bound;
        };
        std::vector<Candidate> candidates;
        std::vector<Window> windows;
        for (int64_t bound = 0; bound < bounds_.n_bounds; ++bound) {
            if (upper_[bound] < least_) continue;
            find_windows(bound, read.length, least_, windows);
            for (const Window &window : windows) candidates.push_back({window, bound});
        }
        std::sort(candidates.begin(), candidates.end(), [&](const Candidate &a, const Candidate &b) {
            if (a.window.begin != b.window.begin) return a.window.begin < b.window.begin;
            return a.window.end != b.window.end ? a.window.end < b.window.end : a.bound < b.bound;
        });
        for (size_t begin = 0; begin < candidates.size();) {
            std::vector<int64_t> chosen;
            Window window{n_strips_, 0};
            for (; begin < candidates.size() && chosen.size() < kBoundsPerGroup; ++begin) {
                chosen.push_back(candidates[begin].bound);
                window.begin = std::min(window.begin, candidates[begin].window.begin);
                window.end = std::max(window.end, candidates[begin].window.end);
            }
            score_branches(read, chosen, window, score);
        }
        for (int64_t lane = 0; lane < planes_.n_groups * kPlaceLanes; ++lane)
            if (score[lane] < least_) score[lane] = INT32_MIN;  // perhaps more in other columns, but not enough
    }

    const ScoreGroup score_group_;
    const PlaceScoring &s_;
    const ReferencePlanes &planes_;
    const BranchBounds &bounds_;
    const int n_best_;
    const int64_t n_strips_;
    std::vector<int32_t> upper_, sorted_;
    std::vector<uint16_t> ends_;  // [group of bounds][strip, then the last column][lane]
    std::vector<uint64_t> packed_;
    std::vector<int64_t> order_;
    PlaceScratch scratch_;
    int32_t least_ = 0;
    int64_t cells_ = 0;
};

}  // namespace

bool can_prune(const PlaceScoring &s) {
    return s.mismatch == 0 && !s.whole_read && s.match >= 0 && s.on_gap <= 0 && s.match + s.on_gap <= 0;
}

bool place_best_scores(const PlaceKernels &kernels, const PlaceScoring &scoring, const ReferencePlanes &planes,
                       const BranchBounds &bounds, const ReadBatch &reads, int word_bits, int n_best, int n_threads,
                       int32_t *score, int32_t *window, std::atomic<int64_t> &cells, const Poll &poll) {
    std::vector<std::unique_ptr<Pruner>> pruners(n_threads);
    auto work = [&](int thread, int64_t k) {
        std::unique_ptr<Pruner> &pruner = pruners[thread];
        if (!pruner) pruner = std::make_unique<Pruner>(kernels.score(word_bits), scoring, planes, bounds, n_best);
        const OwnLetters numbered(reads, k);
        cells += pruner->run(numbered.letters(), score + k * planes.n_groups * kPlaceLanes, window + 2 * k);
    };
    return parallel(n_threads, reads.n_reads, 1, work, poll);
}

}  // namespace tropalign
