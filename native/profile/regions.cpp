#include "regions.hpp"

namespace tropalign {
namespace {

/// Whether, at some residue of `first` to `last` (both counted from 1), as many ends are expected up to it and as many
/// begins from it on as the threshold says.
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
