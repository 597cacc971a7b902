// The scores of a target and of its domains in bits, as at the end of HMMER's p7_Pipeline, with the same mixture
// of float and double.
#pragma once
#include "hit.hpp"
#include "model.hpp"

namespace tropalign {

struct TargetNats {
    float forward = 0;  ///< Forward score of the whole target.
    float null2 = 0;    ///< Sum of the residues' logarithms of odds under null2.
    int32_t length = 0;
};

/// Set the scores and P-values of a hit whose domains have envelope_nats and correction_nats; also bias_nats and
/// best_domain.
void score_target(const ProfileModel &model, const TargetNats &nats, bool null2, TargetHit &hit);

}  // namespace tropalign
