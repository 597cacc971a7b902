// The kernel of longest common subsequences of this instruction set.
#include <bit>

#include "../simd/vec.hpp"
#include "lcs.hpp"

namespace tropalign::TROPALIGN_ISA {

// The longest common subsequence by bits (Crochemore et al. 2001; Hyyro 2004), a lane per sequence x.
//
// Column by column of the matrix of LCS lengths, V holds a 0 where the length grows from one row (residue of x) to
// the next. For the next residue of y, with M the rows that hold this residue:
//
//     V = (V + (V and M)) or (V and not M)
//
// The addition carries along x, so words hold 63 bits and bit 63 of a sum is the carry into the next word. The
// answer is the number of zeros. Rows beyond the end of x have M = 0, and stay 1.

inline constexpr uint64_t kLcsOnes = (uint64_t{1} << kLcsResidues) - 1;
using LcsVec = Vec<uint64_t, kVectorBytes>;
inline constexpr int kLcsLanes = kVectorBytes / 8;

/// Process one residue of each of S sequences; n_words is the constant N unless N is 0.
template <int N, int S>
[[gnu::always_inline]] inline void lcs_step(const LcsLanes &lanes, const uint8_t *const (&letters)[2], int64_t j,
                                            LcsVec *const (&v)[2]) {
    const int n_words = N ? N : lanes.n_words;
    LcsVec carry[S] = {};
    const uint64_t *mask[S];
    for (int s = 0; s < S; ++s) mask[s] = lanes.masks + letters[s][j] * static_cast<int64_t>(n_words) * kLcsLanes;
#pragma GCC unroll 8
    for (int w = 0; w < n_words; ++w) {
#pragma GCC unroll 2
        for (int s = 0; s < S; ++s) {
            const auto m = load<uint64_t, kVectorBytes>(mask[s] + w * kLcsLanes);
            const LcsVec had = v[s][w], sum = had + (had & m) + carry[s];
            carry[s] = sum >> kLcsResidues;
            v[s][w] = (sum & kLcsOnes) | (had & ~m);
        }
    }
}

template <int N>
void lcs_run(const LcsLanes &lanes, const uint8_t *const (&letters)[2], const int64_t (&n_letters)[2], uint64_t *state,
             int32_t *const (&lengths)[2]) {
    const int n_words = N ? N : lanes.n_words;
    LcsVec fixed[2][N ? N : 1];
    LcsVec *const v[2] = {N ? fixed[0] : reinterpret_cast<LcsVec *>(state),
                          N ? fixed[1] : reinterpret_cast<LcsVec *>(state) + n_words};
    for (int s = 0; s < 2; ++s)
        for (int w = 0; w < n_words; ++w) v[s][w] = LcsVec{} + kLcsOnes;
    const int64_t common = letters[1] ? std::min(n_letters[0], n_letters[1]) : 0;
    for (int64_t j = 0; j < common; ++j) lcs_step<N, 2>(lanes, letters, j, v);
    for (int64_t j = common; j < n_letters[0]; ++j) lcs_step<N, 1>(lanes, letters, j, v);
    if (letters[1]) {
        const uint8_t *const second[2] = {letters[1], nullptr};
        LcsVec *const second_v[2] = {v[1], nullptr};
        for (int64_t j = common; j < n_letters[1]; ++j) lcs_step<N, 1>(lanes, second, j, second_v);
    }
    for (int s = 0; s < (letters[1] ? 2 : 1); ++s) {
        for (int lane = 0; lane < kLcsLanes; ++lane) {
            int zeros = 0;
            for (int w = 0; w < n_words; ++w) zeros += kLcsResidues - std::popcount(uint64_t{v[s][w][lane]});
            lengths[s][lane] = zeros;
        }
    }
}

inline void lcs_of_lanes(const LcsLanes &lanes, const uint8_t *const letters[2], const int64_t n_letters[2],
                         uint64_t *state, int32_t *const lengths[2]) {
    const uint8_t *const y[2] = {letters[0], letters[1]};
    const int64_t n[2] = {n_letters[0], n_letters[1]};
    int32_t *const out[2] = {lengths[0], lengths[1]};
    switch (lanes.n_words) {
        case 1:
            return lcs_run<1>(lanes, y, n, state, out);
        case 2:
            return lcs_run<2>(lanes, y, n, state, out);
        case 3:
            return lcs_run<3>(lanes, y, n, state, out);
        case 4:
            return lcs_run<4>(lanes, y, n, state, out);
        case 5:
            return lcs_run<5>(lanes, y, n, state, out);
        case 6:
            return lcs_run<6>(lanes, y, n, state, out);
        case 7:
            return lcs_run<7>(lanes, y, n, state, out);
        case 8:
            return lcs_run<8>(lanes, y, n, state, out);
        default:
            return lcs_run<0>(lanes, y, n, state, out);
    }
}

#define TROPALIGN_STRING_(x) #x
#define TROPALIGN_STRING(x) TROPALIGN_STRING_(x)
extern const LcsKernels lcs_kernels = {TROPALIGN_STRING(TROPALIGN_ISA), kLcsLanes, lcs_of_lanes};

}  // namespace tropalign::TROPALIGN_ISA
