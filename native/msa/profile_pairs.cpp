#include "profile_pairs.hpp"

#include <algorithm>
#include <cmath>

#include "../simd/dispatch.hpp"

namespace tropalign {

TROPALIGN_DISPATCH(DistanceKernels, distance_kernels)

namespace {

/// Bytes of the rows that are computed at a time: they stay in the cache.
constexpr int64_t kRowWindowBytes = 1 << 18;
/// Maximum bits of sums and of fractions.
constexpr int kSumBits = 30, kMostFractionBits = 24;

/// Return the bits of the fraction of P, whose elements are at most `most`.
int fraction_bits(double most, int64_t m, int64_t n) {
    const double sum = std::max(most, 1e-300) * static_cast<double>(std::max<int64_t>(std::min(m, n), 1));
    return std::clamp(kSumBits - 1 - static_cast<int>(std::ceil(std::log2(sum))), -kSumBits, kMostFractionBits);
}

ColumnSums sums_of(int64_t m, int64_t n) {
    const auto row_bytes = row_stride(n) * static_cast<int64_t>(sizeof(uint32_t));
    return {m, n, std::clamp<int64_t>(kRowWindowBytes / row_bytes, 1, std::max<int64_t>(m, 1)), 0, {}};
}

/// A profile in the layout for a row of distances: residues first, so that neighbours are columns.
struct Transposed {
    explicit Transposed(const ProfileColumns &profile)
        : stride(row_stride(profile.n_columns)), shares(static_cast<size_t>(profile.n_letters * stride)),
          squares(static_cast<size_t>(stride)), to_blank(static_cast<size_t>(stride)) {
        for (int64_t j = 0; j < profile.n_columns; ++j) {
            const double *column = profile.shares + j * profile.n_letters;
            for (int64_t a = 0; a < profile.n_letters; ++a) {
                shares[static_cast<size_t>(a * stride + j)] = column[a];
                squares[static_cast<size_t>(j)] += column[a] * column[a];
            }
            to_blank[static_cast<size_t>(j)] =
                std::sqrt(distance_squared(squares[static_cast<size_t>(j)], column[profile.n_letters - 1]));
        }
    }
    /// Return |p - blank|^2 = |p|^2 + 1 - 2 p_blank.
    static double distance_squared(double square, double blank) { return std::max(0.0, square + 1 - 2 * blank); }

    int64_t stride;
    std::vector<double> shares, squares, to_blank;
};

}  // namespace

MergedColumns align_profiles(const ProfileColumns &first, const ProfileColumns &second, const Watch &watch) {
    const Transposed p(first), q(second);
    double most = 0;
    for (double distance : p.to_blank) most = std::max(most, distance);
    double most_second = 0;
    for (double distance : q.to_blank) most_second = std::max(most_second, distance);
    const double unit = std::ldexp(1.0, fraction_bits(most + most_second, first.n_columns, second.n_columns));
    const DistanceKernels &kernels = *selected_distance_kernels();
    ColumnSums sums = sums_of(first.n_columns, second.n_columns);
    sums.fill = [&](int64_t begin, int64_t end, uint32_t *rows, int64_t stride) {
        for (int64_t i = begin; i < end; ++i) {
            const DistanceRow column{first.shares + i * first.n_letters, first.n_letters,
                                     p.squares[static_cast<size_t>(i)], p.to_blank[static_cast<size_t>(i)]};
            kernels.savings(column, DistanceColumns{q.shares.data(), q.squares.data(), q.to_blank.data(), q.stride},
                            unit, reinterpret_cast<int32_t *>(rows + (i - begin) * stride));
        }
    };
    return best_columns(sums, watch);
}

MergedColumns align_profile_to_sequence(const ProfileColumns &profile, const uint8_t *codes, int64_t length,
                                        const double *scores, const Watch &watch) {
    const int64_t m = profile.n_columns, n_letters = profile.n_letters, blank = n_letters - 1;
    std::vector<double> gains(static_cast<size_t>(m * n_letters));
    double most = 0;
    for (int64_t i = 0; i < m; ++i) {
        double *gain = gains.data() + i * n_letters;
        for (int64_t a = 0; a < n_letters; ++a)
            if (const double share = profile.shares[i * n_letters + a]; share != 0)
                for (int64_t b = 0; b < n_letters; ++b) gain[b] += share * scores[a * n_letters + b];
        const double alone = gain[blank];
        for (int64_t b = 0; b < n_letters; ++b) {
            gain[b] -= alone + scores[blank * n_letters + b];
            most = std::max(most, std::abs(gain[b]));
        }
    }
    const double unit = std::ldexp(1.0, fraction_bits(most, m, length));
    ColumnSums sums = sums_of(m, length);
    std::vector<int32_t> by_letter(static_cast<size_t>(n_letters));
    sums.fill = [&](int64_t begin, int64_t end, uint32_t *rows, int64_t stride) {
        for (int64_t i = begin; i < end; ++i) {
            for (int64_t b = 0; b < n_letters; ++b)
                by_letter[static_cast<size_t>(b)] =
                    static_cast<int32_t>(std::lrint(gains[static_cast<size_t>(i * n_letters + b)] * unit));
            auto *row = reinterpret_cast<int32_t *>(rows + (i - begin) * stride);
            for (int64_t j = 0; j < length; ++j) row[j] = by_letter[codes[j]];
            std::fill(row + length, row + stride, 0);
        }
    };
    return best_columns(sums, watch);
}

}  // namespace tropalign
