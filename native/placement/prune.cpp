#include "prune.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <functional>
#include <memory>
#include <utility>

#include "../compute/parallel.hpp"

namespace tropalign {
namespace {

constexpr int kBoundsPerGroup = kPlaceLanes / kBranchesPerBound;
/// With fewer groups of branches, the computation of a floor costs more than it saves.
constexpr int kLeastGroups = 4;

/// Columns [begin, end) of ReferencePlanes.
struct Window {
    int64_t begin, end;
};

/// A bound, and the columns in which its branches may have a wanted alignment.
struct Candidate {
    int64_t bound;
    Window window;
};

/// Return the index of the byte of a word that holds these eight lanes.
constexpr int byte_of(int64_t eight) {
    return static_cast<int>(std::endian::native == std::endian::little ? eight : 7 - eight);
}

/// The branches of up to eight bounds as lanes, each bound with columns of its own. All end in the same column; shorter
/// slots start with columns that offer only a free gap, in which H stays 0.
///
///     slot 0      x x x x x x x x x       x: its columns
///     slot 1      - - - x x x x x x       -: padding
///     slot 2      - - - - - - x x x
class SlotLanes {
  public:
    /// Fill the lanes with all columns of the windows.
    void take_all(const ReferencePlanes &planes, const std::vector<Candidate> &chosen) {
        int64_t longest = 0;
        for (const Candidate &c : chosen) longest = std::max(longest, c.window.end - c.window.begin);
        begin(planes, planes.n_states + 1, longest);
        for (std::size_t slot = 0; slot < chosen.size(); ++slot) {
            const auto [bound, window] = chosen[slot];
            int64_t k = pad(planes, slot, window.end - window.begin);
            for (int64_t a = window.begin; a < window.end; ++a, ++k) copy(planes, slot, bound, a, k);
            if (window.end == planes.n_columns) lanes_.to_end |= uint64_t{255} << 8 * slot;
        }
        lanes_.words = words_.data();
    }

    /// Fill the lanes without the columns that a bound drops.
    void take_kept(const ReferencePlanes &planes, const BranchBounds &bounds, const std::vector<Candidate> &chosen) {
        std::array<std::array<int64_t, 2>, kBoundsPerGroup> within;
        int64_t longest = 0;
        for (std::size_t slot = 0; slot < chosen.size(); ++slot) {
            const KeptColumns kept = bounds.kept_of(chosen[slot].bound);
            auto place = [&](int64_t column) {
                return std::lower_bound(kept.column, kept.column + kept.n, column) - kept.column;
            };
            within[slot] = {place(chosen[slot].window.begin), place(chosen[slot].window.end)};
            longest = std::max(longest, within[slot][1] - within[slot][0]);
        }
        begin(planes, planes.n_states + 2, longest);
        for (std::size_t slot = 0; slot < chosen.size(); ++slot) {
            const auto [bound, window] = chosen[slot];
            const KeptColumns kept = bounds.kept_of(bound);
            const auto [from, to] = within[slot];
            int64_t k = pad(planes, slot, to - from);
            for (int64_t a = from; a < to; ++a, ++k) {
                copy(planes, slot, bound, kept.column[a], k);
                byte(k, planes.n_states + 1, slot) = kept.follows_dropped(a, planes.n_empty) ? 255 : 0;
            }
            if (window.end == planes.n_columns) lanes_.to_end |= uint64_t{255} << 8 * slot;
        }
        lanes_.words = words_.data();
    }

    const LanePlanes &lanes() const { return lanes_; }

  private:
    void begin(const ReferencePlanes &planes, int n_planes, int64_t longest) {
        const int64_t n_columns = (longest + kPlaceColumns - 1) / kPlaceColumns * kPlaceColumns;
        words_.assign(static_cast<std::size_t>(n_columns * n_planes), 0);
        lanes_ = {nullptr, n_columns, n_planes, planes.n_states, 0, false, 0};
    }
    uint8_t &byte(int64_t column, int plane, std::size_t slot) {
        return reinterpret_cast<uint8_t *>(
            words_.data())[8 * (column * lanes_.n_planes + plane) + byte_of(static_cast<int64_t>(slot))];
    }
    /// Pad a slot that has n columns; returns its first column.
    int64_t pad(const ReferencePlanes &planes, std::size_t slot, int64_t n) {
        for (int64_t k = 0; k < lanes_.n_columns - n; ++k) byte(k, planes.n_states, slot) = 255;
        return lanes_.n_columns - n;
    }
    void copy(const ReferencePlanes &planes, std::size_t slot, int64_t bound, int64_t from, int64_t to) {
        const auto *source = reinterpret_cast<const uint8_t *>(planes.column(bound / kBoundsPerGroup, from)) +
                             byte_of(bound % kBoundsPerGroup);
        for (int plane = 0; plane <= planes.n_states; ++plane) byte(to, plane, slot) = source[8 * plane];
    }

