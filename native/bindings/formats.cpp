// Bindings: text formats; names and validation are in tropalign.formats.
#include <nanobind/stl/string.h>

#include <algorithm>
#include <memory>

#include "../compute/buffer.hpp"
#include "../formats/differences.hpp"
#include "../formats/gapped.hpp"
#include "../formats/numbers.hpp"
#include "../formats/rows.hpp"
#include "../formats/srspair.hpp"
#include "check.hpp"

using namespace nb::literals;

namespace tropalign {
namespace {

template <class T>
Column<T> column_of(nb::handle object, int64_t least, const char *what) {
    Column<T> column;
    if (!nb::try_cast(object, column, false))
        throw nb::type_error((std::string(what) + ": an array has the wrong type, or is not contiguous").c_str());
    if (static_cast<int64_t>(column.size()) < least)
        throw nb::value_error((std::string(what) + ": fewer items than there are rows").c_str());
    return column;
}

template <class T>
T cast_to(nb::handle object, const char *what) {
    T value{};
    if (!nb::try_cast(object, value)) throw nb::type_error(what);
    return value;
}

Numpy<uint8_t> bytes_as_numpy(std::vector<char> &&text) {
    auto owner = std::make_unique<std::vector<char>>(std::move(text));
    auto *data = reinterpret_cast<uint8_t *>(owner->data());
    size_t size = owner->size();
    nb::capsule keep(owner.release(), [](void *p) noexcept { delete static_cast<std::vector<char> *>(p); });
    return nb::cast(nb::ndarray<nb::numpy, uint8_t, nb::ndim<1>>(data, {size}, keep));
}

/// Return the column of a tuple: ("int32" | "int64", array, prefix), ("real", array, decimals, prefix),
/// ("shortest" | "evalue" | "bits", array, prefix), ("text", bytes, offsets, index or None, prefix), ("cigar",
/// operations, offsets, prefix) or ("constant", prefix).
RowColumn column_from(nb::tuple spec, int64_t n_rows) {
    require(spec.size() >= 2, "a column lacks a part");
    const auto kind = cast_to<std::string>(spec[0], "the kind of a column must be a str");
    auto item = [&](size_t k) {
        require(k + 1 < spec.size(), "a column lacks a part");
        return spec[k];
    };
    RowColumn column;
    column.prefix = cast_to<std::string>(spec[spec.size() - 1], "the prefix of a column must be a str");
    if (kind == "int32") {
        column.kind = RowColumn::int32;
        column.data = column_of<int32_t>(item(1), n_rows, "int32").data();
    } else if (kind == "int64") {
        column.kind = RowColumn::int64;
        column.data = column_of<int64_t>(item(1), n_rows, "int64").data();
    } else if (kind == "real") {
        column.kind = RowColumn::real;
        column.data = column_of<double>(item(1), n_rows, "real").data();
        column.decimals = cast_to<int>(item(2), "the decimals of a column must be an int");
        require(column.decimals >= 0 && column.decimals <= 9, "decimals must be 0 to 9");
    } else if (kind == "shortest" || kind == "evalue" || kind == "bits") {
        column.kind = kind == "shortest" ? RowColumn::shortest : kind == "evalue" ? RowColumn::evalue : RowColumn::bits;
        column.data = column_of<double>(item(1), n_rows, kind.c_str()).data();
    } else if (kind == "text") {
        auto data = column_of<uint8_t>(item(1), 0, "text");
        auto offsets = column_of<int64_t>(item(2), 1, "text offsets");
        column.kind = RowColumn::text;
        column.data = data.data(), column.data_size = static_cast<int64_t>(data.size());
        column.offsets = offsets.data(), column.n_items = static_cast<int64_t>(offsets.size()) - 1;
        if (!item(3).is_none()) column.index = column_of<int64_t>(item(3), n_rows, "text index").data();
    } else if (kind == "cigar") {
        auto data = column_of<uint32_t>(item(1), 0, "cigar");
        auto offsets = column_of<int64_t>(item(2), 1, "cigar offsets");
        column.kind = RowColumn::cigar;
        column.data = data.data(), column.data_size = static_cast<int64_t>(data.size());
        column.offsets = offsets.data(), column.n_items = static_cast<int64_t>(offsets.size()) - 1;
    } else if (kind != "constant") {
        throw nb::value_error(("unknown kind of column: " + kind).c_str());
    }
    return column;
}

/// Return text of up to `bound` bytes as Python bytes. The columns' arrays are held by the caller's list.
/// (Shortening an object in place is not in the limited API, with which one wheel serves Python from 3.12 on; a
/// copy costs less than writing the text.)
template <class Write>
nb::bytes bytes_of(size_t bound, Write &&write) {
    Buffer<char> text(bound);
    const char *end;
    {
        nb::gil_scoped_release released;
        end = write(text.data());
    }
    return nb::bytes(text.data(), static_cast<size_t>(end - text.data()));
}

std::vector<RowColumn> columns_from(nb::list specs, int64_t n_rows) {
    require(n_rows >= 0, "a negative number of rows");
    std::vector<RowColumn> columns;
    for (nb::handle spec : specs) {
        if (!nb::isinstance<nb::tuple>(spec)) throw nb::type_error("a column must be a tuple");
        columns.push_back(column_from(nb::borrow<nb::tuple>(spec), n_rows));
    }
    return columns;
}

nb::bytes join_rows(List<Tuple<Any, nb::ellipsis>> specs, int64_t n_rows, std::string separator,
                    std::string terminator) {
    auto columns = columns_from(specs, n_rows);
    RowLayout layout{separator, terminator};
    size_t bound;
    {
        nb::gil_scoped_release released;
        bound = bound_rows(columns, layout, n_rows);
    }
    return bytes_of(bound, [&](char *out) { return write_rows(columns, layout, n_rows, out); });
}

Tuple<nb::bytes, Numpy<int64_t>> column_text(Tuple<Any, nb::ellipsis> spec, int64_t n_rows) {
    nb::list specs;
    specs.append(spec);
    auto columns = columns_from(specs, n_rows);
    RowLayout layout{"", ""};
    const size_t bound = bound_rows(columns, layout, n_rows);
    std::vector<int64_t> offsets(static_cast<size_t>(n_rows) + 1);
    nb::bytes text =
        bytes_of(bound, [&](char *out) { return write_rows(columns, layout, n_rows, out, offsets.data()); });
    return nb::make_tuple(text, to_numpy(std::move(offsets)));
}

/// Return the arrays of an alignment list, which have the names of AlignedRows.
AlignedRows rows_from(nb::dict arrays) {
    AlignedRows rows{};
    auto begins = column_of<int64_t>(arrays["query_begin"], 0, "query_begin");
    rows.n_rows = static_cast<int64_t>(begins.size());
    rows.query_begin = begins.data();
    rows.target_begin = column_of<int64_t>(arrays["target_begin"], rows.n_rows, "target_begin").data();
    auto side = [&](const char *letters, const char *codes, const uint8_t *&l, const uint8_t *&c, int64_t &size) {
        auto a = column_of<uint8_t>(arrays[letters], 0, letters);
        size = static_cast<int64_t>(a.size());
        l = a.data(), c = column_of<uint8_t>(arrays[codes], size, codes).data();
    };
    side("query_letters", "query_codes", rows.query_letters, rows.query_codes, rows.query_size);
    side("target_letters", "target_codes", rows.target_letters, rows.target_codes, rows.target_size);
    auto operations = column_of<uint32_t>(arrays["operations"], 0, "operations");
    rows.operations = operations.data();
    auto offsets = column_of<int64_t>(arrays["offsets"], rows.n_rows + 1, "offsets");
    rows.offsets = offsets.data();
    require_offsets(rows.offsets, rows.n_rows + 1, static_cast<int64_t>(operations.size()), "offsets");
    if (!arrays["positive"].is_none())
        rows.positive = column_of<uint8_t>(arrays["positive"], 32 * 32, "positive").data();
    return rows;
}

Tuple<Numpy<uint8_t>, Numpy<uint8_t>, Numpy<uint8_t>, Numpy<int64_t>> gapped_text_python(Dict arrays,
                                                                                         bool wants_middle) {
    AlignedRows rows = rows_from(arrays);
    GappedText text;
    {
        nb::gil_scoped_release released;
        text = gapped_text(rows, wants_middle);
    }
    return nb::make_tuple(bytes_as_numpy(std::move(text.query)), bytes_as_numpy(std::move(text.middle)),
                          bytes_as_numpy(std::move(text.target)), to_numpy(std::move(text.offsets)));
}

nb::bytes srspair_records_python(Dict arrays, std::string scoring, std::string minus_scoring) {
    AlignedRows rows = rows_from(arrays);
    SrspairHeader header{};
    header.scoring = scoring;
    header.minus_scoring = minus_scoring;
    auto int32s = [&](const char *name) { return column_of<int32_t>(arrays[name], rows.n_rows, name).data(); };
    header.score = column_of<int64_t>(arrays["score"], rows.n_rows, "score").data();
    header.identical = int32s("n_identical"), header.similar = int32s("n_similar"), header.gaps = int32s("n_gaps");
    header.query_start = int32s("query_start"), header.target_start = int32s("target_start");
    if (!arrays["strand"].is_none()) header.strand = column_of<int8_t>(arrays["strand"], rows.n_rows, "strand").data();
    auto names = [&](const char *text, const char *offsets, const char *&data, const int64_t *&begins, int64_t &count) {
        auto bytes = column_of<uint8_t>(arrays[text], 0, text);
        auto at = column_of<int64_t>(arrays[offsets], 1, offsets);
        data = reinterpret_cast<const char *>(bytes.data()), begins = at.data();
        count = static_cast<int64_t>(at.size()) - 1;
        require_offsets(begins, count + 1, static_cast<int64_t>(bytes.size()), offsets);
    };
    names("query_names", "query_name_offsets", header.query_names, header.query_name_offsets, header.n_queries);
    names("target_names", "target_name_offsets", header.target_names, header.target_name_offsets, header.n_targets);
    header.query_index = column_of<int64_t>(arrays["query_index"], rows.n_rows, "query_index").data();
    header.target_index = column_of<int64_t>(arrays["target_index"], rows.n_rows, "target_index").data();
    return bytes_of(bound_srspair(rows, header), [&](char *out) { return write_srspair(rows, header, out); });
}

Tuple<nb::bytes, Numpy<int64_t>> differences_python(Dict arrays, Column<uint8_t> letters) {
    AlignedRows rows = rows_from(arrays);
    require(letters.size() == 256, "a table of letters must have 256 entries");
    std::vector<int64_t> offsets(static_cast<size_t>(rows.n_rows) + 1);
    nb::bytes text = bytes_of(bound_differences(rows),
                              [&](char *out) { return write_differences(rows, letters.data(), out, offsets.data()); });
    return nb::make_tuple(text, to_numpy(std::move(offsets)));
}

Tuple<nb::bytes, Numpy<int64_t>> mismatches_python(Dict arrays, Column<uint8_t> letters) {
    AlignedRows rows = rows_from(arrays);
    require(letters.size() == 256, "a table of letters has 256 entries");
    std::vector<int64_t> offsets(static_cast<size_t>(rows.n_rows) + 1);
    nb::bytes text = bytes_of(bound_mismatches(rows),
                              [&](char *out) { return write_mismatches(rows, letters.data(), out, offsets.data()); });
    return nb::make_tuple(text, to_numpy(std::move(offsets)));
}

std::optional<Numpy<double>> numbers_python(nb::bytes text) {
    auto values = read_numbers(static_cast<const char *>(text.data()), text.size());
    if (!values) return std::nullopt;
    return to_numpy(std::move(*values));
}

/// Write the values of residues into their columns, counted from `begin`: cells[row][column - begin].
void spread_residues(Column<uint8_t> values, Column<int32_t> columns, Column<int64_t> offsets, int32_t begin,
                     nb::ndarray<uint8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu> cells) {
    require(values.size() == columns.size(), "columns: must have a column per value");
    require_offsets(offsets.data(), static_cast<int64_t>(offsets.size()), static_cast<int64_t>(values.size()),
                    "offsets");
    require(cells.shape(0) + 1 == offsets.size(), "cells: must have a row per sequence");
    require(begin >= 0, "begin: below 0");
    const auto width = static_cast<int64_t>(cells.shape(1));
    nb::gil_scoped_release released;
    for (size_t row = 0; row + 1 < offsets.size(); ++row) {
        const int32_t *const first = columns.data() + offsets(row), *const last = columns.data() + offsets(row + 1);
        uint8_t *const out = cells.data() + row * static_cast<size_t>(width);
        for (const int32_t *at = std::lower_bound(first, last, begin); at < last && *at - begin < width; ++at)
            if (*at >= begin) out[*at - begin] = values.data()[at - columns.data()];
    }
}

}  // namespace
}  // namespace tropalign

