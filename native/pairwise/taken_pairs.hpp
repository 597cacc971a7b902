// Pairs of residues used by earlier alignments, for the next alignment of the same two sequences (Waterman and
// Eggert 1987): no diagonal step leads to their cells. Gaps may cross them.
#pragma once
#include <cstdint>
#include <vector>

#include "interface.hpp"

namespace tropalign {

/// Alignments of the pairs of a tile: pair k has those of [offsets[k], offsets[k + 1]).
struct TakenPaths {
    const int64_t *offsets;
    const int32_t *query_start, *target_start;
    const int64_t *path_offsets;  // of alignment a: path[path_offsets[a]] up to path[path_offsets[a + 1]], exclusive
    const uint32_t *path;         // length << 4 | operation, as in LaneResult; the query's residues alone have code 1
};

/// The cells of one pair's alignments by anti-diagonal; an alignment has at most one cell on each:
///
///     row      1 . . .        d = row + column:   2 3 4 5 6 7
///              . 2 . .        columns_[d - 2]     1 0 2 0 0 4
///              . . - 3
class TakenPairs {
  public:
    TakenPairs(const TakenPaths &paths, int64_t pair, bool query_in_rows) {
        for (int64_t a = paths.offsets[pair]; a < paths.offsets[pair + 1]; ++a) {
            const int32_t query = paths.query_start[a], target = paths.target_start[a];
            Lines lines{query_in_rows ? query : target, query_in_rows ? target : query};
            const uint32_t only_row = query_in_rows ? kOnlyQuery : kOnlyTarget;
            for (int64_t k = paths.path_offsets[a]; k < paths.path_offsets[a + 1]; ++k)
                lines.add(paths.path[k] & 15, paths.path[k] >> 4, only_row);
            lines_.push_back(std::move(lines));
        }
    }

    /// Call each(column) for the cells of anti-diagonal d.
    template <class Each>
    void for_line(int64_t d, Each each) const {
        for (const Lines &lines : lines_) {
            const int64_t k = d - lines.first;
            if (k >= 0 && k < static_cast<int64_t>(lines.columns.size()) && lines.columns[k]) each(lines.columns[k]);
        }
    }

  private:
    static constexpr uint32_t kOnlyQuery = 1, kOnlyTarget = 2;  // BAM codes

    struct Lines {
        int64_t first;                 // first anti-diagonal on which it may have a cell
        std::vector<int32_t> columns;  // 0: no cell
        int32_t column;

        Lines(int32_t row_begin, int32_t column_begin)
            : first(int64_t{row_begin} + column_begin + 2), column(column_begin) {}

        void add(uint32_t operation, uint32_t length, uint32_t only_row) {
            if (operation == kOnlyQuery || operation == kOnlyTarget) {
                columns.insert(columns.end(), length, 0);
                if (operation != only_row) column += static_cast<int32_t>(length);
                return;
            }
            for (uint32_t k = 0; k < length; ++k) columns.push_back(++column), columns.push_back(0);
        }
    };
    std::vector<Lines> lines_;
};

}  // namespace tropalign
