// A store's posteriors as a GPU takes them.
#include "../msa/block_rows.hpp"
#include "check.hpp"
#include "store_use.hpp"

using namespace nb::literals;

namespace tropalign {
namespace {

nb::tuple blocks_of(const PosteriorStore &store) {
    const ReadsStore reads(store);
    BlockRows rows;
    {
        nb::gil_scoped_release released;
        rows = block_rows(store);
    }
    return nb::make_tuple(to_numpy(std::move(rows.bases)), to_numpy(std::move(rows.row_blocks)),
                          to_numpy(std::move(rows.blocks)), to_numpy(std::move(rows.values)));
}

}  // namespace
}  // namespace tropalign

void bind_msa_blocks(nb::module_ &m) {
    m.def("block_rows", &tropalign::blocks_of, "store"_a,
          "Bases [n][n], blocks of rows, blocks [.][3] and values; see native/msa/block_rows.hpp.");
}
