// Bindings: stores of posteriors; the rules are documented in tropalign.msa.consistency.
#include <nanobind/stl/optional.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "../msa/block_rows.hpp"
#include "../msa/consistency.hpp"
#include "../msa/store.hpp"
#include "check.hpp"
#include "store_use.hpp"

using namespace nb::literals;

namespace tropalign {
namespace {

void add(PosteriorStore &store, Array<int32_t, 2> pairs, Column<uint16_t> row_sizes, Column<uint16_t> columns,
         Column<uint16_t> values) {
    require(pairs.shape(1) == 2, "pairs: must have rows of 2 numbers");
    require(columns.size() == values.size(), "columns, values: must have equal sizes");
    const ChangesStore changes(store);
    store.add({pairs.data(), row_sizes.data(), columns.data(), values.data(), static_cast<int64_t>(pairs.shape(0)),
               static_cast<int64_t>(row_sizes.size()), static_cast<int64_t>(columns.size())});
}

void require_sequence(const PosteriorStore &store, int x, const char *name) {
    if (x < 0 || x >= store.n_sequences()) refuse(std::string(name) + ": not the index of a sequence");
}

bool has(const PosteriorStore &store, int x, int y) {
    require_sequence(store, x, "x");
    require_sequence(store, y, "y");
    const ReadsStore reads(store);
    return store.has(x, y);
}

template <class T>
Numpy<T> copied(const T *data, size_t size) {
    return to_numpy(std::vector<T>(data, data + size));
}

Tuple<Numpy<uint32_t>, Numpy<uint16_t>, Numpy<uint16_t>> matrix(const PosteriorStore &store, int x, int y) {
    require(has(store, x, y), "x, y: the pair has no posteriors");
    const ReadsStore reads(store);
    const SparseRows rows = store.rows(x, y);
    const size_t n_elements = rows.starts[rows.n_rows];
    return nb::make_tuple(copied(rows.starts, rows.n_rows + size_t{1}), copied(rows.columns, n_elements),
                          copied(rows.values, n_elements));
}

/// A function of pairs, sizes, places, members, weights, at_once and shift that returns a sum per element.
TROPALIGN_PYTHON_TYPE(ProductSums,
                      "collections.abc.Callable[[numpy.typing.NDArray[numpy.int32], "
                      "numpy.typing.NDArray[numpy.int32], numpy.typing.NDArray[numpy.uint16], "
                      "numpy.typing.NDArray[numpy.int32], numpy.typing.NDArray[numpy.int32], int, int], "
                      "numpy.typing.NDArray[numpy.int32]]")

/// Call a Python function for sums of products.
std::vector<int32_t> products_of(const ProductSums &products, const ProductRequest &request) {
    return calling_python([&] {
        const nb::object found =
            products(to_numpy(std::vector<int32_t>(request.pairs)), to_numpy(std::vector<int32_t>(request.sizes)),
                     to_numpy(std::vector<uint16_t>(request.places)), to_numpy(std::vector<int32_t>(request.members)),
                     to_numpy(std::vector<int32_t>(request.weights)), request.at_once, request.shift);
        Column<int32_t> sums;
        if (!nb::try_cast(found, sums) || sums.size() != request.places.size() / 2)
            refuse("products: must return an int32 per element");
        return std::vector<int32_t>(sums.data(), sums.data() + sums.size());
    });
}

void require_weights(const Column<double> &weights, const char *what) {
    require(std::all_of(weights.data(), weights.data() + weights.size(), [](double w) { return w >= 0 && w <= 1e6; }),
            what);
}

void relax_store(PosteriorStore &store, Column<double> weights, Column<int32_t> groups, double gain, double cutoff,
                 int n_threads, Progress progress, ProductSums products, std::optional<Column<double>> third_weights) {
    require_threads(n_threads);
    if (!products.is_none() && !PyCallable_Check(products.ptr())) throw nb::type_error("products: not callable");
    require_progress(progress);
    const auto n = static_cast<size_t>(store.n_sequences());
    require(weights.size() == n && groups.size() == n, "weights, groups: must have one per sequence");
    require_weights(weights, "weights: a number outside of 0 to 1000000");
    if (third_weights) {
        require(third_weights->size() == n, "third_weights: must have one per sequence");
        require_weights(*third_weights, "third_weights: a number outside of 0 to 1000000");
    }
    require(gain >= 0 && gain <= 1e6, "gain: outside of 0 to 1000000");
    require(cutoff >= 0 && cutoff <= 1, "cutoff: outside of 0 to 1");
    const ChangesStore changes(store);
    const auto least = static_cast<uint16_t>(std::max(1.0, std::ceil(cutoff * kPosteriorOne)));
    PythonPoll poll(progress);
    {
        nb::gil_scoped_release released;
        const ConsistencyRule rule{weights.data(), groups.data(), gain, least,
                                   third_weights ? third_weights->data() : nullptr};
        if (products.is_none()) relax(store, rule, n_threads, std::ref(poll));
        else
            relax_by(
                store, rule, n_threads, [&](const ProductRequest &asked) { return products_of(products, asked); },
                std::ref(poll));
    }
    poll.rethrow();
}

}  // namespace
}  // namespace tropalign

void bind_msa_store(nb::module_ &m) {
    using namespace tropalign;
    nb::class_<PosteriorStore>(m, "PosteriorStore", "Sparse posteriors of pairs; see native/msa/store.hpp.")
        .def(
            "__init__",
            [](PosteriorStore *self, Column<int32_t> lengths) {
                new (self) PosteriorStore(std::vector<int32_t>(lengths.data(), lengths.data() + lengths.size()));
            },
            array("lengths"))
        .def("add", &add, array("pairs"), array("row_sizes"), array("columns"), array("values"),
             "Add rows of the pairs' first sequences, as returned by pair_posteriors; all pairs or none.")
        .def("has", &has, "x"_a, "y"_a, "True if the pair has posteriors.")
        .def("matrix", &matrix, "x"_a, "y"_a,
             "Return copies of the starts of x's rows, and of columns and values of the elements.")
        .def("relax", &relax_store, array("weights"), array("groups"), "gain"_a, "cutoff"_a, "n_threads"_a,
             "progress"_a.none() = nb::none(), "products"_a.none() = nb::none(),
             nb::arg("third_weights").noconvert().none() = nb::none(),
             "Run one pass of consistency; see native/msa/consistency.hpp.")
        .def_prop_ro("n_pairs", &PosteriorStore::n_pairs, "Number of pairs that have posteriors.")
        .def_prop_ro("n_elements", &PosteriorStore::n_elements, "Number of elements of all pairs, each counted once.")
        .def_prop_ro("n_bytes", &PosteriorStore::n_bytes, "Memory in bytes.");
}

// Bindings: a store's posteriors in the layout of a GPU.

using namespace nb::literals;

namespace tropalign {
namespace {

Tuple<Numpy<int32_t>, Numpy<uint32_t>, Numpy<uint32_t>, Numpy<uint16_t>> blocks_of(const PosteriorStore &store) {
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
          "Return bases [n][n], blocks of rows, blocks [.][3] and values; see native/msa/block_rows.hpp.");
}
