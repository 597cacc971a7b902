// Places random reads on random branches and compares the vectors' scores of every word width with those of the plain
// walk, and pruned ones with all. Prints how many scores were compared, or what differs.
#include <cstdio>
#include <random>

#include "../../native/phylo/dispatch.hpp"
#include "../../native/phylo/paths.hpp"
#include "../../native/phylo/prune.hpp"
#include "../../native/phylo/scores.hpp"

using namespace tropalign;

int main() {
    std::mt19937 random(1);
    auto below = [&](unsigned n) { return static_cast<uint32_t>(random() % n); };
    const PlaceKernels &kernels = *selected_place_kernels();
    const uint32_t sets[16] = {15, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    auto always = [](int64_t) { return true; };
    long compared = 0;
    for (int round = 0; round < 6; ++round) {
        const int64_t n_vectors = 5 + 40 * round, n_empty = round % 4, n_columns = 40 + 4 * round;
        const int64_t n_groups = (n_vectors + kPlaceLanes - 1) / kPlaceLanes;
        std::vector<uint64_t> words(n_groups * n_columns * 5);
        for (int64_t lane = 0; lane < n_groups * kPlaceLanes; ++lane) {
            // Neighbours are alike.
            random.seed(static_cast<unsigned>(1000 * round + std::min(lane, n_vectors - 1) / 3));
            for (int64_t a = n_empty; a < n_columns; ++a) {
                const uint32_t value = 1u << below(4) | (below(3) ? 0 : 16) | (below(5) ? 0 : below(16));
                for (int plane = 0; plane < 5; ++plane)
                    words[((lane / kPlaceLanes) * n_columns + a) * 5 + plane] |=
                        static_cast<uint64_t>(value >> plane & 1) << lane % kPlaceLanes;
            }
        }
        const ReferencePlanes planes{words.data(), n_vectors, n_groups, n_columns, 4, static_cast<int>(n_empty)};
        random.seed(77 + round);
        std::vector<uint8_t> codes;
        std::vector<int64_t> offsets{0};
        for (int k = 0; k < 6; ++k) {
            for (uint32_t b = 1 + below(30); b; --b) codes.push_back(static_cast<uint8_t>(1u << below(4)));
            offsets.push_back(static_cast<int64_t>(codes.size()));
        }
        const ReadBatch reads{codes.data(), offsets.data(), 6, sets, 16};
        std::vector<int32_t> whole, window(12);
        for (int k = 0; k < 6; ++k) whole.insert(whole.end(), {0, static_cast<int32_t>(n_columns - n_empty)});
        const PlaceScoring program{2, 0, -3, 3, 1, 3, 1, false}, paper{0, -3, -3, 4, 1, 3, 3, true};
        for (const PlaceScoring &scoring : {program, paper})
            for (int bits : {8, 16, 32}) {
                if (bits == 8 && scoring.whole_read) continue;
                std::vector<int32_t> score(6 * n_groups * kPlaceLanes), best(score.size());
                std::vector<int32_t> column(codes.size()), walked(6);
                place_scores(kernels, scoring, planes, reads, 1, bits, score.data(), always);
                for (int64_t v = 0; v < n_vectors; v += 7) {
                    const std::vector<int64_t> rows(6, v);
                    place_paths(scoring, planes, reads, rows.data(), whole.data(), 1, column.data(), walked.data());
                    for (int k = 0; k < 6; ++k, ++compared)
                        if (score[k * n_groups * kPlaceLanes + v] != walked[k])
                            return std::printf("%d bits differ\n", bits), 1;
                }
                if (bits == 32 || !can_prune(scoring)) continue;
                std::atomic<int64_t> cells{0};
                auto highest = [&](const std::vector<int32_t> &of, int k) {
                    const auto first = of.begin() + k * n_groups * kPlaceLanes;
                    return *std::max_element(first, first + n_vectors);
                };
                const BranchBounds bounds = make_bounds(planes);
                for (int n_strands : {1, 2}) {  // with two, read k + 3 counts as the other strand of read k
                    std::vector<int8_t> strand(6);
                    place_best_scores(kernels, scoring, planes, bounds, reads, n_strands, bits, 2, 1, best.data(),
                                      window.data(), strand.data(), cells, always);
                    for (int k = 0; k < 6 / n_strands; ++k) {
                        const int32_t own = highest(score, k), other = n_strands == 2 ? highest(score, k + 3) : 0;
                        if (highest(best, k) != std::max(own, other) || strand[k] != (other > own))
                            return std::printf("pruning differs\n"), 1;
                    }
                }
            }
    }
    std::printf("%ld\n", compared);
}
