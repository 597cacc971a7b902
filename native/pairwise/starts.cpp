#include "starts.hpp"

#include <algorithm>
#include <cmath>

#include "../compute/parallel.hpp"
#include "cpu_plan.hpp"
#include "lane_widths.hpp"
#include "ranges.hpp"

namespace tropalign {
namespace {

/// Return the cells per pair from which the sweep back costs less than a traceback. Measured on one core (Zen 4,
/// 32-byte vectors), ends in GCUPS by traceback / by sweep back:
///
///     residues      257          459          608          1,103        30-3,000     1,430 (16S, 16 bits)
///     local         18.0 / 12.6  14.0 / 11.0  13.4 / 11.7  10.2 / 10.8  11.6 / 11.6  7.0 / 5.1
///     semiglobal    16.9 / 10.2  15.9 / 9.6   14.9 / 9.8   14.4 / 9.2   11.8 / 7.3   14.2 / 7.7
int64_t least_cells(Mode mode) {
    switch (mode) {
        case Mode::local:
            return 1'500 * 1'500;
        case Mode::global:
            return 3'000 * 3'000;
    }
    __builtin_unreachable();
}

/// True if every alignment starts at the first residue of both sequences.
bool all_start_at_0(const Scoring &scoring, const FreeEnds &free) {
    switch (scoring.mode) {
        case Mode::local:
            return false;
        case Mode::global:
            return !free.query_start && !free.target_start;
    }
    __builtin_unreachable();
}

}  // namespace

bool StartSearch::suits(const Scoring &scoring, const TileRequest &request) {
    if (scoring.depth != Depth::ends) return false;
    if (all_start_at_0(scoring, request.free_ends)) return true;
    int64_t cells = 0;
    for (int64_t k = 0; k < request.n_pairs; ++k)
        cells +=
            int64_t{request.queries[request.query_index[k]].length} * request.targets[request.target_index[k]].length;
    return cells >= least_cells(scoring.mode) * request.n_pairs;
}

bool StartSearch::run(const std::vector<uint32_t> &pairs, std::vector<UnitScratch *> scratches, size_t unit_bytes,
                      const Poll &poll) {
    if (all_start_at_0(scoring_, request_.free_ends)) return true;
    scratches_ = std::move(scratches);
    unit_bytes_ = unit_bytes;
    several_.resize(scratches_.size());
    std::vector<Box> boxes = prefixes(pairs);
    if (!sweep(boxes, Pass::start_cells, poll)) return false;
    boxes.clear();
    for (const std::vector<Box> &some : several_) boxes.insert(boxes.end(), some.begin(), some.end());
    return sweep(boxes, scoring_.pass, poll);
}

/// Return the part of the matrix before each pair's end cell. If it is empty, the start is set at once.
std::vector<Box> StartSearch::prefixes(const std::vector<uint32_t> &pairs) {
    std::vector<Box> boxes;
    boxes.reserve(pairs.size());
    const FreeEnds &free = request_.free_ends;
    for (const uint32_t pair : pairs) {
        const int32_t query = columns_.query_end[pair], target = columns_.target_end[pair];
        if (query > 0 && target > 0) {
            const bool straight = query_in_rows_alone(request_, pair);
            boxes.push_back({pair, 0, 0, straight ? query : target, straight ? target : query});
            continue;
        }
        switch (scoring_.mode) {
            case Mode::local:  // an empty alignment
                break;
            case Mode::global:  // one gap, or residues that overhang
                columns_.query_start[pair] = free.query_start ? query : 0;
                columns_.target_start[pair] = free.target_start ? target : 0;
        }
    }
    return boxes;
}

/// Return the narrowest lanes that hold the box's score.
int StartSearch::width_of(const Box &box) const {
    int width = 0;
    for (; width + 1 < kLaneWidths; ++width) {
        const int bits = kernels_.lanes[width]->bits;
        if (!fits(scoring_, bits)) continue;
        if (columns_.score[box.pair] <= most_score(scoring_, bits)) break;
    }
    return width;
}

/// Group boxes of similar sizes: sorted by rows they are cut into strips, and each strip, sorted by columns, into
/// parts of up to a vector (as leaves of a packed R-tree: Leutenegger, Lopez and Edgington 1997). The number of
/// strips makes rows and columns within a part differ equally:
///
///     columns  | a a | c |         four parts a to d of two strips
///              | a b | d |
///              | b b | d |
///                      rows
std::vector<StartSearch::Part> StartSearch::packed(std::vector<Box> &boxes, const Scoring &scoring,
                                                   size_t unit_bytes) const {
    const auto lanes = static_cast<size_t>(kernels_.vector_bytes);
    std::vector<std::vector<Box>> by_width(2 * kLaneWidths);  // the last bit of the index: is_straight
    for (const Box &box : boxes) by_width[2 * width_of(box) + is_straight(box)].push_back(box);
    boxes.clear();
    std::vector<Part> parts;
    for (int k = 2 * kLaneWidths - 1; k >= 0; --k) {
        std::vector<Box> &some = by_width[k];
        const int width = k / 2;
        std::sort(some.begin(), some.end(), [](const Box &a, const Box &b) { return a.rows > b.rows; });
        const auto strips = std::max<size_t>(1, std::lround(std::sqrt(static_cast<double>(some.size()) / lanes)));
        const size_t height = ((some.size() + strips - 1) / strips + lanes - 1) / lanes * lanes;
        for (size_t from = 0; from < some.size(); from += height)
            std::sort(some.begin() + from, some.begin() + std::min(from + height, some.size()),
                      [](const Box &a, const Box &b) { return a.columns > b.columns; });
        for (size_t from = 0; from < some.size();) {
            const size_t strip_end = std::min((from / height + 1) * height, some.size());
            size_t n = std::min(lanes, strip_end - from);
            auto needed = [&] {
                UnitSize size{0, 0, static_cast<int>(n), false};
                for (size_t k = from; k < from + n; ++k) {
                    size.rows = std::max<int64_t>(size.rows, some[k].rows);
                    size.columns = std::max<int64_t>(size.columns, some[k].columns);
                }
                size_t bytes = 0;
                for (int w = width; w < kLaneWidths; ++w)
                    if (fits(scoring, kernels_.lanes[w]->bits))
                        bytes = std::max(bytes, kernels_.lanes[w]->bytes(scoring, size));
                return bytes;
            };
            while (n > kLeastLanes && needed() > unit_bytes) n = std::max<size_t>(n / 2, kLeastLanes);
            const bool is_large = needed() > unit_bytes;
            if (is_large) n = 1;
            parts.push_back({boxes.size() + from, is_large ? 0 : static_cast<int>(n), width, k % 2 != 0});
            from += n;
        }
        boxes.insert(boxes.end(), some.begin(), some.end());
        some = {};
    }
    return parts;
}

bool StartSearch::is_straight(const Box &box) const {
    return scoring_.is_symmetric || query_in_rows_alone(request_, box.pair);
}

LanePair StartSearch::lane_of(const Box &box, Pass pass) const {
    LanePair lane = lane_pair(request_, box.pair, query_in_rows_alone(request_, box.pair));
    lane.rows = {lane.rows.codes + box.row, box.rows};
    lane.columns = {lane.columns.codes + box.column, box.columns};
    if (pass == Pass::start_cells) {  // reversed
        lane.free_rows_end = lane.free_rows_begin, lane.free_columns_end = lane.free_columns_begin;
        lane.free_rows_begin = lane.free_columns_begin = false;
    } else {  // an interior corner is not a free start: there only gaps lead to the box's corner
        lane.free_rows_end = lane.free_columns_end = false;
        lane.free_rows_begin &= box.column == 0, lane.free_columns_begin &= box.row == 0;
    }
    return lane;
}

/// Sweep all boxes; those with several starts are stored for the traceback.
bool StartSearch::sweep(std::vector<Box> &boxes, Pass pass, const Poll &poll) {
    const Scoring scoring = scoring_.with(pass), turned = oriented_(false).with(pass);
    const std::vector<Part> parts = packed(boxes, scoring, unit_bytes_);
    const bool walks = scoring.traced();
    std::vector<Box> large;
    for (const Part &part : parts)
        if (part.n == 0) large.push_back(boxes[part.begin]);
    const bool finished = parallel(
        static_cast<int>(scratches_.size()), static_cast<int64_t>(parts.size()), 1,
        [&](int thread, int64_t k) {
            const Part &part = parts[k];
            if (part.n == 0) return;
            Unit unit;
            unit.n_lanes = part.n, unit.shared_rows = unit.mirrored = false;
            int32_t known[kMaxLanes];
            for (int l = 0; l < part.n; ++l) {
                const Box &box = boxes[part.begin + l];
                unit.lane[l] = lane_of(box, scoring.pass);
                known[l] = columns_.score[box.pair];
            }
            run_widths(kernels_, part.query_in_rows ? scoring : turned, unit, part.width, walks ? nullptr : known,
                       *scratches_[thread], [&](int l, const LaneResult &result) {
                           keep(boxes[part.begin + l], result, walks ? nullptr : &several_[thread]);
                       });
        },
        [&](int64_t) { return poll(request_.n_pairs); });
    if (!finished) return false;
    for (const Box &box : large) {
        LaneResult result{};
        Buffer<uint32_t> path;
        const auto memory = static_cast<int64_t>(unit_bytes_ * scratches_.size());
        if (!kernels_.run_long(
                oriented_(is_straight(box)), lane_of(box, Pass::walk), static_cast<int>(scratches_.size()), memory,
                [&](int64_t) { return poll(request_.n_pairs); }, result, path))
            return false;
        keep(box, result, nullptr);
    }
    return true;
}

void StartSearch::keep(const Box &box, const LaneResult &result, std::vector<Box> *several) {
    const int32_t row = box.row + result.row_begin, column = box.column + result.column_begin;
    if (several && result.several_starts) {
        several->push_back({box.pair, row, column, box.rows - result.row_begin, box.columns - result.column_begin});
        return;
    }
    const bool straight = query_in_rows_alone(request_, box.pair);
    columns_.query_start[box.pair] = straight ? row : column;
    columns_.target_start[box.pair] = straight ? column : row;
}

}  // namespace tropalign
