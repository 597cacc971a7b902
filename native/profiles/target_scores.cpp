#include "target_scores.hpp"

#include <cmath>

#include "float_sums.hpp"
#include "lengths.hpp"
#include "p_values.hpp"

namespace tropalign {
namespace {

/// Prior probability of null2.
constexpr float kNull2Prior = 1.f / 256;

/// Return the cost of a composition correction in nats: null2 as one of two models of a random target.
float bias_of(float correction_nats) {
    return table_log_sum(0.f, static_cast<float>(std::log(static_cast<double>(kNull2Prior)) + correction_nats));
}

/// Return the contribution of n residues outside domains in a target of length L.
double outside(int32_t n, int32_t L) {
    const float stay = static_cast<float>(L) / static_cast<float>(L + 3);
    return n * std::log(static_cast<double>(stay));
}

double log_p(const ProfileModel &model, float bits) {
    return exponential_log_p(bits, model.forward_tau, model.forward_lambda);
}

/// The target's score as the sum of its domains, excluding those explained by their composition.
struct Reconstruction {
    float pre_bits = 0, bits = 0;
    int32_t n_residues = 0;  ///< Residues of the envelopes that count.
};

Reconstruction reconstruct(const TargetHit &hit, const TargetNats &nats, float null_nats, bool null2) {
    Reconstruction result;
    float sum = 0, correction = 0;
    for (const DomainHit &domain : hit.domains) {
        if (!((null2 ? domain.envelope_nats - domain.correction_nats : domain.envelope_nats) > 0)) continue;
        sum += domain.envelope_nats;
        correction += domain.correction_nats;
        result.n_residues += domain.envelope_end - domain.envelope_begin;
    }
    const float bias = null2 ? bias_of(correction) : 0.f;
    sum = static_cast<float>(sum + outside(nats.length - result.n_residues, nats.length));
    result.pre_bits = bits_of(sum, null_nats);
    result.bits = bits_of(sum, null_nats + bias);
    return result;
}

void score_domain(const ProfileModel &model, int32_t length, float null_nats, bool null2, DomainHit &domain) {
    const int32_t n_outside = length - (domain.envelope_end - domain.envelope_begin);
    const auto nats = static_cast<float>(domain.envelope_nats + outside(n_outside, length));
    domain.bias_nats = null2 ? bias_of(domain.correction_nats) : 0.f;
    domain.bits = bits_of(nats, null_nats + domain.bias_nats);
    domain.log_p = log_p(model, domain.bits);
}

}  // namespace

void score_target(const ProfileModel &model, const TargetNats &nats, bool null2, TargetHit &hit) {
    const float null_nats = null1_nats(nats.length);
    hit.pre_bits = bits_of(nats.forward, null_nats);
    hit.bits = bits_of(nats.forward, null_nats + (null2 ? bias_of(nats.null2) : 0.f));
    const Reconstruction sum = reconstruct(hit, nats, null_nats, null2);
    hit.sum_bits = sum.bits;
    if (sum.n_residues > 0 && sum.bits > hit.bits) hit.bits = sum.bits, hit.pre_bits = sum.pre_bits;
    hit.log_p = log_p(model, hit.bits);
    hit.pre_log_p = log_p(model, hit.pre_bits);
    hit.sum_log_p = log_p(model, hit.sum_bits);
    for (size_t k = 0; k < hit.domains.size(); ++k) {
        score_domain(model, nats.length, null_nats, null2, hit.domains[k]);
        if (hit.domains[k].bits > hit.domains[hit.best_domain].bits) hit.best_domain = static_cast<int32_t>(k);
    }
}

}  // namespace tropalign
