// Python sees the plan of a GPU's work, and results put in the order of the pairs. Names live in tropalign.pairwise.
#include <nanobind/stl/array.h>

#include <cstring>
#include <memory>

#include "../pairwise/gpu_plan.hpp"
#include "python.hpp"

using namespace nb::literals;

namespace tropalign {
namespace {

using OutColumn = nb::ndarray<uint32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

nb::list plan(Column<int64_t> query, Column<int64_t> target, Column<int64_t> length, Column<int32_t> rank,
              Column<int64_t> bound, int64_t wide_from, int64_t extend, int64_t strip_cells,
              std::array<bool, 4> free_ends, int word_bits, int group, std::array<int, 3> rows) {
    if (target.size() != query.size() || rank.size() != length.size() || bound.size() != length.size())
        throw nb::value_error("arrays of unequal lengths");
    GpuPlanRequest request{query.data(), target.data(), static_cast<int64_t>(query.size()), length.data(), rank.data(),
                           bound.data(), static_cast<int64_t>(length.size()), wide_from, extend,
                           strip_cells, free_ends, word_bits, group, rows};
    std::vector<GpuLaunch> launches;
    {
        nb::gil_scoped_release released;
        launches = plan_gpu(request);
    }
    nb::list out;
    for (GpuLaunch &launch : launches) {
        const size_t n_units = launch.units.size() / kGpuUnitInts, n_pairs = launch.pair.size();
        const auto lanes = static_cast<size_t>(group);
        out.append(nb::make_tuple(
            static_cast<int>(launch.source), launch.strips, launch.word_bits,
            to_numpy(std::move(launch.units), std::array<size_t, 2>{n_units, kGpuUnitInts}),
            to_numpy(std::move(launch.lanes), std::array<size_t, 3>{n_units, lanes, kGpuLaneInts}),
            to_numpy(std::move(launch.pair), std::array<size_t, 1>{n_pairs}),
            to_numpy(std::move(launch.where), std::array<size_t, 1>{n_pairs})));
    }
    return out;
}

void place_values(nb::ndarray<const int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu> values, Column<int64_t> place,
                  nb::ndarray<int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu> out) {
    const size_t n = place.size(), n_out = out.shape(1);
    if (values.shape(0) != out.shape(0) || values.shape(1) != n) throw nb::value_error("arrays of unequal shapes");
    nb::gil_scoped_release released;
    for (size_t row = 0; row < out.shape(0); ++row)
        for (size_t k = 0; k < n; ++k) out.data()[row * n_out + place.data()[k]] = values.data()[row * n + k];
}

void place_runs(Column<uint32_t> runs, Column<int64_t> begin, Column<int64_t> place, Column<int64_t> offsets, OutColumn out) {
    if (begin.size() != place.size() + 1) throw nb::value_error("arrays of unequal lengths");
    nb::gil_scoped_release released;
    for (size_t k = 0; k < place.size(); ++k) {
        const auto count = static_cast<size_t>(begin.data()[k + 1] - begin.data()[k]);
        if (count) std::memcpy(out.data() + offsets.data()[place.data()[k]], runs.data() + begin.data()[k], count * sizeof(uint32_t));
    }
}

/// What the plan and the kernels agree on, by the names of tropalign.pairwise.gpu_layout.
nb::dict gpu_constants() {
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
    m.def("plan_gpu", &tropalign::plan, "query"_a, "target"_a, "length"_a, "rank"_a, "bound"_a, "wide_from"_a,
          "extend"_a, "strip_cells"_a, "free_ends"_a, "word_bits"_a, "group"_a, "rows"_a,
          "Units of work-groups for each kernel; see tropalign.pairwise.gpu_plan.");
    m.def("gpu_constants", &tropalign::gpu_constants,
          "Numbers that the plan and the kernels agree on, by the names of tropalign.pairwise.gpu_layout.");
    m.def("place_values", &tropalign::place_values, "values"_a, "place"_a, "out"_a,
          "Column k of `values` becomes column place[k] of `out`.");
    m.def("place_runs", &tropalign::place_runs, "runs"_a, "begin"_a, "place"_a, "offsets"_a, "out"_a,
          "Runs begin[k] to begin[k + 1] become those of pair place[k], which begin at its offset in `out`.");
}
