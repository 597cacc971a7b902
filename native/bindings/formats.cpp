#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include "../formats/rows.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace tropalign {
namespace {

template <class T>
using Column = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class T>
const T *checked(nb::handle object, int64_t least) {
    auto column = nb::cast<Column<T>>(object);
    if (static_cast<int64_t>(column.size()) < least) throw nb::value_error("a column is shorter than the number of rows");
    return column.data();
}

/// A column from Python: ("int32", array), ("int64", array), ("real", array, decimals), ("text", bytes array, offsets,
/// index or None), ("cigar", operations, offsets) or ("constant",), each followed by a prefix string.
RowColumn column_from(nb::tuple spec, int64_t n_rows) {
    auto kind = nb::cast<std::string>(spec[0]);
    RowColumn column;
    column.constant_text = nb::cast<std::string>(spec[spec.size() - 1]);
    if (kind == "int32") column.kind = RowColumn::int32, column.data = checked<int32_t>(spec[1], n_rows);
    else if (kind == "int64") column.kind = RowColumn::int64, column.data = checked<int64_t>(spec[1], n_rows);
    else if (kind == "real") {
        column.kind = RowColumn::real, column.data = checked<double>(spec[1], n_rows);
        column.decimals = nb::cast<int>(spec[2]);
    } else if (kind == "text") {
        column.kind = RowColumn::text, column.data = checked<uint8_t>(spec[1], 0);
        column.offsets = checked<int64_t>(spec[2], 1);
        if (!spec[3].is_none()) column.index = checked<int64_t>(spec[3], n_rows);
    } else if (kind == "cigar") {
        column.kind = RowColumn::cigar, column.data = checked<uint32_t>(spec[1], 0);
        column.offsets = checked<int64_t>(spec[2], n_rows + 1);
    } else if (kind == "constant") column.kind = RowColumn::constant;
    else throw nb::value_error("unknown kind of column");
    return column;
}

nb::bytes join_rows_python(nb::list specs, int64_t n_rows) {
    std::vector<RowColumn> columns;
    for (nb::handle spec : specs) columns.push_back(column_from(nb::cast<nb::tuple>(spec), n_rows));
    std::string text;
    {
        nb::gil_scoped_release released;
        text = join_rows(columns, n_rows);
    }
    return nb::bytes(text.data(), text.size());
}

}  // namespace
}  // namespace tropalign

void bind_formats(nb::module_ &m) {
    m.def("join_rows", &tropalign::join_rows_python, "columns"_a, "n_rows"_a,
          "Tab-separated rows of the columns; see tropalign.formats.rows.");
}
