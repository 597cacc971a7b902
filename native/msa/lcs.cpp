#include "lcs.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "../compute/buffer.hpp"
#include "../compute/parallel.hpp"
#include "../simd/dispatch.hpp"

namespace tropalign {

TROPALIGN_DISPATCH(LcsKernels, lcs_kernels)

namespace {

/// Masks and words of one thread.
struct LcsScratch {
    Buffer<uint64_t> masks, state;
    std::vector<int32_t> found[2];
};

int words_of(int64_t length) {
    return static_cast<int>(std::max<int64_t>((length + kLcsResidues - 1) / kLcsResidues, 1));
}

uint64_t *at_least(Buffer<uint64_t> &buffer, size_t size) {
    if (buffer.size() < size) buffer = Buffer<uint64_t>(size + size / 4);
    return buffer.data();
}

/// Fill the masks of up to n_lanes sequences.
LcsLanes lanes_of(const LcsSequences &sequences, int n_codes, const int32_t *xs, int count, int n_lanes,
                  LcsScratch &scratch) {
    int64_t longest = 0;
    for (int lane = 0; lane < count; ++lane) longest = std::max(longest, sequences.length(xs[lane]));
    const int n_words = words_of(longest);
    const size_t row = static_cast<size_t>(n_words) * n_lanes;
    uint64_t *masks = at_least(scratch.masks, kLcsCodes * row);
    std::memset(masks, 0, kLcsCodes * row * sizeof *masks);
    for (int lane = 0; lane < count; ++lane) {
        const uint8_t *letters = sequences.of(xs[lane]);
        for (int64_t i = 0, length = sequences.length(xs[lane]); i < length; ++i)
            if (letters[i] < n_codes)
                masks[letters[i] * row + i / kLcsResidues * n_lanes + lane] |= uint64_t{1} << i % kLcsResidues;
    }
    return {masks, n_words};
}

/// Call take(lane, y, length) for the lanes of the sequences xs against each of ys.
template <class Take>
void lanes_against(const LcsKernels &kernels, const LcsSequences &sequences, int n_codes, const int32_t *xs, int count,
                   const int32_t *ys, int64_t n_ys, LcsScratch &scratch, Take take) {
    const LcsLanes lanes = lanes_of(sequences, n_codes, xs, count, kernels.n_lanes, scratch);
    uint64_t *state = at_least(scratch.state, 2 * static_cast<size_t>(lanes.n_words) * kernels.n_lanes);
    for (auto &found : scratch.found) found.resize(kernels.n_lanes);
    int32_t *const lengths[2] = {scratch.found[0].data(), scratch.found[1].data()};
    for (int64_t k = 0; k < n_ys; k += 2) {
        const bool both = k + 1 < n_ys;
        const uint8_t *const letters[2] = {sequences.of(ys[k]), both ? sequences.of(ys[k + 1]) : nullptr};
        const int64_t n_letters[2] = {sequences.length(ys[k]), both ? sequences.length(ys[k + 1]) : 0};
        kernels.lengths(lanes, letters, n_letters, state, lengths);
        for (int s = 0; s <= both; ++s)
            for (int lane = 0; lane < count; ++lane) take(lane, k + s, lengths[s][lane]);
    }
}

std::vector<int32_t> by_length(const LcsSequences &sequences, std::vector<int32_t> which) {
    std::stable_sort(which.begin(), which.end(),
                     [&](int32_t a, int32_t b) { return sequences.length(a) < sequences.length(b); });
    return which;
}

}  // namespace

bool lcs_lengths(const LcsSequences &sequences, int n_codes, const std::vector<int32_t> &rows,
                 const std::vector<int32_t> &columns, const uint8_t *wanted, int n_threads, int32_t *out,
                 const Poll &poll) {
    const LcsKernels &kernels = *selected_lcs_kernels();
    const auto n_rows = static_cast<int64_t>(rows.size()), n_columns = static_cast<int64_t>(columns.size());
    const auto wants = [&](int64_t row, int64_t column) { return wanted[row * n_columns + column] != 0; };
    // Neighbours share vectors, so put rows of similar lengths, or that need the same columns, next to each other.
    std::vector<int64_t> key(n_rows);
    for (int64_t row = 0; row < n_rows; ++row) {
        if (!wanted) {
            key[row] = sequences.length(rows[row]);
            continue;
        }
        const uint8_t *own = wanted + row * n_columns;
        key[row] = std::find_if(own, own + n_columns, [](uint8_t is) { return is != 0; }) - own;
    }
    std::vector<int32_t> place(rows.size());
    std::iota(place.begin(), place.end(), 0);
    std::stable_sort(place.begin(), place.end(), [&](int32_t a, int32_t b) { return key[a] < key[b]; });
    // Rows without wanted columns are last: a long one would make its neighbours' vectors as long.
    while (wanted && !place.empty() && key[place.back()] == n_columns) place.pop_back();
    const auto n_places = static_cast<int64_t>(place.size());
    const int64_t n_blocks = (n_places + kernels.n_lanes - 1) / kernels.n_lanes;
    std::vector<LcsScratch> scratch(n_threads);
    return parallel(
        n_threads, n_blocks, 1,
        [&](int thread, int64_t block) {
            const int64_t begin = block * kernels.n_lanes;
            const int count = static_cast<int>(std::min<int64_t>(kernels.n_lanes, n_places - begin));
            std::vector<int32_t> xs(count);
            for (int lane = 0; lane < count; ++lane) xs[lane] = rows[place[begin + lane]];
            if (!wanted) {
                lanes_against(
                    kernels, sequences, n_codes, xs.data(), count, columns.data(), n_columns, scratch[thread],
                    [&](int lane, int64_t k, int32_t length) { out[place[begin + lane] * n_columns + k] = length; });
                return;
            }
            std::vector<int32_t> ys, number;  // the columns that any lane needs, and their numbers
            for (int64_t column = 0; column < n_columns; ++column)
                for (int lane = 0; lane < count; ++lane)
                    if (wants(place[begin + lane], column)) {
                        ys.push_back(columns[column]);
                        number.push_back(static_cast<int32_t>(column));
                        break;
                    }
            lanes_against(kernels, sequences, n_codes, xs.data(), count, ys.data(), static_cast<int64_t>(ys.size()),
                          scratch[thread], [&](int lane, int64_t k, int32_t length) {
                              const int64_t row = place[begin + lane];
                              if (wants(row, number[k])) out[row * n_columns + number[k]] = length;
                          });
        },
        poll);
}

float LcsChance::distance(int32_t lcs, int64_t m, int64_t n) const {
    const auto shorter = static_cast<double>(std::min(m, n)), longer = static_cast<double>(std::max(m, n));
    const int bin = std::min(kBins - 1, static_cast<int>(kBinsPerDoubling * std::log2(longer / shorter)));
    const double expected = share[bin] * shorter, beyond = (lcs - expected) / (shorter - expected);
    return static_cast<float>(1 - std::clamp(beyond, -1.0, 1.0));
}

bool lcs_distances(const LcsSequences &sequences, int64_t n, int n_codes, const LcsChance &chance, int n_threads,
                   float *out, const Poll &poll) {
    const LcsKernels &kernels = *selected_lcs_kernels();
    std::vector<int32_t> all(n);
    std::iota(all.begin(), all.end(), 0);
    const std::vector<int32_t> order = by_length(sequences, std::move(all));
    const int64_t n_blocks = (n + kernels.n_lanes - 1) / kernels.n_lanes;
    std::vector<LcsScratch> scratch(n_threads);
    return parallel(
        n_threads, n_blocks, 1,
        [&](int thread, int64_t block) {
            const int64_t begin = block * kernels.n_lanes;
            const int count = static_cast<int>(std::min<int64_t>(kernels.n_lanes, n - begin));
            const int32_t *xs = order.data() + begin, *ys = xs + 1;
            lanes_against(kernels, sequences, n_codes, xs, count, ys, n - begin - 1, scratch[thread],
                          [&](int lane, int64_t k, int32_t length) {
                              if (k + 1 <= lane) return;  // within the block both orders occur
                              const int64_t x = std::min(xs[lane], ys[k]), y = std::max(xs[lane], ys[k]);
                              out[x * n - x * (x + 1) / 2 + y - x - 1] =
                                  chance.distance(length, sequences.length(x), sequences.length(y));
                          });
        },
        poll);
}

}  // namespace tropalign