    std::vector<uint64_t> words_;
    LanePlanes lanes_{};
};

/// Placement of reads by one thread.
class Pruner {
  public:
    Pruner(const PlaceKernels &kernels, int word_bits, const PlaceScoring &scoring, const ReferencePlanes &planes,
           const BranchBounds &bounds, int n_best, int n_strands)
        : kernels_(kernels), word_bits_(word_bits), s_(scoring), of_bounds_(of_bounds(scoring)), planes_(planes),
          bounds_(bounds), n_best_(n_best), strands_(n_strands),
          other_score_(n_strands == 1 ? 0 : planes.n_groups * kPlaceLanes) {
        ends_before_.push_back(0);
        for (int64_t n_columns : bounds.n_columns)
            ends_before_.push_back(ends_before_.back() + (n_columns / kPlaceColumns + 1) * kPlaceLanes);
        for (Strand &strand : strands_)
            strand.ends.resize(ends_before_.back()), strand.upper.resize(bounds.n_groups * kPlaceLanes);
    }

    /// Score one read, in one or two strands, against all lanes, and find the columns of its best alignments.
    /// Returns the strand that they belong to.
    int run(const std::vector<OwnLetters> &letters, int32_t *score, int32_t *columns) {
        cells_ = 0;
        if (const int32_t floor = likely_floor(letters); floor > 0) {
            use_lanes(letters, floor);
            if (const int strand = run_above(letters, floor, score, columns); strand >= 0) return strand;
        }
        score_group_ = kernels_.score(word_bits_);
        return run_above(letters, 0, score, columns);
    }

    int64_t cells() const { return cells_; }

  private:
    /// Choose lanes that hold scores of `least` or more.
    void use_lanes(const std::vector<OwnLetters> &letters, int32_t least) {
        const int bits = place_word_bits(s_, letters[0].letters().length, planes_.n_columns, least);
        score_group_ = kernels_.score(std::min(bits, word_bits_));
    }

    /// Return a lower limit of the scores of n_best branches: the bounds that the read is likely to fit best, in
    /// the strand that shares more k-mers with them. 0 if no k-mer is shared, or if there are few branches.
    int32_t likely_floor(const std::vector<OwnLetters> &letters) {
        if (planes_.n_groups < kLeastGroups) return 0;
        std::size_t strand = 0;
        int32_t most_shared = 0;
        std::vector<LikelyPlace> found;
        for (std::size_t k = 0; k < letters.size(); ++k) {
            const int32_t n_shared = bounds_.likely.find(letters[k].letters(), kBoundsPerGroup, found);
            if (n_shared > most_shared) most_shared = n_shared, strand = k, likely_.swap(found);
        }
        if (!most_shared) return 0;
        std::vector<Candidate> chosen;
        for (const LikelyPlace &place : likely_) chosen.push_back({place.bound, {place.begin, place.end}});
        const ReadLetters read = letters[strand].letters();
        slots_.take_all(planes_, chosen);
        // First only scores that 8-bit lanes hold, then all scores.
        for (const int32_t least : {std::max(s_.match * read.length - kMostLack, 1), 0}) {
            use_lanes(letters, least);
            int32_t scores[kPlaceLanes];
            cells_ += score_group_(s_, slots_.lanes(), read, scratch_, least, scores, nullptr);
            sorted_.clear();
            for (std::size_t slot = 0; slot < chosen.size(); ++slot)
                for (int k = 0; k < kBranchesPerBound; ++k)
                    if (chosen[slot].bound * kBranchesPerBound + k < planes_.n_vectors)
                        sorted_.push_back(scores[slot * kBranchesPerBound + k]);
            if (const int32_t floor = nth_best(); floor >= least) return floor;
        }
        return 0;
    }

    /// Return the n_best-th highest of sorted_, or the lowest if there are fewer.
    int32_t nth_best() {
        const auto nth = std::min<int64_t>(n_best_, static_cast<int64_t>(sorted_.size())) - 1;
        std::nth_element(sorted_.begin(), sorted_.begin() + nth, sorted_.end(), std::greater<>());
        return sorted_[nth];
    }

