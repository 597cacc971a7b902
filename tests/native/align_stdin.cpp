// Aligns every pair of the sequences of standard input with the kernels it is built with, without Python.
//
// Input, words apart: mode (0 local, 1 global), open, extend, the four free ends (0 or 1), 32 x 32 scores, the number
// of sequences, and each of them as letters of which @ is code 0, A code 1 and so on. Output, a line per pair: score,
// query start and end, target start and end, identical, similar, gaps, columns, and the path's runs.
#include <iostream>
#include <string>
#include <vector>

#include "../../native/pairwise/dispatch.hpp"
#include "../../native/pairwise/tile.hpp"

using namespace tropalign;

int main() {
    int mode, open, extend, free_ends[4];
    std::cin >> mode >> open >> extend;
    for (int &end : free_ends) std::cin >> end;
    std::vector<int32_t> scores(kLetters * kLetters);
    for (int32_t &score : scores) std::cin >> score;
    int64_t count;
    std::cin >> count;
    std::vector<uint8_t> codes(kCodeMargin, kPadCode);
    std::vector<int64_t> offsets{0}, query, target;
    for (int64_t k = 0; k < count; ++k) {
        std::string letters;
        std::cin >> letters;
        for (char letter : letters) codes.push_back(static_cast<uint8_t>(letter - '@'));
        offsets.push_back(static_cast<int64_t>(codes.size()) - kCodeMargin);
        for (int64_t before = 0; before < k; ++before) query.push_back(before), target.push_back(k);
    }
    codes.insert(codes.end(), kCodeMargin, kPadCode);
    const Scoring scoring(static_cast<Mode>(mode), Depth::alignment, scores.data(), open, extend);
    TileRequest request{};
    request.queries = request.targets = {codes.data() + kCodeMargin, offsets.data(), count};
    request.query_index = query.data(), request.target_index = target.data();
    request.n_pairs = static_cast<int64_t>(query.size());
    request.free_ends = {free_ends[0] != 0, free_ends[1] != 0, free_ends[2] != 0, free_ends[3] != 0};
    request.n_threads = 2;
    request.memory_bytes = int64_t{64} << 20;
    TileColumns out = align_tile(*selected_kernels(), scoring, request, [](int64_t) { return true; });
    for (int64_t k = 0; k < request.n_pairs; ++k) {
        for (auto *column : {&out.score, &out.query_start, &out.query_end, &out.target_start, &out.target_end,
                             &out.identical, &out.similar, &out.gaps, &out.columns})
            std::cout << (*column)[k] << ' ';
        for (int64_t run = out.path_offsets[k]; run < out.path_offsets[k + 1]; ++run) std::cout << out.path[run] << ' ';
        std::cout << '\n';
    }
}
