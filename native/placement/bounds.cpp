#include "bounds.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace tropalign {
namespace {

constexpr int kBoundsPerWord = kPlaceLanes / kBranchesPerBound;
constexpr uint64_t kLowBits = 0x0101010101010101;

// A word holds one bit per branch; byte k belongs to bound k. The example below is the lowest two bytes:
// 00010100'00000000.

/// Bit 0 of each byte that has any bit set: 00000001'00000000. Each byte is folded onto its lowest bit; bits
/// shifted in from the byte above reach the upper bits only.
uint64_t any_in_byte(uint64_t x) {
    x |= x >> 4, x |= x >> 2, x |= x >> 1;
    return x & kLowBits;
}
/// Bit 0 of each byte that has all bits set: 00000000'00000000 here.
uint64_t all_in_byte(uint64_t x) { return ~any_in_byte(~x) & kLowBits; }

/// The columns that a bound keeps, with their offers (a bit per state, then the free gap).
struct Kept {
    std::vector<int32_t> column;
    std::vector<uint64_t> offers;
};

/// Return the kept columns of each bound of a group of branches.
std::vector<Kept> kept_of_group(const ReferencePlanes &planes, int64_t group) {
    std::vector<Kept> kept(kBoundsPerWord);
    const int n_states = planes.n_states;
    for (int64_t a = planes.n_empty; a < planes.n_columns; ++a) {
        const uint64_t *word = planes.column(group, a), flags = word[n_states];
        const uint64_t dropped = all_in_byte(flags), is_free = any_in_byte(flags);
        uint64_t offered[kMostStates];
        for (int s = 0; s < n_states; ++s) offered[s] = any_in_byte(word[s] & ~flags);
        for (int k = 0; k < kBoundsPerWord; ++k) {
            const int bit = k * kBranchesPerBound;
            if (dropped >> bit & 1) continue;
            uint64_t offers = (is_free >> bit & 1) << n_states;
            for (int s = 0; s < n_states; ++s) offers |= (offered[s] >> bit & 1) << s;
            kept[k].column.push_back(static_cast<int32_t>(a)), kept[k].offers.push_back(offers);
        }
    }
    return kept;
}

/// Assign bounds to lanes so that bounds with similar numbers of kept columns are neighbours.
void choose_lanes(BranchBounds &bounds) {
    bounds.n_groups = (bounds.n_bounds + kPlaceLanes - 1) / kPlaceLanes;
    std::vector<int64_t> order(bounds.n_bounds);
    std::iota(order.begin(), order.end(), 0);
    auto length = [&](int64_t bound) { return bounds.kept_of(bound).n; };
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return length(a) < length(b); });
    bounds.bound_of_lane.assign(bounds.n_groups * kPlaceLanes, bounds.n_bounds);
    bounds.lane_of_bound.resize(bounds.n_bounds);
    bounds.words_before.push_back(0);
    for (int64_t lane = 0; lane < bounds.n_bounds; ++lane)
        bounds.bound_of_lane[lane] = order[lane], bounds.lane_of_bound[order[lane]] = lane;
    for (int64_t group = 0; group < bounds.n_groups; ++group) {
        const int64_t longest = length(order[std::min((group + 1) * kPlaceLanes, bounds.n_bounds) - 1]);
        const int64_t n_columns = std::max<int64_t>((longest + kPlaceColumns - 1) / kPlaceColumns, 1) * kPlaceColumns;
        bounds.n_columns.push_back(n_columns);
        bounds.words_before.push_back(bounds.words_before.back() + n_columns * (bounds.n_states + 2));
    }
}

}  // namespace

BranchBounds make_bounds(const ReferencePlanes &planes) {
    BranchBounds bounds;
    bounds.n_vectors = planes.n_vectors, bounds.n_reference_columns = planes.n_columns;
    bounds.n_states = planes.n_states, bounds.n_empty = planes.n_empty;
    bounds.n_bounds = (planes.n_vectors + kBranchesPerBound - 1) / kBranchesPerBound;
    bounds.likely = LikelyBounds(planes);
    bounds.kept_before.push_back(0);
    const int n_states = planes.n_states, n_planes = n_states + 2;
    std::vector<uint64_t> offers;  // parallel to bounds.kept
    for (int64_t bound = 0; bound < bounds.n_bounds; bound += kBoundsPerWord) {
        const std::vector<Kept> found = kept_of_group(planes, bound / kBoundsPerWord);
        for (int64_t k = 0; k < std::min<int64_t>(kBoundsPerWord, bounds.n_bounds - bound); ++k) {
            bounds.kept.insert(bounds.kept.end(), found[k].column.begin(), found[k].column.end());
            offers.insert(offers.end(), found[k].offers.begin(), found[k].offers.end());
            bounds.kept_before.push_back(static_cast<int64_t>(bounds.kept.size()));
            int32_t costly = 0;
            for (uint64_t column : found[k].offers) {
                bounds.costly_before.push_back(costly);
                costly += !(column >> n_states & 1);
            }
            bounds.costly_before.push_back(costly);
        }
    }
    choose_lanes(bounds);
    bounds.words.resize(static_cast<std::size_t>(bounds.words_before.back()));
    const uint64_t free_gap = uint64_t{1} << n_states, follows_dropped = free_gap << 1;
    for (int64_t lane = 0; lane < bounds.n_groups * kPlaceLanes; ++lane) {
        const int64_t group = lane / kPlaceLanes, bound = bounds.bound_of_lane[lane];
        uint64_t *word = &bounds.words[bounds.words_before[group]];
        auto set = [&](uint64_t bits) {
            for (int plane = 0; plane < n_planes; ++plane, ++word) *word |= (bits >> plane & 1) << lane % kPlaceLanes;
        };
        const bool is_used = bound < bounds.n_bounds;
        const KeptColumns kept = is_used ? bounds.kept_of(bound) : KeptColumns{nullptr, nullptr, 0};
        for (int64_t k = kept.n; k < bounds.n_columns[group]; ++k) set(free_gap);
        for (int64_t k = 0; k < kept.n; ++k)
            set(offers[bounds.kept_before[bound] + k] |
                (kept.follows_dropped(k, planes.n_empty) ? follows_dropped : 0));
    }
    return bounds;
}

bool can_prune(const PlaceScoring &s) {
    return s.mismatch == 0 && !s.whole_read && s.match > 0 && s.on_gap <= 0 && s.match + s.on_gap <= 0;
}

PlaceScoring of_bounds(PlaceScoring s) {
    const int32_t most = -(s.match + s.on_gap);
    s.insert_open = std::min(s.insert_open, most), s.insert_extend = std::min(s.insert_extend, most);
    return s;
}

}  // namespace tropalign
