// Bindings: the plan of a GPU's work, and results in the order of the pairs; names are in tropalign.pairwise.
#include "../pairwise/gpu_plan.hpp"

#include <nanobind/stl/array.h>

#include <cstring>
#include <memory>

#include "check.hpp"

using namespace nb::literals;

namespace tropalign {
namespace {

constexpr int kMostGroup = 1024, kMostRows = 65536;  // work-items of any device, rows of any kernel

using OutColumn = nb::ndarray<uint32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

void check_plan(const Column<int64_t> &query, const Column<int64_t> &target, const Column<int64_t> &length,
                const Column<int32_t> &rank, const Column<int64_t> &bound, int64_t extend, int64_t strip_cells,
                int word_bits, int group, const std::array<int, 3> &rows) {
    require(target.size() == query.size(), "query, target: arrays of unequal lengths");
    require(rank.size() == length.size() && bound.size() == length.size(),
            "length, rank, bound: arrays of unequal lengths");
    const auto n = static_cast<int64_t>(length.size());
    require(n <= INT32_MAX, "length: more than 2147483647 sequences");
    require_below(query.data(), query.size(), n, "query");
    require_below(target.data(), target.size(), n, "target");
    require_below(rank.data(), rank.size(), n, "rank");
    require_below(length.data(), length.size(), int64_t{INT32_MAX} + 1, "length");
    require_below(bound.data(), bound.size(), int64_t{1} << 62, "bound");
    require(extend >= 0 && extend <= INT32_MAX, "extend: outside of 0 to 2147483647");
    require(strip_cells > 0, "strip_cells: not above 0");
    require(word_bits == 16 || word_bits == 32, "word_bits: must be 16 or 32");
    require(group >= 1 && group <= kMostGroup, "group: outside of 1 to 1024");
    for (int n_rows : rows) require(n_rows >= 1 && n_rows <= kMostRows, "rows: outside of 1 to 65536");
}

List<Tuple<int, bool, int, Numpy<int32_t>, Numpy<int32_t>, Numpy<int64_t>, Numpy<int32_t>>> plan(
    Column<int64_t> query, Column<int64_t> target, Column<int64_t> length, Column<int32_t> rank, Column<int64_t> bound,
    int64_t wide_from, int64_t extend, int64_t strip_cells, std::array<bool, 4> free_ends, int word_bits, int group,
    std::array<int, 3> rows) {
    check_plan(query, target, length, rank, bound, extend, strip_cells, word_bits, group, rows);
    GpuPlanRequest request{query.data(),
                           target.data(),
                           static_cast<int64_t>(query.size()),
                           length.data(),
                           rank.data(),
                           bound.data(),
                           static_cast<int64_t>(length.size()),
                           wide_from,
                           extend,
                           strip_cells,
                           free_ends,
                           word_bits,
                           group,
                           rows};
    std::vector<GpuLaunch> launches;
    {
        nb::gil_scoped_release released;
        launches = plan_gpu(request);
    }
    nb::list out;
    for (GpuLaunch &launch : launches) {
        const size_t n_units = launch.units.size() / kGpuUnitInts, n_pairs = launch.pair.size();
        const auto lanes = static_cast<size_t>(group);
        out.append(
            nb::make_tuple(static_cast<int>(launch.source), launch.strips, launch.word_bits,
                           to_numpy(std::move(launch.units), std::array<size_t, 2>{n_units, kGpuUnitInts}),
                           to_numpy(std::move(launch.lanes), std::array<size_t, 3>{n_units, lanes, kGpuLaneInts}),
                           to_numpy(std::move(launch.pair), std::array<size_t, 1>{n_pairs}),
                           to_numpy(std::move(launch.where), std::array<size_t, 1>{n_pairs})));
    }
    return out;
}

void scatter_values(nb::ndarray<const int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu> values,
                    Column<int64_t> place, nb::ndarray<int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu> out) {
    const size_t n = place.size(), n_out = out.shape(1);
    require(values.shape(0) == out.shape(0) && values.shape(1) == n, "values, place, out: arrays of unequal shapes");
    require_below(place.data(), n, static_cast<int64_t>(n_out), "place");
    nb::gil_scoped_release released;
    for (size_t row = 0; row < out.shape(0); ++row)
        for (size_t k = 0; k < n; ++k) out.data()[row * n_out + place.data()[k]] = values.data()[row * n + k];
}

void scatter_runs(Column<uint32_t> runs, Column<int64_t> begin, Column<int64_t> place, Column<int64_t> offsets,
                  OutColumn out) {
    require(begin.size() == place.size() + 1, "begin, place: arrays of unequal lengths");
    require_offsets(begin.data(), static_cast<int64_t>(begin.size()), static_cast<int64_t>(runs.size()), "begin");
    require_offsets(offsets.data(), static_cast<int64_t>(offsets.size()), static_cast<int64_t>(out.size()), "offsets");
    require_below(place.data(), place.size(), static_cast<int64_t>(offsets.size()) - 1, "place");
    auto count = [&](size_t k) { return begin.data()[k + 1] - begin.data()[k]; };
    bool too_long = false;
    for (size_t k = 0; k < place.size(); ++k) {
        const int64_t *room = offsets.data() + place.data()[k];
        too_long |= count(k) > room[1] - room[0];
    }
    require(!too_long, "begin: the runs of a pair exceed its room");
    nb::gil_scoped_release released;
    for (size_t k = 0; k < place.size(); ++k)
        if (count(k))
            std::memcpy(out.data() + offsets.data()[place.data()[k]], runs.data() + begin.data()[k],
                        static_cast<size_t>(count(k)) * sizeof(uint32_t));
}

/// Return the constants shared by the plan and the kernels, with the names of tropalign.pairwise.gpu_plan.
nb::typed<nb::dict, nb::str, int> gpu_constants() {
    nb::dict out;
    out["COLUMNS"] = kGpuBlockColumns;
    out["UNIT_INTS"] = kGpuUnitInts;
    out["LANE_INTS"] = kGpuLaneInts;
    out["SOURCE_SHARED_ROWS"] = static_cast<int>(RowSource::shared_rows);
    out["SOURCE_SHARED_ROW"] = static_cast<int>(RowSource::shared_row);
    out["SOURCE_OWN_ROWS"] = static_cast<int>(RowSource::own_rows);
    out["FREE_ROWS_BEGIN"] = static_cast<int>(kGpuFreeRowsBegin);
    out["FREE_COLUMNS_BEGIN"] = 2 * kGpuFreeRowsBegin;
    out["FREE_ROWS_END"] = static_cast<int>(kGpuFreeRowsEnd);
    out["FREE_COLUMNS_END"] = 2 * kGpuFreeRowsEnd;
    out["MIRRORED"] = static_cast<int>(kGpuMirrored);
    return out;
}

}  // namespace
}  // namespace tropalign

void bind_gpu_plan(nb::module_ &m) {
    using namespace tropalign;
    nb::module_ testing = nb::cast<nb::module_>(m.attr("testing"));
    m.def("plan_gpu", &plan, array("query"), array("target"), array("length"), array("rank"), array("bound"),
          "wide_from"_a, "extend"_a, "strip_cells"_a, "free_ends"_a, "word_bits"_a, "group"_a, "rows"_a,
          "Plan units of work-groups for each kernel; see tropalign.pairwise.gpu_plan.");
    testing.def(
        "gpu_constants", &gpu_constants,
        "Return the constants shared by the plan and the kernels, with the names of tropalign.pairwise.gpu_plan.");
    m.def("scatter_values", &scatter_values, array("values"), array("place"), array("out"),
          "Copy column k of `values` to column place[k] of `out`.");
    m.def("scatter_runs", &scatter_runs, array("runs"), array("begin"), array("place"), array("offsets"), array("out"),
          "Copy runs begin[k] to begin[k + 1] to pair place[k], starting at its offset in `out`.");
}
