// A profile hidden Markov model ready for search, as plain tables by node: HMMER 3's local multihit profile in
// floats, in 8 bits (SSV, MSV) and in 16 bits (Viterbi). Kernels derive their own layouts from these.
//
// Nodes count from 1 to M, as in the literature; the tables have an entry 0 that no kernel reads as a node.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace tropalign {

/// Codes of residues, in Easel's order: 20 canonical ACDEFGHIKLMNPQRSTVWY, gap, B J Z O U X, `*`, `~`.
/// Nucleotides have 18 letters: ACGT, gap, R Y M K S W H B V D N, `*`, `~`.
inline constexpr int kResidues = 20, kBases = 4, kCodes = 29, kBaseCodes = 18;

/// Transitions by the node that they are stored with: BM, MM, IM, DM enter node k (from k - 1); MD, MI, II, DD
/// leave it.
enum Transition { kBM, kMM, kIM, kDM, kMD, kMI, kII, kDD, kTransitions };

struct ProfileModel {
    int32_t M = 0;  ///< Nodes.

    // Floats: odds (not logarithms), for Forward and all later stages.
    std::vector<float> match_odds;   ///< [kCodes][M + 1]
    std::vector<float> transitions;  ///< [kTransitions][M + 1]

    // 8 bits, in thirds of a bit; a cost is subtracted.
    uint8_t bias = 0;                ///< The largest score; all costs are raised by it.
    uint8_t entry = 0, end = 0;      ///< Costs of B -> M (any node) and of E -> C or J: HMMER's tbm, tec.
    std::vector<uint8_t> byte_cost;  ///< [kCodes][M + 1], biased

    // 16 bits, in 1/500 bit.
    std::vector<int16_t> word_match;        ///< [kCodes][M + 1]
    std::vector<int16_t> word_transitions;  ///< [kTransitions][M + 1]

    // For the biased-composition filter and null models.
    std::array<float, kResidues> background{};
    std::array<float, kCodes> composition_odds{};  ///< Odds of the model's mean composition over the background.

    // Calibration: location and slope of the scores of random sequences (Gumbel, Gumbel, exponential).
    float msv_mu = 0, msv_lambda = 0, viterbi_mu = 0, viterbi_lambda = 0, forward_tau = 0, forward_lambda = 0;

    std::string consensus;  ///< A letter per node, for alignments.
};

/// A profile's scores in nats, as floats: logarithms of the odds. Indices are those of ProfileModel's tables.
struct ProfileScores {
    int n_residues = 0, n_codes = 0;  ///< Sizes of the alphabet.
    std::vector<float> match;         ///< [kCodes][M + 1]
    std::vector<float> transitions;   ///< [kTransitions][M + 1]
};

/// Compute the scores. match: [M + 1][n_residues], n_residues is kResidues or kBases; background: [n_residues];
/// transitions as in make_profile_model.
ProfileScores make_profile_scores(int32_t M, int n_residues, const float *match, const float *transitions,
                                  const float *background);

/// Make a model for aligning sequences, not for search: it has only the odds.
ProfileModel make_odds_model(int32_t M, const ProfileScores &scores);

/// Make the tables of a core model.
///
/// match: [M + 1][20], transitions: [M + 1][7] (MM, MI, MD, IM, II, DM, DD as in HMMER's files), composition:
/// [20], background: [20], evalue: {msv_mu, msv_lambda, viterbi_mu, viterbi_lambda, forward_tau, forward_lambda}.
ProfileModel make_profile_model(int32_t M, const float *match, const float *transitions, const float *composition,
                                const float *background, const float *evalue, std::string consensus);

}  // namespace tropalign
