#include "consistency.hpp"

#include <algorithm>
#include <cmath>

#include "../compute/parallel.hpp"

namespace tropalign {
namespace {

/// The sequences z of a pair.
std::vector<int> between(const PosteriorStore &store, const ConsistencyRule &rule, PosteriorStore::Pair pair) {
    std::vector<int> found;
    if (rule.groups[pair.x] != rule.groups[pair.y]) return found;
    for (int z = 0; z < store.n_sequences(); ++z)
        if (z != pair.x && z != pair.y && rule.groups[z] == rule.groups[pair.x] && store.has(pair.x, z) &&
            store.has(pair.y, z))
            found.push_back(z);
    return found;
}

/// New values of a pair's elements; none where no z is between.
std::vector<uint16_t> relaxed(const PosteriorStore &store, const ConsistencyRule &rule, int64_t index) {
    const PosteriorStore::Pair pair = store.pair(index);
    const std::vector<int> others = between(store, rule, pair);
    if (others.empty()) return {};
    const SparseRows own = store.forward(index);
    const double own_weight = (rule.weights[pair.x] + rule.weights[pair.y]) * (1 + rule.gain * others.size());
    double total = own_weight;
    for (int z : others) total += rule.weights[z];
    std::vector<double> sum(own.starts[own.n_rows]);
    for (uint32_t e = 0; e < sum.size(); ++e) sum[e] = own_weight * own.values[e];
    std::vector<double> row(own.n_columns);
    for (int z : others) {
        const SparseRows first = store.rows(pair.x, z), second = store.rows(z, pair.y);
        const double weight = rule.weights[z] / kPosteriorOne;
        for (int32_t i = 0; i < own.n_rows; ++i) {
            for (uint32_t e = own.starts[i]; e < own.starts[i + 1]; ++e) row[own.columns[e]] = 0;
            for (uint32_t a = first.starts[i]; a < first.starts[i + 1]; ++a) {
                const int32_t k = first.columns[a];
                for (uint32_t b = second.starts[k]; b < second.starts[k + 1]; ++b)
                    row[second.columns[b]] += static_cast<double>(first.values[a]) * second.values[b];
            }
            for (uint32_t e = own.starts[i]; e < own.starts[i + 1]; ++e) sum[e] += weight * row[own.columns[e]];
        }
    }
    std::vector<uint16_t> values(sum.size());
    for (size_t e = 0; e < sum.size(); ++e)
        values[e] = static_cast<uint16_t>(std::min<double>(std::floor(sum[e] / total + 0.5), kPosteriorOne));
    return values;
}

}  // namespace

bool relax(PosteriorStore &store, const ConsistencyRule &rule, int n_threads, const Poll &poll) {
    std::vector<std::vector<uint16_t>> values(store.n_pairs());
    auto work = [&](int, int64_t index) { values[index] = relaxed(store, rule, index); };
    if (!parallel(n_threads, store.n_pairs(), 1, work, poll)) return false;
    parallel(n_threads, store.n_pairs(), 1, [&](int, int64_t index) {
        if (!values[index].empty()) store.replace(index, values[index].data(), rule.least);
        values[index] = {};
    });
    store.count_elements();
    return true;
}

}  // namespace tropalign
