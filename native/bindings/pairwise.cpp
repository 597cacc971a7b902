// Python sees one function: align_pairs, over plain arrays. Validation and names live in tropalign.pairwise.
#include <nanobind/stl/tuple.h>

#include <cstring>
#include <memory>
#include <vector>

#include "../pairwise/dispatch.hpp"
#include "../pairwise/tile.hpp"
#include "python.hpp"

using namespace nb::literals;

namespace tropalign {
namespace {

/// A copy of the codes with kCodeMargin readable bytes on either side.
std::vector<uint8_t> with_margins(const Column<uint8_t> &codes) {
    std::vector<uint8_t> copy(codes.size() + 2 * kCodeMargin, kPadCode);
    if (codes.size()) std::memcpy(copy.data() + kCodeMargin, codes.data(), codes.size());
    return copy;
}

nb::dict align_pairs(Column<uint8_t> query_codes, Column<int64_t> query_offsets, Column<uint8_t> target_codes,
                     Column<int64_t> target_offsets, Column<int64_t> query_index, Column<int64_t> target_index,
                     nb::ndarray<const int32_t, nb::shape<kLetters, kLetters>, nb::c_contig, nb::device::cpu> matrix,
                     int32_t gap_open, int32_t gap_extend, bool local, std::tuple<bool, bool, bool, bool> free_ends,
                     int depth, int n_threads, int64_t memory_bytes, nb::object progress) {
    if (n_threads < 1) throw nb::value_error("n_threads is below 1");
    const bool one_set = query_codes.data() == target_codes.data() && query_offsets.data() == target_offsets.data();
    std::vector<uint8_t> queries = with_margins(query_codes), targets;
    if (!one_set) targets = with_margins(target_codes);
    TileRequest request;
    request.queries = {queries.data() + kCodeMargin, query_offsets.data(), static_cast<int64_t>(query_offsets.size()) - 1};
    request.targets = {(one_set ? queries : targets).data() + kCodeMargin, target_offsets.data(),
                       static_cast<int64_t>(target_offsets.size()) - 1};
    request.query_index = query_index.data();
    request.target_index = target_index.data();
    request.n_pairs = static_cast<int64_t>(query_index.size());
    request.free_ends = {std::get<0>(free_ends), std::get<1>(free_ends), std::get<2>(free_ends), std::get<3>(free_ends)};
    request.n_threads = n_threads;
    request.memory_bytes = memory_bytes;
    auto scoring = std::make_unique<Scoring>(local ? Mode::local : Mode::global, static_cast<Depth>(depth),
                                             matrix.data(), gap_open, gap_extend);
    PythonPoll poll(progress);
    TileColumns columns;
    {
        nb::gil_scoped_release released;
        columns = align_tile(*selected_kernels(), *scoring, request, std::ref(poll));
    }
    poll.rethrow();
    nb::dict out;
    out["score"] = to_numpy(std::move(columns.score));
    if (depth >= 1) {
        out["query_start"] = to_numpy(std::move(columns.query_start));
        out["query_end"] = to_numpy(std::move(columns.query_end));
        out["target_start"] = to_numpy(std::move(columns.target_start));
        out["target_end"] = to_numpy(std::move(columns.target_end));
    }
    if (depth >= 2) {
        out["n_identical"] = to_numpy(std::move(columns.identical));
        out["n_similar"] = to_numpy(std::move(columns.similar));
        out["n_gaps"] = to_numpy(std::move(columns.gaps));
        out["n_columns"] = to_numpy(std::move(columns.columns));
        out["cigar_ops"] = to_numpy(std::move(columns.path));
        out["cigar_offsets"] = to_numpy(std::move(columns.path_offsets));
    }
    out["walk_seconds"] = columns.walk_seconds;
    out["unit_seconds"] = columns.unit_seconds;
    out["useful_cells"] = columns.useful_cells;
    out["swept_cells"] = columns.swept_cells;
    return out;
}

}  // namespace
}  // namespace tropalign

void bind_pairwise(nb::module_ &m) {
    m.def("align_pairs", &tropalign::align_pairs, "query_codes"_a, "query_offsets"_a, "target_codes"_a,
          "target_offsets"_a, "query_index"_a, "target_index"_a, "matrix"_a, "gap_open"_a, "gap_extend"_a, "local"_a,
          "free_ends"_a, "depth"_a, "n_threads"_a, "memory_bytes"_a, "progress"_a.none() = nb::none(),
          "Aligns each pair (query_index[k], target_index[k]); see tropalign.pairwise.");
}
