// Odds of residues by the composition of a trace's domain (HMMER's null2 by traces): the mean over the domain of
// the emissions of its nodes. An insertion counts as its node's match.
#pragma once
#include <array>
#include <initializer_list>

#include "../simd/bytes.hpp"
#include "../simd/real.hpp"
#include "traces.hpp"

namespace tropalign::TROPALIGN_ISA {

/// Odds by code, padded with zeros for look-ups of 32.
struct alignas(64) CodeOdds {
    std::array<float, 32> odds{};
};

/// Sums over nodes in HMMER's order: first Q neighbouring nodes for each of a quad's four floats (float_tables.hpp),
/// then these four sums. Here all residues are summed in parallel.
class DomainOdds {
  public:
    /// counts[k]: how many residues node k has.
    DomainOdds(const TraceTables &tables, const float *counts, const Segment &segment) {
        const int32_t first = segment.model_begin + 1, last = segment.model_end, Q = tables.Q;
        const auto norm = static_cast<float>(1.0 / static_cast<float>(segment.end - segment.begin));
        std::array<First, 4> sums{};
        std::array<Four, 4> last_sums{};
        for (int r = (first - 1) / Q; r <= (last - 1) / Q; ++r) {
            First sum{};
            Four last_sum{};
            const int32_t end = std::min(last, (r + 1) * Q);
            for (int32_t k = std::max(first, r * Q + 1); k <= end; ++k) {
                const float weight = counts[k] * norm;
                for (int v = 0; v < kVectors; ++v)
                    sum[v] += weight * load<float, kBytes>(&tables.first_odds[k].odds[v * kLanes]);
                last_sum += weight * load<float, 16>(tables.last_odds[k].odds.data());
            }
            sums[r] = sum, last_sums[r] = last_sum;
        }
        for (int v = 0; v < kVectors; ++v)
            store<float, kBytes>(&odds_.odds[v * kLanes], (sums[0][v] + sums[1][v]) + (sums[2][v] + sums[3][v]));
        store<float, 16>(&odds_.odds[16], (last_sums[0] + last_sums[1]) + (last_sums[2] + last_sums[3]));
        odds_.odds[20] = odds_.odds[27] = odds_.odds[28] = 1;
    }

    /// Set the odds of B, J, Z, O, U and X: means of the residues that they represent.
    void set_ambiguous() {
        odds_.odds[21] = mean({2, 11}), odds_.odds[22] = mean({7, 9}), odds_.odds[23] = mean({3, 13});
        odds_.odds[24] = mean({8}), odds_.odds[25] = mean({1});
        odds_.odds[26] = mean({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19});
    }

    /// Add the odds of codes[i] to scores[i], for i from 0 to n - 1.
    void add_to(float *scores, const uint8_t *codes, int32_t n) const {
        int32_t i = 0;
        if constexpr (kBytes == 64) {
            const auto low = load<float, kBytes>(odds_.odds.data());
            const auto high = load<float, kBytes>(odds_.odds.data() + kLanes);
            for (; i + kLanes <= n; i += kLanes) {
                const auto index = widen<int32_t, kBytes>(reinterpret_cast<const int8_t *>(codes + i));
                store<float, kBytes>(scores + i, load<float, kBytes>(scores + i) + picked(low, high, index));
            }
        }
        for (; i < n; ++i) scores[i] += odds_.odds[codes[i]];
    }

  private:
    static constexpr int kBytes = kVectorBytes, kLanes = kBytes / 4, kVectors = 16 / kLanes;
    using First = std::array<Vec<float, kBytes>, kVectors>;
    using Four = Vec<float, 16>;

    float mean(std::initializer_list<int> members) const {
        float sum = 0;
        for (const int x : members) sum += odds_.odds[x];
        return sum / static_cast<float>(members.size());
    }

    CodeOdds odds_;
};

}  // namespace tropalign::TROPALIGN_ISA
