#include "block_rows.hpp"

#include <stdexcept>

namespace tropalign {
namespace {

void append(const SparseRows &rows, BlockRows &out) {
    for (int32_t i = 0; i < rows.n_rows; ++i) {
        int32_t before = -1;
        for (uint32_t e = rows.starts[i]; e < rows.starts[i + 1]; ++e) {
            const int32_t block = rows.columns[e] / kBlockColumns;
            if (block != before) {
                before = block;
                out.blocks.insert(out.blocks.end(),
                                  {static_cast<uint32_t>(block), 0u, static_cast<uint32_t>(out.values.size())});
            }
            out.blocks[out.blocks.size() - 2] |= 1u << rows.columns[e] % kBlockColumns;
            out.values.push_back(rows.values[e]);
        }
        out.row_blocks.push_back(static_cast<uint32_t>(out.blocks.size() / 3));
    }
}

}  // namespace

BlockRows block_rows(const PosteriorStore &store) {
    const int n = store.n_sequences();
    BlockRows out;
    out.bases.assign(static_cast<size_t>(n) * n, -1);
    int64_t n_rows = 0, n_values = 0;
    for (int64_t k = 0; k < store.n_pairs(); ++k) {
        const SparseRows rows = store.forward(k);
        n_rows += int64_t{rows.n_rows} + rows.n_columns;
        n_values += 2 * int64_t{rows.starts[rows.n_rows]};
    }
    if (n_rows > INT32_MAX || n_values > UINT32_MAX) throw std::invalid_argument("store: too large for 32-bit numbers");
    out.row_blocks.reserve(n_rows + 1);
    out.values.reserve(n_values);
    out.row_blocks.push_back(0);
    for (int64_t k = 0; k < store.n_pairs(); ++k) {
        const auto [x, y] = store.pair(k);
        out.bases[static_cast<size_t>(x) * n + y] = static_cast<int32_t>(out.row_blocks.size() - 1);
        append(store.rows(x, y), out);
        out.bases[static_cast<size_t>(y) * n + x] = static_cast<int32_t>(out.row_blocks.size() - 1);
        append(store.rows(y, x), out);
    }
    return out;
}

}  // namespace tropalign
