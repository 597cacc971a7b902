#include "float_tables.hpp"

#include <algorithm>

#include "search_model.hpp"

namespace tropalign {
namespace {

/// The float of node k in an array of Q quads that are `stride` floats apart.
float &place_of(float *quads, int32_t Q, int stride, int32_t k) {
    return quads[static_cast<size_t>((k - 1) % Q) * stride + (k - 1) / Q];
}

}  // namespace

FloatTables make_float_tables(const ProfileModel &model) {
    const int32_t M = model.M, Q = std::max(2, (M + kQuad - 1) / kQuad);
    const auto n = static_cast<size_t>(Q) * kQuad, row = static_cast<size_t>(M) + 1;
    FloatTables tables{M, Q, Buffer<float>(n * kDD), Buffer<float>(n), Buffer<float>(n * kCodes)};
    std::fill_n(tables.transitions.data(), n * kDD, 0.0f);
    std::fill_n(tables.deletes.data(), n, 0.0f);
    std::fill_n(tables.match_odds.data(), n * kCodes, 0.0f);
    for (int32_t k = 1; k <= M; ++k) {
        for (int t = 0; t < kDD; ++t)
            place_of(tables.transitions.data() + t * kQuad, Q, kDD * kQuad, k) = model.transitions[t * row + k];
        place_of(tables.deletes.data(), Q, kQuad, k) = model.transitions[kDD * row + k];
        for (int x = 0; x < kCodes; ++x)
            place_of(tables.match_odds.data() + x * n, Q, kQuad, k) = model.match_odds[x * row + k];
    }
    return tables;
}

const FloatTables &SearchModel::floats() const {
    return floats_.get([&] { return make_float_tables(plain_); });
}

}  // namespace tropalign
