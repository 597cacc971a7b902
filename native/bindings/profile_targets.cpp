// Bindings: the block of targets that every stage of a search uses.
#include <algorithm>
#include <array>

#include "../profiles/lengths.hpp"
#include "../profiles/targets.hpp"
#include "check.hpp"

using namespace nb::literals;

namespace tropalign {
namespace {

void make_block(TargetBlock *self, Column<uint8_t> codes, Column<int64_t> offsets) {
    const auto n_entries = static_cast<int64_t>(offsets.size());
    require_offsets(offsets.data(), n_entries, static_cast<int64_t>(codes.size()), "offsets");
    require(n_entries - 1 <= INT32_MAX, "offsets: more than 2147483647 sequences");
    if (longest_of(offsets.data(), n_entries, "offsets") > kLongestTarget)
        refuse("offsets: a sequence is longer than " + std::to_string(kLongestTarget));
    require_codes(codes.data(), codes.size(), kCodes, "codes");
    nb::gil_scoped_release released;
    new (self) TargetBlock(codes.data(), offsets.data(), static_cast<int32_t>(n_entries - 1));
}

/// Write the table's code of each byte; returns the OR of all codes.
uint8_t recoded(Column<uint8_t> letters, Column<uint8_t> table,
                nb::ndarray<uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu> codes) {
    require(table.size() == 256, "table: must have a code per byte");
    require(codes.size() == letters.size(), "codes: must be as many as letters");
    nb::gil_scoped_release released;
    return selected_recode_kernels()->recode(letters.data(), letters.size(), table.data(), codes.data());
}

/// Return a view, so that stages recognize consecutive targets of the block in parts of the view.
Numpy<int32_t> by_length(nb::handle self) {
    const Targets all = nb::cast<const TargetBlock &>(self).by_length();
    const size_t size = all.size();
    return nb::cast(nb::ndarray<nb::numpy, const int32_t>(all.data(), 1, &size, self));
}

}  // namespace
}  // namespace tropalign

void bind_profile_targets(nb::module_ &m) {
    using namespace tropalign;
    nb::class_<TargetBlock>(m, "TargetBlock",
                            "Targets of a search, in Easel's codes (0 to 28). Keeps the arrays, which must not change.")
        .def("__init__", &make_block, array("codes"), array("offsets"), nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>())
        .def_prop_ro("n_targets", &TargetBlock::size, "Return the number of targets.")
        .def("by_length", &by_length,
             "Return indices by ascending length, int32. Stages are fastest with this array or with neighbours in it.");
    m.def("recode", &recoded, array("letters"), array("table"), array("codes"),
          "Convert each byte to a code by a table of 256; returns the bitwise OR of all codes.");
}
