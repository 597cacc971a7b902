// The starts of alignments whose scores and end cells are known: a sweep back from the end, and a walk through what is
// left to decide. docs/exactness.md, "Starts", says why that gives the start of the walk through the whole matrix.
//
//     +---------------------+      end cell: from the sweep that found the score
//     |  . . . . . .        |      1. the part before the end is swept backwards (Pass::start_cells); each cell that
//     |  .+-------+.        |         reaches the score is a start
//     |  .| box   |.        |      2. where several do, the smallest box with all of them is swept forwards and walked
//     |  .+-------o end     |         through (Pass::walk)
//     +---------------------+
#pragma once
#include <vector>

#include "tile.hpp"

namespace tropalign {

/// A part of a pair's matrix, the longer sequence along the rows (orientation.hpp). It ends at the pair's end cell.
struct Box {
    uint32_t pair;
    int32_t row, column;  // its first cell
    int32_t rows, columns;
};

class StartSearch {
  public:
    /// Whether the request's ends are sooner found so than by walks: where no start is free, or pairs are large.
    static bool suits(const Scoring &scoring, const TileRequest &request);

    /// The ends and scores are read from `columns`, and the starts written there.
    StartSearch(const Kernels &kernels, const OrientedScoring &scoring, const TileRequest &request,
                TileColumns &columns)
        : kernels_(kernels), oriented_(scoring), scoring_(scoring(true)), request_(request), columns_(columns) {}

    /// Finds the starts of the pairs listed. scratches[t] is for thread t, with `unit_bytes` each. False when `poll`
    /// stopped it.
    bool run(const std::vector<uint32_t> &pairs, std::vector<UnitScratch *> scratches, size_t unit_bytes,
             const Poll &poll);

  private:
    struct Part {
        size_t begin;  // of its boxes
        int n;         // 0: one box, too large for lanes
        int width;
        bool query_in_rows;
    };

    std::vector<Box> prefixes(const std::vector<uint32_t> &pairs);
    std::vector<Part> packed(std::vector<Box> &boxes, const Scoring &scoring, size_t unit_bytes) const;
    int width_of(const Box &box) const;
    LanePair lane_of(const Box &box, Pass pass) const;
    bool sweep(std::vector<Box> &boxes, Pass pass, const Poll &poll);
    /// Which way round the matrix is read for the box's pair; all boxes one way where it makes no difference.
    bool is_straight(const Box &box) const;
    void keep(const Box &box, const LaneResult &result, std::vector<Box> *several);

    const Kernels &kernels_;
    const OrientedScoring &oriented_;
    const Scoring &scoring_;  // where either way round will do
    const TileRequest &request_;
    TileColumns &columns_;
    std::vector<UnitScratch *> scratches_;
    size_t unit_bytes_ = 0;
    std::vector<std::vector<Box>> several_;  // of each thread
};

}  // namespace tropalign