    /// Do the work of `run` if n_best branches score `floor` or more; else return -1.
    int run_above(const std::vector<OwnLetters> &letters, int32_t floor, int32_t *score, int32_t *columns) {
        for (std::size_t k = 0; k < letters.size(); ++k) find_upper(letters[k].letters(), strands_[k], 0, floor);
        // First the strand whose first bounds have higher upper limits. The other strand has to exceed its score, or to
        // equal the score if that strand is the read's own, and mostly its limits are lower.
        const bool turned = letters.size() == 2 && promise(strands_[1], 0) > promise(strands_[0], 0);
        const int first = turned ? 1 : 0, other = 1 - first;
        if (!complete(letters[first].letters(), strands_[first], floor, score, columns)) return -1;
        if (letters.size() == 1) return first;
        const int32_t higher = turned ? best_ : best_ + 1;
        int32_t other_columns[2];
        complete(letters[other].letters(), strands_[other], higher, other_score_.data(), other_columns);
        if (best_ < higher) return first;
        return complete(letters[other].letters(), strands_[other], floor, score, columns) ? other : -1;
    }

    /// Results of the sweeps of the bounds for one strand.
    struct Strand {
        std::vector<int32_t> upper;  // [lane]
        std::vector<uint16_t> ends;  // for each group of bounds [strip, then the last column][lane]
    };

    /// Sweep a group of bounds; scores below `least` may be too low.
    void find_upper(const ReadLetters &read, Strand &strand, int64_t group, int32_t least) {
        const LanePlanes lanes{&bounds_.words[bounds_.words_before[group]],
                               bounds_.n_columns[group],
                               planes_.n_states + 2,
                               planes_.n_states,
                               0,
                               true,
                               ~uint64_t{0}};
        cells_ += score_group_(of_bounds_, lanes, read, scratch_, least, &strand.upper[group * kPlaceLanes],
                               &strand.ends[ends_before_[group]]);
    }

    /// Return the range of the lanes of a group that hold bounds.
    std::pair<int64_t, int64_t> lanes_of(int64_t group) const {
        return {group * kPlaceLanes, std::min((group + 1) * kPlaceLanes, bounds_.n_bounds)};
    }

    /// Return the highest score of the bounds of a group.
    int32_t promise(const Strand &strand, int64_t group) const {
        const auto [begin, end] = lanes_of(group);
        return *std::max_element(strand.upper.begin() + begin, strand.upper.begin() + end);
    }

    /// Compute the scores of one strand that are `floor` or more and change the result: best_, and the columns.
    /// The first group of bounds must have been swept. True if n_best branches (or all, if there are fewer) score
    /// at least `floor`.
    bool complete(const ReadLetters &read, Strand &strand, int32_t floor, int32_t *score, int32_t *columns) {
        std::fill(score, score + planes_.n_groups * kPlaceLanes, INT32_MIN);
        least_ = best_ = 0, wanted_ = floor_ = floor;
        for (int64_t group = 0; group < bounds_.n_groups; ++group) {
            if (group > 0) find_upper(read, strand, group, wanted_);
            if (promise(strand, group) >= wanted_) score_most_promising(read, strand, group, score);
        }
        score_candidates(read, strand, score);
        for (int64_t lane = 0; lane < planes_.n_groups * kPlaceLanes; ++lane)
            if (score[lane] < least_) score[lane] = INT32_MIN;  // possibly higher in other columns, but not high enough
        if (least_ < floor) return false;
        const int64_t best = std::max_element(score, score + planes_.n_vectors) - score;
        std::vector<Window> windows;
        find_windows(strand, best / kBranchesPerBound, read.length, score[best], windows);
        columns[0] = static_cast<int32_t>(windows.front().begin - planes_.n_empty);
        columns[1] = static_cast<int32_t>(windows.back().end - planes_.n_empty);
        return true;
    }

    int32_t upper_of(const Strand &strand, int64_t bound) const { return strand.upper[bounds_.lane_of_bound[bound]]; }

    /// Return the bounds among lanes [begin, end) whose upper limits reach wanted_, highest first.
    const std::vector<int64_t> &ranked(const Strand &strand, int64_t begin, int64_t end) {
        order_.clear();
        for (int64_t lane = begin; lane < end; ++lane)
            if (strand.upper[lane] >= wanted_) order_.push_back(bounds_.bound_of_lane[lane]);
        std::sort(order_.begin(), order_.end(), [&](int64_t a, int64_t b) {
            const int32_t of_a = upper_of(strand, a), of_b = upper_of(strand, b);
            return of_a != of_b ? of_a > of_b : a < b;
        });
        return order_;
    }

