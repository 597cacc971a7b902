#include "cpu_plan.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <stdexcept>

#include "../simd/isa.hpp"
#include "orientation.hpp"
#include "ranges.hpp"

namespace tropalign {

// Costs of units for the plan (cpu_plan.cpp): measured, and to be measured again when the engine changes.

/// Largest unit in bytes; a larger one gets fewer lanes, but at least kLeastLanes.
///
/// One core of a Zen 5 with 1 MB of second-level and 32 MB of third-level cache, alignments of equally long
/// proteins:
///
///     lanes   ns per vector of cells, directions within 8 MB   beyond 32 MB
///      16                        1.65                              1.7
///      32                        1.8                               2.2
///      64                        2.2                               3.6
///
/// A full vector of 64 lanes is always best, so this only bounds memory, and the zeroing of fresh pages, which
/// took up to half of the time of a small set. On 300 proteins of 30 to 3,000 residues 64 MB are as fast as
/// gigabytes.
inline constexpr size_t kWideUnitBytes = size_t{64} << 20;

/// Lanes of a unit with traceback on processors that halve vectors of 64 bytes: as many cells a second, in half of
/// the memory. (GCUPS of a Zen 4 with 64 and with 32 lanes: proteins of 600 residues, local 18 and 22, global 13.5
/// and 18.3; 300 proteins of 30 to 2,000, local 11.7 and 16.4, global 9.6 and 12.4; 257 residues, no difference.)
inline constexpr int kHalfLanes = 32;

/// Time of a vector of cells whose lanes share two row sequences, relative to one whose lanes share one. Per cell
/// a load and a selection are added to some 10 operations, more with 16 registers instead of AVX-512's 32; and per
/// group of columns another profile, two operations for each of some 24 residues, spread over the rows. (Scores of
/// 150 proteins of 30 to 3,000 residues: 1.1 with AVX-512, 1.2 and more with AVX2.)
inline double cost_of_two_rows(int64_t rows, int vector_bytes) {
    return (vector_bytes >= 64 ? 1.14 : 1.25) + 6.0 / static_cast<double>(rows + 1);
}

namespace {

/// A pair with all properties that the plan needs: its entry in the request is read once, in order.
struct Entry {
    uint32_t group;    // 2 * row sequence + mirrored
    uint32_t columns;  // 2 * column sequence + query_in_rows
    uint32_t pair;

    bool mirrored() const { return group & 1; }
    bool query_in_rows() const { return columns & 1; }
};

/// Entries of all pairs, in memory that stays mapped from tile to tile.
using Entries = Buffer<Entry>;

std::span<const Entry> all(const Entries &entries) { return {entries.data(), entries.size()}; }

/// Sort stably by a small integer key.
template <class Key>
void counting_sort(Entries &entries, Entries &spare, size_t n_keys, Key key) {
    std::vector<uint32_t> begin(n_keys + 1);
    for (const Entry &entry : all(entries)) ++begin[key(entry) + 1];
    for (size_t k = 0; k < n_keys; ++k) begin[k + 1] += begin[k];
    for (const Entry &entry : all(entries)) spare[begin[key(entry)]++] = entry;
    std::swap(entries, spare);
}

/// Cells of a pair from which the masks of a few parallel pairs no longer fit a cache, and soon not even memory.
constexpr int64_t kLongCells = int64_t{1} << 24;
/// Start-up cost of a pair that runs alone, in cells (fitted, see better_alone).
constexpr int64_t kAloneCells = 1'400'000;

class CpuPlanner {
  public:
    CpuPlanner(const TileRequest &request, const Scoring &scoring, const Kernels &kernels, size_t unit_bytes)
        : request_(request), scoring_(scoring), kernels_(kernels), traced_(scoring.pass != Pass::score),
          one_number_(request.queries.codes == request.targets.codes && scoring.is_symmetric),
          lanes_(traced_ && halves_vectors() ? std::min(kernels.vector_bytes, kHalfLanes) : kernels.vector_bytes),
          unit_bytes_(unit_bytes) {}

