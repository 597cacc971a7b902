// Starts of alignments whose scores and end cells are known: a sweep back from the end, and a traceback through
// the rest if it is ambiguous. docs/exactness.md, "Starts", proves that this gives the start that the traceback of
// the whole matrix gives.
//
//     +---------------------+      end cell: from the sweep that found the score
//     |  . . . . . .        |      1. the part before the end is swept backwards (Pass::start_cells); each cell that
//     |  .+-------+.        |         reaches the score is a start
//     |  .| box   |.        |      2. if there are several, the smallest box with all of them is swept forwards and
//     |  .+-------o end     |         traced back (Pass::walk)
//     +---------------------+
#pragma once
#include <vector>

#include "tile.hpp"

namespace tropalign {

/// A part of a pair's matrix, with the longer sequence in the rows (orientation.hpp). It ends at the pair's end
/// cell.
struct Box {
    uint32_t pair;
    int32_t row, column;  // its first cell
    int32_t rows, columns;
};

class StartSearch {
  public:
    /// True if the request's ends are found faster this way than by tracebacks: if no start is free, or pairs are
    /// large.
    static bool suits(const Scoring &scoring, const TileRequest &request);

    /// The ends and scores are read from `columns`, and the starts written there.
    StartSearch(const Kernels &kernels, const OrientedScoring &scoring, const TileRequest &request,
                TileColumns &columns)
        : kernels_(kernels), oriented_(scoring), scoring_(scoring(true)), request_(request), columns_(columns) {}

    /// Find the starts of the listed pairs. scratches[t] is for thread t, with `unit_bytes` each. Returns false if
    /// `poll` stopped it.
    bool run(const std::vector<uint32_t> &pairs, std::vector<UnitScratch *> scratches, size_t unit_bytes,
             const Poll &poll);

  private:
    struct Part {
        size_t begin;  // index of its first box
        int n;         // 0: a single box that is too large for lanes
        int width;
        bool query_in_rows;
    };

    std::vector<Box> prefixes(const std::vector<uint32_t> &pairs);
    std::vector<Part> packed(std::vector<Box> &boxes, const Scoring &scoring, size_t unit_bytes) const;
    int width_of(const Box &box) const;
    LanePair lane_of(const Box &box, Pass pass) const;
    bool sweep(std::vector<Box> &boxes, Pass pass, const Poll &poll);
    /// True if the matrix is read with the query in the rows for the box's pair, and always if it is symmetric.
    bool is_straight(const Box &box) const;
    void keep(const Box &box, const LaneResult &result, std::vector<Box> *several);

    const Kernels &kernels_;
    const OrientedScoring &oriented_;
    const Scoring &scoring_;  // for computations in which the orientation does not matter
    const TileRequest &request_;
    TileColumns &columns_;
    std::vector<UnitScratch *> scratches_;
    size_t unit_bytes_ = 0;
    std::vector<std::vector<Box>> several_;  // of each thread
};

}  // namespace tropalign