    /// Score the branches of the bounds of a group with the highest upper limits, in the columns where these are
    /// possible; this raises the lower limit of the best scores.
    void score_most_promising(const ReadLetters &read, const Strand &strand, int64_t group, int32_t *score) {
        const auto [begin, end] = lanes_of(group);
        const std::vector<int64_t> &order = ranked(strand, begin, end);
        std::vector<Candidate> first;
        std::vector<Window> windows;
        for (std::size_t k = 0; k < std::min<std::size_t>(kBoundsPerGroup, order.size()); ++k) {
            find_windows(strand, order[k], read.length, upper_of(strand, order[k]), windows);
            first.push_back({order[k], windows.front()});
        }
        score_branches(read, first, score);
    }

    /// Find windows that hold every alignment of a bound's branches that scores at least `least`, from left to
    /// right.
    ///
    ///     strip        | - - - 0 | 1 2 3 4 | 5 6 7 8 |        the bound's kept columns, padded in front
    ///     columns      |         ^         ^         ^        a strip ends where the next one's first column starts
    void find_windows(const Strand &strand, int64_t bound, int64_t n_bases, int32_t least,
                      std::vector<Window> &windows) const {
        windows.clear();
        const KeptColumns kept = bounds_.kept_of(bound);
        const int64_t lane = bounds_.lane_of_bound[bound], group = lane / kPlaceLanes;
        const int64_t n_strips = bounds_.n_columns[group] / kPlaceColumns, pad = bounds_.n_columns[group] - kept.n;
        const uint16_t *ends = &strand.ends[ends_before_[group] + lane % kPlaceLanes];
        const bool over_the_end = ends[n_strips * kPlaceLanes] >= least;  // a read that ends in the last column
        for (int64_t strip = 0; strip < n_strips; ++strip) {
            if (ends[strip * kPlaceLanes] < least && !(over_the_end && strip == n_strips - 1)) continue;
            const int64_t k = std::max<int64_t>(strip * kPlaceColumns - pad, 0);
            const int64_t after = std::max<int64_t>((strip + 1) * kPlaceColumns - pad, 0);
            const int64_t begin = begin_of(kept, k, n_bases, least);
            const int64_t end = after < kept.n ? kept.column[after] : planes_.n_columns;
            if (!windows.empty() && begin <= windows.back().end) windows.back().end = end;
            else windows.push_back({begin, end});
        }
    }

    /// Return the first column in which an alignment that ends in segment k or later and scores `least` may start
    /// (the lemma of prune.hpp).
    int64_t begin_of(const KeptColumns &kept, int64_t k, int64_t n_bases, int32_t least) const {
        const int64_t cost = std::min(s_.gap_open, s_.gap_extend);
        if (cost <= 0) return planes_.n_empty;
        const int64_t room = n_bases + (static_cast<int64_t>(s_.match) * n_bases - least) / cost;
        const int32_t *before = kept.costly_before;
        const int64_t first_within = std::upper_bound(before, before + k, before[k] - room) - before;  // b + 1
        return first_within <= 1 ? planes_.n_empty : kept.column[first_within - 1];
    }

    /// Score the branches of up to eight bounds within windows, and keep the higher of old and new scores.
    void score_branches(const ReadLetters &read, const std::vector<Candidate> &chosen, int32_t *score) {
        slots_.take_all(planes_, chosen);
        int32_t found[kPlaceLanes];
        cells_ += score_group_(s_, slots_.lanes(), read, scratch_, wanted_, found, nullptr);
        bool is_higher = false;
        for (std::size_t slot = 0; slot < chosen.size(); ++slot)
            for (int k = 0; k < kBranchesPerBound; ++k) {
                const int64_t lane = chosen[slot].bound * kBranchesPerBound + k;
                const int32_t here = found[slot * kBranchesPerBound + k];
                if (here <= score[lane]) continue;
                score[lane] = here;
                is_higher |= here > least_ && lane < planes_.n_vectors;
            }
        if (is_higher) raise(score);
    }

    /// Update least_, best_ and wanted_ from the scores so far: a further branch with the n_best-th best score changes
    /// nothing, unless that score is also the best.
    void raise(const int32_t *score) {
        sorted_.assign(score, score + planes_.n_vectors);
        const int32_t nth = nth_best();
        best_ = *std::max_element(score, score + planes_.n_vectors);
        least_ = std::max(nth, 0);
        wanted_ = std::max(floor_, nth >= 0 && least_ < best_ ? least_ + 1 : least_);
    }

