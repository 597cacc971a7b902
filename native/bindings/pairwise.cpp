// Python sees one function: align_pairs, over plain arrays. Validation and names live in tropalign.pairwise.
#include <nanobind/stl/tuple.h>

#include <cstring>
#include <memory>
#include <vector>

#include "../pairwise/dispatch.hpp"
#include "../pairwise/tile.hpp"
#include "check.hpp"
#include "pair_scoring.hpp"

using namespace nb::literals;

namespace tropalign {
namespace {

/// A checked copy of a batch, with kCodeMargin readable bytes on either side of the codes.
class OwnBatch {
  public:
    OwnBatch(const Column<uint8_t> &codes, const Column<int64_t> &offsets, const char *codes_name,
             const char *offsets_name)
        : codes_(codes.size() + 2 * kCodeMargin, kPadCode), offsets_(offsets.data(), offsets.data() + offsets.size()) {
        if (codes.size()) std::memcpy(codes_.data() + kCodeMargin, codes.data(), codes.size());
        require_codes(codes_.data() + kCodeMargin, codes.size(), kPadCode, codes_name);
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

nb::dict columns_as_dict(TileColumns &&columns, Depth depth) {
    nb::dict out;
    out["score"] = to_numpy(std::move(columns.score));
    if (depth != Depth::score) {
        out["query_start"] = to_numpy(std::move(columns.query_start));
        out["query_end"] = to_numpy(std::move(columns.query_end));
        out["target_start"] = to_numpy(std::move(columns.target_start));
        out["target_end"] = to_numpy(std::move(columns.target_end));
    }
    if (depth == Depth::alignment) {
#define X(count) out["n_" #count] = to_numpy(std::move(columns.count));
        TROPALIGN_COUNTS(X)
#undef X
        out["cigar_ops"] = to_numpy(std::move(columns.path));
        out["cigar_offsets"] = to_numpy(std::move(columns.path_offsets));
    }
    out["walk_seconds"] = columns.walk_seconds;
    out["unit_seconds"] = columns.unit_seconds;
    out["useful_cells"] = columns.useful_cells;
    out["swept_cells"] = columns.swept_cells;
    out["unit_bytes"] = columns.unit_bytes;
    return out;
}

nb::dict align_pairs(Column<uint8_t> query_codes, Column<int64_t> query_offsets, Column<uint8_t> target_codes,
                     Column<int64_t> target_offsets, Column<int64_t> query_index, Column<int64_t> target_index,
                     Matrix matrix, int32_t gap_open, int32_t gap_extend, const char *mode,
                     std::tuple<bool, bool, bool, bool> free_ends, int depth, int n_threads, int64_t memory_bytes,
                     nb::object progress) {
    require_threads(n_threads);
    require_progress(progress);
    require(depth >= 0 && depth <= 2, "depth: none of 0, 1 and 2");
    require(memory_bytes > 0, "memory_bytes: not above 0");
    require(query_index.size() == target_index.size(), "query_index, target_index: arrays of unequal lengths");
    const bool one_set = query_codes.data() == target_codes.data() && query_codes.size() == target_codes.size() &&
                         query_offsets.data() == target_offsets.data() && query_offsets.size() == target_offsets.size();
    const OwnBatch queries(query_codes, query_offsets, "query_codes", "query_offsets");
    std::unique_ptr<OwnBatch> own_targets;
    if (!one_set)
        own_targets = std::make_unique<OwnBatch>(target_codes, target_offsets, "target_codes", "target_offsets");
    const OwnBatch &targets = one_set ? queries : *own_targets;
    check_scoring(matrix, gap_open, gap_extend, std::max(queries.longest(), targets.longest()));
    TileRequest request;
    request.queries = queries.sequences(), request.targets = targets.sequences();
    require_below(query_index.data(), query_index.size(), request.queries.count, "query_index");
    require_below(target_index.data(), target_index.size(), request.targets.count, "target_index");
    request.query_index = query_index.data();
    request.target_index = target_index.data();
    request.n_pairs = static_cast<int64_t>(query_index.size());
    request.free_ends = {std::get<0>(free_ends), std::get<1>(free_ends), std::get<2>(free_ends),
                         std::get<3>(free_ends)};
    request.n_threads = n_threads;
    request.memory_bytes = memory_bytes;
    auto scoring =
        std::make_unique<Scoring>(mode_named(mode), static_cast<Depth>(depth), matrix.data(), gap_open, gap_extend);
    PythonPoll poll(progress);
    TileColumns columns;
    {
        nb::gil_scoped_release released;
        columns = align_tile(*selected_kernels(), *scoring, request, std::ref(poll));
    }
    poll.rethrow();
    return columns_as_dict(std::move(columns), scoring->depth);
}

}  // namespace
}  // namespace tropalign

void bind_pairwise(nb::module_ &m) {
    using namespace tropalign;
    m.def("align_pairs", &align_pairs, array("query_codes"), array("query_offsets"), array("target_codes"),
          array("target_offsets"), array("query_index"), array("target_index"), array("matrix"), "gap_open"_a,
          "gap_extend"_a, "mode"_a, "free_ends"_a, "depth"_a, "n_threads"_a, "memory_bytes"_a,
          "progress"_a.none() = nb::none(),
          "Aligns each pair (query_index[k], target_index[k]); see tropalign.pairwise.");
}
