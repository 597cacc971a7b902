// Lower limits of scores, from alignments along one diagonal: those next to the two diagonals that join the sequences'
// starts and their ends are the most likely ones.
#include <algorithm>
#include <cstdlib>

#include "../compute/parallel.hpp"
#include "pair_bounds.hpp"

namespace tropalign {
namespace {

constexpr int64_t kFloorsAtOnce = 64;
/// Steps to either side of both diagonals. If the first 2 * kReach diagonals of a pair fail, further ones seldom
/// succeed.
constexpr int32_t kReach = 4;

struct Costs {
    const int32_t *scores;
    int32_t open, extend;
    int32_t gap(int32_t residues) const { return residues ? open + extend * residues : 0; }
};

/// Return the score of the alignment that pairs residue i of the query with i + diagonal of the target.
int32_t along(const Costs &costs, const Letters &query, const Letters &target, int32_t diagonal) {
    const int32_t begin = std::max(0, -diagonal), end = std::min(query.length, target.length - diagonal);
    int32_t score = -costs.gap(std::abs(diagonal)) - costs.gap(std::abs(target.length - query.length - diagonal));
    for (int32_t i = begin; i < end; ++i) score += costs.scores[query.codes[i] * kLetters + target.codes[i + diagonal]];
    return score;
}

int32_t floor_of(const Costs &costs, const Letters &query, const Letters &target, int32_t enough) {
    const int32_t across = target.length - query.length;
    int32_t best = along(costs, query, target, across);
    for (int32_t step = 0; step <= kReach && best <= enough; ++step)
        for (const int32_t diagonal : {step, -step, across + step, across - step})
            if (best <= enough && diagonal < target.length && -diagonal < query.length)
                best = std::max(best, along(costs, query, target, diagonal));
    return best;
}

}  // namespace

void score_floors(const int32_t *scores, int32_t open, int32_t extend, const BoundRequest &request,
                  const int32_t *enough, int32_t *floor) {
    const Costs costs{scores, open, extend};
    const int64_t n_items = (request.n_pairs + kFloorsAtOnce - 1) / kFloorsAtOnce;
    parallel(request.n_threads, n_items, 1, [&](int, int64_t item) {
        const int64_t end = std::min((item + 1) * kFloorsAtOnce, request.n_pairs);
        for (int64_t k = item * kFloorsAtOnce; k < end; ++k)
            floor[k] = floor_of(costs, request.queries[request.query_index[k]],
                                request.targets[request.target_index[k]], enough[k]);
    });
}

}  // namespace tropalign