    CpuPlan run() {
        plan_.lanes = Buffer<PlannedLane>(request_.n_pairs);
        std::vector<Entry> single;  // pairs left over: units in which every lane has its own rows
        {
            Entries entries = oriented(), spare(entries.size());
            int64_t longest = 0;
            for (const Entry &entry : all(entries)) longest = std::max(longest, column_length(entry));
            counting_sort(entries, spare, longest + 1, [&](const Entry &e) { return longest - column_length(e); });
            counting_sort(entries, spare, 2 * (request_.queries.count + request_.targets.count),
                          [](const Entry &e) { return e.group; });
            spare = Entries();
            groups_of(entries);
            for (size_t k = 0; k < groups_.size();) {
                const bool two = k + 1 < groups_.size() && better_together(groups_[k], groups_[k + 1]);
                if (two) shared_units(merged(groups_[k], groups_[k + 1]), groups_[k].rows, single);
                else shared_units(groups_[k].pairs, groups_[k].rows, single);
                k += two ? 2 : 1;
            }
            groups_ = {};
        }
        single_units(single);
        finish();
        return std::move(plan_);
    }

  private:
    /// Return the index of the row sequence among the queries or among the targets. In a group number, targets follow
    /// the queries, unless both are one set.
    int64_t row_sequence(const Entry &e) const {
        return (e.group >> 1) - (one_number_ || e.query_in_rows() ? 0 : request_.queries.count);
    }
    static int64_t column_sequence(const Entry &e) { return e.columns >> 1; }
    int64_t row_length(const Entry &e) const {
        return (e.query_in_rows() ? request_.queries : request_.targets)[row_sequence(e)].length;
    }
    int64_t column_length(const Entry &e) const {
        return (e.query_in_rows() ? request_.targets : request_.queries)[column_sequence(e)].length;
    }

    /// Return the pair's kind. Pairs of a kind may share a unit: their tie rule and matrix have the same orientation.
    int kind(const Entry &e) const { return e.mirrored() + 2 * (!scoring_.is_symmetric && !e.query_in_rows()); }

    /// Choose each pair's rows (orientation.hpp).
    Entries oriented() {
        const bool one_set = request_.queries.codes == request_.targets.codes;
        std::vector<int32_t> of_query(request_.queries.count), of_target(request_.targets.count);
        for (int64_t k = 0; k < request_.n_pairs; ++k) {
            ++of_query[request_.query_index[k]];
            ++(one_set ? of_query : of_target)[request_.target_index[k]];
        }
        const std::vector<int32_t> &target_pairs = one_set ? of_query : of_target;
        Entries entries(request_.n_pairs);
        for (int64_t k = 0; k < request_.n_pairs; ++k) {
            const int64_t query = request_.query_index[k], target = request_.target_index[k];
            const Orientation chosen = orient(request_.queries[query].length, request_.targets[target].length,
                                              of_query[query], target_pairs[target]);
            const bool straight = chosen.query_in_rows;
            const int64_t rows = straight ? query : target + (one_number_ ? 0 : request_.queries.count);
            // Without a traceback the tie rule does not matter.
            entries[k] = {static_cast<uint32_t>(rows << 1 | (traced_ && chosen.mirrored)),
                          static_cast<uint32_t>((straight ? target : query) << 1 | straight), static_cast<uint32_t>(k)};
        }
        return entries;
    }

    /// Return the bytes of a unit of `lanes` lanes of rows x columns, for any lane width that its scores may need.
    size_t bytes_of(int64_t rows, int64_t columns, int lanes, bool shared) const {
        const UnitSize size{rows, columns, lanes, shared};
        const int most = bits_at_most(scoring_, std::min(rows, columns));
        size_t bytes = 0;
        for (const LaneKernels *kernels : kernels_.lanes)
            if (kernels->bits <= most && fits(scoring_, kernels->bits))
                bytes = std::max(bytes, kernels->bytes(scoring_, size));
        return bytes;
    }

    /// Limit for the bytes of a unit of `lanes` lanes.
    size_t most_bytes(int lanes) const {
        return lanes > kLeastLanes ? std::min(unit_bytes_, kWideUnitBytes) : unit_bytes_;
    }

    /// Return the number of lanes (a power of two) of a unit that stays within the bytes allowed; 0 if even the
    /// fewest do not.
    int lanes_within(int64_t rows, int64_t columns, bool shared) const {
        int lanes = lanes_;
        while (lanes >= kLeastLanes && bytes_of(rows, columns, lanes, shared) > most_bytes(lanes)) lanes /= 2;
        return lanes >= kLeastLanes ? lanes : 0;
    }

    /// The pairs of one row sequence, the longest columns first.
    struct Group {
        std::span<const Entry> pairs;
        int64_t rows;
        int kind;
    };