    /// Keep the chosen bounds with a branch that scores wanted_ or more without the dropped columns.
    void keep_wanted(const ReadLetters &read, std::vector<Candidate> &chosen) {
        slots_.take_kept(planes_, bounds_, chosen);
        int32_t found[kPlaceLanes];
        cells_ += score_group_(of_bounds_, slots_.lanes(), read, scratch_, wanted_, found, nullptr);
        std::size_t n_kept = 0;
        for (std::size_t slot = 0; slot < chosen.size(); ++slot) {
            const int32_t *of_slot = found + slot * kBranchesPerBound;
            if (*std::max_element(of_slot, of_slot + kBranchesPerBound) >= wanted_) chosen[n_kept++] = chosen[slot];
        }
        chosen.resize(n_kept);
    }

    void score_candidates(const ReadLetters &read, const Strand &strand, int32_t *score) {
        std::vector<Candidate> chosen, left;
        std::vector<Window> windows;
        auto score_left = [&](std::size_t least) {
            for (; left.size() >= least; left.erase(left.begin(), left.begin() + chosen.size())) {
                chosen.assign(left.begin(), left.begin() + std::min<std::size_t>(left.size(), kBoundsPerGroup));
                score_branches(read, chosen, score);
            }
        };
        std::vector<Candidate> candidates;
        const std::vector<int64_t> &order = ranked(strand, 0, bounds_.n_bounds);
        for (std::size_t k = 0; k < order.size() && upper_of(strand, order[k]) >= wanted_; ++k) {
            find_windows(strand, order[k], read.length, wanted_, windows);
            for (const Window &window : windows) candidates.push_back({order[k], window});
            while (candidates.size() >= kBoundsPerGroup) {
                chosen.assign(candidates.begin(), candidates.begin() + kBoundsPerGroup);
                candidates.erase(candidates.begin(), candidates.begin() + kBoundsPerGroup);
                keep_wanted(read, chosen);
                left.insert(left.end(), chosen.begin(), chosen.end());
                score_left(kBoundsPerGroup);
            }
        }
        if (!candidates.empty()) {
            keep_wanted(read, candidates);
            left.insert(left.end(), candidates.begin(), candidates.end());
        }
        score_left(1);
    }

    const PlaceKernels &kernels_;
    const int word_bits_;
    ScoreGroup score_group_ = nullptr;
    const PlaceScoring &s_;
    const PlaceScoring of_bounds_;
    const ReferencePlanes &planes_;
    const BranchBounds &bounds_;
    const int n_best_;
    std::vector<Strand> strands_;
    std::vector<int64_t> ends_before_;  // offsets of the groups of bounds in Strand::ends
    std::vector<int32_t> sorted_, other_score_;
    std::vector<LikelyPlace> likely_;
    std::vector<int64_t> order_;  // bounds, highest upper limit first
    SlotLanes slots_;
    PlaceScratch scratch_;
    int32_t floor_ = 0;   // lower scores are not requested
    int32_t least_ = 0;   // n_best-th highest score so far
    int32_t best_ = 0;    // highest score so far
    int32_t wanted_ = 0;  // score that a branch needs to change the result
    int64_t cells_ = 0;
};

}  // namespace

bool place_best_scores(const PlaceKernels &kernels, const PlaceScoring &scoring, const ReferencePlanes &planes,
                       const BranchBounds &bounds, const ReadBatch &reads, int n_strands, int word_bits, int n_best,
                       int n_threads, int32_t *score, int32_t *window, int8_t *strand, std::atomic<int64_t> &cells,
                       const Poll &poll) {
    std::vector<std::unique_ptr<Pruner>> pruners(n_threads);
    const int64_t n_reads = reads.n_reads / n_strands;
    auto work = [&](int thread, int64_t k) {
        std::unique_ptr<Pruner> &pruner = pruners[thread];
        if (!pruner) pruner = std::make_unique<Pruner>(kernels, word_bits, scoring, planes, bounds, n_best, n_strands);
        std::vector<OwnLetters> letters;
        for (int s = 0; s < n_strands; ++s) letters.emplace_back(reads, k + s * n_reads);
        int32_t *of_read = score + k * planes.n_groups * kPlaceLanes;
        strand[k] = static_cast<int8_t>(pruner->run(letters, of_read, window + 2 * k));
        cells += pruner->cells();
    };
    return parallel(n_threads, n_reads, 1, work, poll);
}

}  // namespace tropalign
