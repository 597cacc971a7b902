#include "domain_posteriors.hpp"

#include <cmath>

#include "../compute/denormals.hpp"

namespace tropalign {

// Forward's rows are divided by all factors up to them, Backward's by those from them on: a product of the two lacks
// the row's own factor twice, and all is relative to the whole sum, Backward's N in row 0. `rest` is what remains of
// that where Backward's factors are its own.
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

}  // namespace tropalign