    /// Collect the groups of `entries`, sorted so that neighbours have similar row lengths.
    void groups_of(const Entries &entries) {
        for (size_t from = 0, to; from < entries.size(); from = to) {
            to = from;
            while (to < entries.size() && entries[to].group == entries[from].group) ++to;
            const Entry &first = entries[from];
            groups_.push_back({{entries.data() + from, to - from}, row_length(first), kind(first)});
        }
        std::stable_sort(groups_.begin(), groups_.end(), [](const Group &a, const Group &b) {
            return a.kind != b.kind ? a.kind < b.kind : a.rows > b.rows;
        });
    }

    /// Merge the pairs of both groups, the longest columns first.
    std::span<const Entry> merged(const Group &a, const Group &b) {
        merged_.resize(a.pairs.size() + b.pairs.size());
        std::merge(a.pairs.begin(), a.pairs.end(), b.pairs.begin(), b.pairs.end(), merged_.begin(),
                   [&](const Entry &x, const Entry &y) { return column_length(x) > column_length(y); });
        return merged_;
    }

    /// Return the columns swept if each unit holds `n` of the pairs.
    int64_t swept_columns(std::span<const Entry> pairs, size_t n) const {
        int64_t sum = 0;
        for (size_t k = 0; k < pairs.size(); k += n) sum += column_length(pairs[k]);
        return sum;
    }

    /// True if units with the row sequences of both groups cost less than separate units: with half a unit per group,
    /// columns span half the range of lengths, and one unit instead of two is partly filled.
    bool better_together(const Group &a, const Group &b) const {
        const size_t lanes = lanes_, few = lanes / 8;
        if (a.kind != b.kind || a.pairs.size() <= few || b.pairs.size() <= few) return false;
        const int64_t together = a.rows * (swept_columns(a.pairs, lanes / 2) + swept_columns(b.pairs, lanes / 2)) / 2;
        const int64_t apart = a.rows * swept_columns(a.pairs, lanes) + b.rows * swept_columns(b.pairs, lanes);
        return static_cast<double>(together) * cost_of_two_rows(a.rows, lanes_) < static_cast<double>(apart);
    }

    /// Make units of pairs whose row sequences, one or two, have at most `rows` residues.
    void shared_units(std::span<const Entry> entries, int64_t rows, std::vector<Entry> &single) {
        size_t from = 0;
        const size_t to = entries.size();
        while (from < to) {
            const int64_t columns = column_length(entries[from]);
            const int lanes = traced_ && rows * columns >= kLongCells ? 0 : lanes_within(rows, columns, true);
            if (lanes == 0) {
                plan_.long_pairs.push_back(entries[from++].pair);
                continue;
            }
            const auto n = static_cast<int>(std::min<int64_t>(lanes, static_cast<int64_t>(to - from)));
            if (n <= lanes_ / 8) break;  // a nearly empty vector: better fill it with similar pairs
            add(entries.data() + from, n, true);
            from += n;
        }
        single.insert(single.end(), entries.begin() + static_cast<ptrdiff_t>(from), entries.end());
    }

    void single_units(std::vector<Entry> &single) {
        auto order = [&](const Entry &a, const Entry &b) {
            const int kind_a = kind(a), kind_b = kind(b);
            if (kind_a != kind_b) return kind_a < kind_b;
            const int64_t rows_a = length_class(row_length(a)), rows_b = length_class(row_length(b));
            if (rows_a != rows_b) return rows_a > rows_b;
            const int64_t columns_a = column_length(a), columns_b = column_length(b);
            return columns_a != columns_b ? columns_a > columns_b : a.pair < b.pair;
        };
        std::sort(single.begin(), single.end(), order);
        for (size_t from = 0; from < single.size();) {
            const int n = lanes_together(single, from);
            if (n == 0 || better_alone(single.data() + from, n)) {
                for (int k = 0; k < std::max(n, 1); ++k) plan_.long_pairs.push_back(single[from + k].pair);
            } else {
                add(single.data() + from, n, false);
            }
            from += std::max(n, 1);
        }
    }

    /// Return how many of the pairs starting at `from` make a unit within the bytes allowed.
    int lanes_together(const std::vector<Entry> &single, size_t from) const {
        const int kind_of_first = kind(single[from]);
        int lanes = lanes_;
        for (;;) {
            int64_t rows = 0, columns = 0;
            int n = 0;
            for (; n < lanes && from + n < single.size() && kind(single[from + n]) == kind_of_first; ++n) {
                rows = std::max(rows, row_length(single[from + n]));
                columns = std::max(columns, column_length(single[from + n]));
            }
            if (bytes_of(rows, columns, n, false) <= most_bytes(lanes)) return n;
            if (lanes == kLeastLanes) return 0;
            lanes /= 2;
        }
    }