void bind_formats(nb::module_ &m) {
    m.def("join_rows", &tropalign::join_rows, "columns"_a, "n_rows"_a, "separator"_a = "\t", "terminator"_a = "\n",
          "Write the columns as rows, in bytes; see tropalign.formats.rows.");
    m.def("column_text", &tropalign::column_text, "column"_a, "n_rows"_a,
          "Write one column as (bytes, offsets); see tropalign.formats.rows.");
    m.def("gapped_text", &tropalign::gapped_text_python, "arrays"_a, "wants_middle"_a = true,
          "Return the three lines of each alignment and their offsets; see tropalign.results.aligned_pairs.");
    m.def("srspair_records", &tropalign::srspair_records_python, "arrays"_a, "scoring"_a, "minus_scoring"_a,
          "Write alignments in EMBOSS's srspair format; see tropalign.formats.srspair.");
    m.def("differences", &tropalign::differences_python, "arrays"_a, tropalign::array("letters"),
          "Return the cs tag of each alignment as (bytes, offsets); see tropalign.results.aligned_pairs.");
    m.def("mismatches", &tropalign::mismatches_python, "arrays"_a, tropalign::array("letters"),
          "Return the MD tag of each alignment as (bytes, offsets); see tropalign.results.aligned_pairs.");
    m.def("numbers", &tropalign::numbers_python, "text"_a,
          "Return the numbers of a text; None if a word is not a finite decimal number.");
    m.def("spread_residues", &tropalign::spread_residues, tropalign::array("values"), tropalign::array("columns"),
          tropalign::array("offsets"), "begin"_a, tropalign::array("cells"),
          "Write values of the residues of an alignment into a table of some of its columns.");
}
