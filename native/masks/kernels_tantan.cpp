// Forward and backward sums of tantan's model (Frith 2011; tantan.hpp), scaled every few residues. With state k for
// period k, background b and sums over k,
//
//     s_k' = (b start_k + s_k (1 - end)) ratio_k        b' = b (1 - repeat) + end sum of s_k
#include "tantan.hpp"

namespace tropalign::TROPALIGN_ISA {
namespace {

constexpr int kAtOnce = 16;  ///< residues between two scalings, so that doubles stay far from their limits
using Sums = std::array<double, kTantanLanes>;

double total(const Sums &s) { return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7])); }

/// Look up the ratios of a residue as a copy of each residue before it.
void look_up(const double *ratios, const uint8_t *before, int width, double *found) {
    for (int k = 0; k < width; ++k) found[k] = ratios[before[k]];
}

void chances(const TantanModel &model, const uint8_t *codes, int64_t n, double *out) {
    const TantanRule &rule = model.rule;
    const int width = model.width;
    const double stay = 1 - rule.end, none = 1 - rule.repeat;
    std::vector<double> state(width, 0.0), found(width), scales(n / kAtOnce + 1, 1.0);
    double *const states = state.data(), *const ratios = found.data();
    const double *const starts = model.starts.data();
    double background = 1, in_repeats = 0;
    for (int64_t at = 0; at < n; ++at) {
        look_up(rule.ratios + kTantanCodes * codes[at], codes + at - width, width, ratios);
        Sums sums{};
        for (int k = 0; k < width; k += kTantanLanes)
            for (int lane = 0; lane < kTantanLanes; ++lane) {
                const double value = (background * starts[k + lane] + states[k + lane] * stay) * ratios[k + lane];
                states[k + lane] = value;
                sums[lane] += value;
            }
        background = background * none + in_repeats * rule.end;
        in_repeats = total(sums);
        if (at % kAtOnce == kAtOnce - 1) {
            const double scale = 1 / (background + in_repeats);
            for (int k = 0; k < width; ++k) states[k] *= scale;
            background *= scale;
            in_repeats *= scale;
            scales[at / kAtOnce] = scale;
        }
        out[at] = background;
    }
    const double whole = background * none + in_repeats * rule.end;
    background = none;
    std::fill(state.begin(), state.end(), rule.end);
    for (int64_t at = n - 1; at >= 0; --at) {
        out[at] = 1 - out[at] * background / whole;
        if (at % kAtOnce == kAtOnce - 1) {
            const double scale = scales[at / kAtOnce];
            for (int k = 0; k < width; ++k) states[k] *= scale;
            background *= scale;
        }
        look_up(rule.ratios + kTantanCodes * codes[at], codes + at - width, width, ratios);
        Sums sums{};
        const double leaving = background * rule.end;
        for (int k = 0; k < width; k += kTantanLanes)
            for (int lane = 0; lane < kTantanLanes; ++lane) {
                const double coming = states[k + lane] * ratios[k + lane];
                sums[lane] += starts[k + lane] * coming;
                states[k + lane] = leaving + stay * coming;
            }
        background = background * none + total(sums);
    }
}

}  // namespace

#define TROPALIGN_STRING_(x) #x
#define TROPALIGN_STRING(x) TROPALIGN_STRING_(x)
extern const TantanKernels tantan_kernels = {TROPALIGN_STRING(TROPALIGN_ISA), chances};

}  // namespace tropalign::TROPALIGN_ISA