    /// True if pairs that would fill few lanes of a vector are swept faster one at a time, with their strips as
    /// lanes. The cost is the cells that the vectors cover, with a start-up of one strip per lane, and kAloneCells
    /// to start a pair (fitted to 1 to 64 pairs of 250 to 8,000 residues; docs/exactness.md has the figures).
    bool better_alone(const Entry *entries, int n) const {
        int64_t rows = 0, columns = 0, alone = 0;
        for (int k = 0; k < n; ++k) {
            const int64_t m = row_length(entries[k]), c = column_length(entries[k]);
            rows = std::max(rows, m), columns = std::max(columns, c);
            alone += kAloneCells + ((m + lanes_ - 1) / lanes_ + 2) * lanes_ * (c + 4 * lanes_);
        }
        int width = kLeastLanes;
        while (width < n) width *= 2;
        return alone < rows * columns * width;
    }

    void add(const Entry *entries, int n, bool shared) {
        plan_.units.push_back({plan_.n_lanes, 0, n, shared, entries->mirrored()});
        int64_t rows = 0, columns = 0;
        for (int k = 0; k < n; ++k) {
            const Entry &entry = entries[k];
            const auto rows_of = static_cast<uint32_t>(row_sequence(entry)),
                       columns_of = static_cast<uint32_t>(column_sequence(entry));
            const bool straight = entry.query_in_rows();
            plan_.lanes[plan_.n_lanes++] = {entry.pair, straight ? rows_of : columns_of,
                                            straight ? columns_of : rows_of, straight};
            rows = std::max(rows, row_length(entries[k]));
            columns = std::max(columns, column_length(entries[k]));
        }
        cost_.push_back(rows * columns);
        plan_.most_bytes = std::max(plan_.most_bytes, bytes_of(rows, columns, n, shared));
    }

    /// Sort the costliest first (longest processing time), so that threads end together.
    void finish() {
        std::vector<size_t> order(plan_.units.size());
        std::iota(order.begin(), order.end(), size_t{0});
        std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return cost_[a] > cost_[b]; });
        std::vector<PlannedUnit> sorted;
        sorted.reserve(order.size());
        int64_t before = 0;
        for (size_t k : order) {
            sorted.push_back(plan_.units[k]);
            sorted.back().pairs_before = before;
            before += sorted.back().n_lanes;
        }
        plan_.units = std::move(sorted);
    }

    const TileRequest &request_;
    const Scoring &scoring_;
    const Kernels &kernels_;
    const bool traced_, one_number_;  // one_number_: the plan treats queries and targets as one set
    const int lanes_;
    const size_t unit_bytes_;
    std::vector<Group> groups_;
    std::vector<Entry> merged_;
    std::vector<int64_t> cost_;
    CpuPlan plan_;
};

}  // namespace

bool query_in_rows_alone(const TileRequest &request, int64_t pair) {
    const Letters query = request.queries[request.query_index[pair]];
    const Letters target = request.targets[request.target_index[pair]];
    return longer_in_rows(query.length, target.length).query_in_rows;
}

LanePair lane_pair(const TileRequest &request, int64_t pair, bool query_in_rows) {
    return lane_of(request, request.query_index[pair], request.target_index[pair], query_in_rows);
}

LanePair lane_of(const TileRequest &request, int64_t query_index, int64_t target_index, bool query_in_rows) {
    const Letters query = request.queries[query_index], target = request.targets[target_index];
    const FreeEnds &free = request.free_ends;
    if (query_in_rows) return {query, target, free.query_start, free.query_end, free.target_start, free.target_end};
    return {target, query, free.target_start, free.target_end, free.query_start, free.query_end};
}

CpuPlan make_plan(const TileRequest &request, const Scoring &scoring, const Kernels &kernels, size_t unit_bytes) {
    if (request.n_pairs > UINT32_MAX || request.queries.count + request.targets.count > INT32_MAX)
        throw std::length_error("too many pairs or sequences for one plan");
    return CpuPlanner(request, scoring, kernels, unit_bytes).run();
}

}  // namespace tropalign
