// Results of a search in a target. Positions are 0-based and half-open; nats are natural logarithms of odds.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace tropalign {

struct DomainHit {
    int32_t envelope_begin = 0, envelope_end = 0;  ///< Where the domain may lie in the target.
    int32_t begin = 0, end = 0;                    ///< Where the domain is aligned in the target.
    int32_t model_begin = 0, model_end = 0;        ///< Nodes that it is aligned to, 0-based.
    float envelope_nats = 0;                       ///< HMMER's envsc.
    float correction_nats = 0;                     ///< For biased composition: domcorrection.
    float bias_nats = 0;                           ///< dombias
    float expected_accuracy = 0;                   ///< oasc: the sum of posteriors of aligned residues.
    float bits = 0;                                ///< bitscore
    double log_p = 0;                              ///< The logarithm of the P-value.
    // The alignment, a character per column: model characters ('.' insert), the match line, target characters ('-'
    // delete), posteriors (0-9, '*'; '.' at deletes).
    std::string model_line, match_line, target_line, posterior_line;
};

struct TargetHit {
    int32_t target = 0;                          ///< Index in its block.
    float bits = 0, pre_bits = 0, sum_bits = 0;  ///< Reported; without null2; summed over domains.
    double log_p = 0, pre_log_p = 0, sum_log_p = 0;
    float n_expected = 0;  ///< Domains expected by posterior probability.
    int32_t n_regions = 0, n_clustered = 0, n_overlaps = 0, n_envelopes = 0;
    int32_t best_domain = 0;  ///< Index of the domain with the highest bits.
    std::vector<DomainHit> domains;
};

}  // namespace tropalign
