#include "regions.hpp"

#include <cmath>

#include "../simd/denormals.hpp"

namespace tropalign {

// Each row of Forward is divided by the factors of all rows up to it, each row of Backward by those from it on. So
// their product is divided twice by the row's own factor. Posteriors are relative to the whole sum, Backward's N in row
// 0. `rest` is the remaining factor if Backward has factors of its own.
void domain_posteriors(const TargetBlock &block, int32_t target, const ParsedTarget &parsed, DomainPosteriors &out) {
    const DenormalsAsZero guard;
    const int32_t L = block.length(target);
    const float loop = length_odds(L).loop;
    const float *f = parsed.forward.data(), *b = parsed.backward.data();
    for (auto *values : {&out.begin, &out.end, &out.homology}) values->resize(L + 1), values->front() = 0;
    out.n_expected = 0, out.overflows = false;
    if (!L) return;
    auto rest = static_cast<float>(1.0 / b[kN]);
    for (int32_t i = 1; i <= L; ++i, f += kSpecials, b += kSpecials) {
        const float *f_next = f + kSpecials, *b_next = b + kSpecials;
        out.begin[i] = out.begin[i - 1] + f[kB] * b[kB] * f[kScale] * rest;
        if (parsed.own_scales) rest *= f[kScale] / b[kScale];
        out.end[i] = out.end[i - 1] + f_next[kE] * b_next[kE] * f_next[kScale] * rest;
        float outside = f[kN] * b_next[kN] * loop * rest;
        outside += f[kJ] * b_next[kJ] * loop * rest;
        outside += f[kC] * b_next[kC] * loop * rest;
        out.homology[i] = static_cast<float>(1. - outside);
    }
    out.n_expected = out.begin[L];
    out.overflows = std::isinf(rest);
}

namespace {

/// True if at some residue of `first` to `last` (both counted from 1) at least `threshold` ends are expected up to
/// it, and at least `threshold` starts from it on.
bool has_end_before_begin(const DomainPosteriors &p, int32_t first, int32_t last, float threshold) {
    for (int32_t z = first; z <= last; ++z) {
        const float ends = p.end[z] - p.end[first - 1], begins = p.begin[last] - p.begin[z - 1];
        if ((ends < begins ? ends : begins) >= threshold) return true;
    }
    return false;
}

}  // namespace

std::vector<Region> find_regions(const DomainPosteriors &p, const RegionThresholds &thresholds) {
    std::vector<Region> regions;
    const auto L = static_cast<int32_t>(p.homology.size()) - 1;
    int32_t first = 0;  // 0: none
    bool triggered = false;
    for (int32_t j = 1; j <= L; ++j) {
        const float homology = p.homology[j];
        if (!triggered) {
            if (homology - (p.begin[j] - p.begin[j - 1]) < thresholds.extent || !first) first = j;
            triggered = homology >= thresholds.trigger;
        } else if (homology - (p.end[j] - p.end[j - 1]) < thresholds.extent) {
            regions.push_back({first - 1, j, has_end_before_begin(p, first, j, thresholds.several)});
            first = 0, triggered = false;
        }
    }
    return regions;
}

}  // namespace tropalign
