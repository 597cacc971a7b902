// Pairs whose residues score by tables: a table of each pair over threads, several alignments per pair on request.
#pragma once
#include <vector>

#include "score_table.hpp"
#include "tile.hpp"

namespace tropalign {

struct TableRequest {
    TileRequest pairs;              // queries and targets count as letters of the alignments' columns
    std::vector<TableView> tables;  // one per pair
    Mode mode;
    Depth depth;
    double open, extend;
    int most;  // alignments per pair (local)
};

struct TableRows {
    TileColumns columns;
    std::vector<int64_t> pair;  // of each row
    std::vector<int32_t> rank;  // of each row among those of its pair, from 1
    std::vector<double> unit;   // of each row's score
};

/// A pair with its table, and the whole numbers that scores and costs become: multiples of `unit`.
struct TablePair {
    const TableView &table;
    LanePair lanes;
    bool query_in_rows;
    Mode mode;
    Depth depth;
    double unit;
    int32_t highest, open, extend;
    int most;
};

/// Return pair k of a request if `highest` is the highest score of its table, or 0 if none is above. Throws
/// std::invalid_argument if it is not finite, or sums of whole numbers may exceed 32 bits.
TablePair table_pair(const TableRequest &, int64_t k, double highest);

/// An alignment with its own path.
struct TableAlignment {
    LaneResult result;
    Buffer<uint32_t> path;
};

/// The alignments of a pair, and the unit of their scores.
struct TableAlignments {
    std::vector<TableAlignment> rows;
    double unit = 1;
};

/// Kernels of one instruction set.
struct TableKernels {
    /// Align pair k of the request `most` times, each time without the residue pairs of earlier alignments, as long as
    /// the score is above 0. Returns false if `poll` stopped it. Throws what table_pair throws.
    bool (*run)(const TableRequest &, int64_t k, int n_threads, const Poll &, TableAlignments &);
};

/// Return the kernels of the instruction set chosen at import.
const TableKernels *selected_table_kernels();

/// Align each pair by its table. Numbers of float32 are rounded to multiples of a power of two, so that results are
/// the same on every instruction set: the largest sum has 30 bits. Throws std::invalid_argument if a number is not
/// finite, or sums of whole numbers may exceed 32 bits.
TableRows align_tables(const TableKernels &, const TableRequest &, const Poll &);

}  // namespace tropalign
