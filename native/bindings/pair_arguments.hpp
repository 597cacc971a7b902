// Checks of sequences and lists of pairs.
#pragma once
#include <cstring>
#include <memory>
#include <optional>

#include "../pairwise/interface.hpp"
#include "../pairwise/tile.hpp"
#include "check.hpp"

namespace tropalign {

// Checks of the scoring of pairs.

using Matrix = nb::ndarray<const int32_t, nb::shape<kLetters, kLetters>, nb::c_contig, nb::device::cpu>;

/// Return the highest absolute value of a matrix.
inline int64_t highest_of(const Matrix &matrix) {
    int64_t highest = 0;
    for (int a = 0; a < kPadCode; ++a)
        for (int b = 0; b < kPadCode; ++b) highest = std::max(highest, std::abs(int64_t{matrix(a, b)}));
    return highest;
}

/// Refuse costs below 0, and scores that may exceed 32 bits, the widest lanes of the engine. `track`: the highest
/// absolute value of a second track.
inline void check_scoring(const Matrix &matrix, int32_t gap_open, int32_t gap_extend, int64_t longest,
                          int64_t track = 0) {
    require(gap_open >= 0 && gap_extend >= 0, "gap_open, gap_extend: costs must be at least 0");
    const int64_t highest = std::max<int64_t>(highest_of(matrix) + track, 1);
    if ((highest + gap_open + 2 * int64_t{gap_extend}) * (2 * longest + 2) > INT32_MAX)
        refuse("matrix, gap_open, gap_extend: scores of sequences of " + std::to_string(longest) +
               " residues may exceed 2147483647");
}

/// A second track as an argument: codes of queries and of targets, and the scores of their pairs.
struct TrackArguments {
    std::optional<Column<uint8_t>> query, target;
    std::optional<Matrix> scores;

    /// True if there is a track. Refuses parts of one.
    bool is_given() const {
        require(query.has_value() == scores.has_value() && target.has_value() == scores.has_value(),
                "query_track, target_track, track_scores: give all or none");
        return scores.has_value();
    }
};

/// A checked copy of a batch, with kCodeMargin readable bytes on either side of the codes. A second track follows them
/// `offset` bytes later.
class OwnBatch {
  public:
    OwnBatch(const Column<uint8_t> &codes, const Column<int64_t> &offsets, const char *codes_name,
             const char *offsets_name, const Column<uint8_t> *track = nullptr, size_t offset = 0)
        : codes_(codes.size() + offset + 2 * kCodeMargin, kPadCode),
          offsets_(offsets.data(), offsets.data() + offsets.size()) {
        if (codes.size()) std::memcpy(codes_.data() + kCodeMargin, codes.data(), codes.size());
        require_codes(codes_.data() + kCodeMargin, codes.size(), kPadCode, codes_name);
        if (track) {
            require(track->size() == codes.size(), "query_track, target_track: another size than the codes");
            uint8_t *own = codes_.data() + kCodeMargin + offset;
            if (track->size()) std::memcpy(own, track->data(), track->size());
            require_codes(own, track->size(), kPadCode, "query_track, target_track");
        }
        const auto n_entries = static_cast<int64_t>(offsets_.size());
        require_offsets(offsets_.data(), n_entries, static_cast<int64_t>(codes.size()), offsets_name);
        require_no_empty(offsets_.data(), n_entries, offsets_name);
        longest_ = longest_of(offsets_.data(), n_entries, offsets_name);
    }

    Sequences sequences() const {
        return {codes_.data() + kCodeMargin, offsets_.data(), static_cast<int64_t>(offsets_.size()) - 1};
    }
    int64_t longest() const { return longest_; }

  private:
    std::vector<uint8_t> codes_;
    std::vector<int64_t> offsets_;
    int64_t longest_;
};

/// Queries and targets; if both are the same arrays, they are one set, stored once.
class OwnSets {
  public:
    OwnSets(const Column<uint8_t> &query_codes, const Column<int64_t> &query_offsets,
            const Column<uint8_t> &target_codes, const Column<int64_t> &target_offsets,
            const TrackArguments &track = {})
        : track_(track.is_given() ? std::max(query_codes.size(), target_codes.size()) + 2 * kCodeMargin : 0),
          queries_(query_codes, query_offsets, "query_codes", "query_offsets", track_ ? &*track.query : nullptr,
                   track_) {
        const bool one_set = query_codes.data() == target_codes.data() && query_codes.size() == target_codes.size() &&
                             query_offsets.data() == target_offsets.data() &&
                             query_offsets.size() == target_offsets.size() &&
                             (!track_ || track.query->data() == track.target->data());
        if (!one_set)
            own_ = std::make_unique<OwnBatch>(target_codes, target_offsets, "target_codes", "target_offsets",
                                              track_ ? &*track.target : nullptr, track_);
    }
    /// Return the distance from a code to that of the second track; 0 without one.
    ptrdiff_t track() const { return static_cast<ptrdiff_t>(track_); }
    const OwnBatch &queries() const { return queries_; }
    const OwnBatch &targets() const { return own_ ? *own_ : queries_; }
    int64_t longest() const { return std::max(queries_.longest(), targets().longest()); }

  private:
    const size_t track_;
    const OwnBatch queries_;
    std::unique_ptr<OwnBatch> own_;
};

/// Return the number of pairs, and check them.
inline int64_t require_pairs(const OwnSets &sets, const Column<int64_t> &query_index,
                             const Column<int64_t> &target_index) {
    require(query_index.size() == target_index.size(), "query_index, target_index: arrays of unequal lengths");
    require_below(query_index.data(), query_index.size(), sets.queries().sequences().count, "query_index");
    require_below(target_index.data(), target_index.size(), sets.targets().sequences().count, "target_index");
    return static_cast<int64_t>(query_index.size());
}

}  // namespace tropalign
