// Tables of a model: every formula uses the precision and order of HMMER 3.4 (modelconfig.c, impl_sse/p7_oprofile.c),
// so that each table has identical bits: logarithms in double, sums and products in float unless stated otherwise.
#include "model.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

#include "../simd/denormals.hpp"
#include "lengths.hpp"

namespace tropalign {

// The single-precision exponential of the Cephes library, in the order of operations of Easel's vector version
// (esl_sse.c): odds of HMMER's float stages are computed by it, not by libm.

/// Return exp(x): x = k * log 2 + f with k an integer and |f| <= log(2) / 2, then 2^k * (1 + f + f^2 * P(f)), P of
/// degree 5.
inline float single_exp(float x) {
    constexpr float highest = 88.3762626647949f;  // beyond this 2^k would not be a float
    if (x > highest) return std::numeric_limits<float>::infinity();
    if (x <= -highest) return 0;
    const float turns = x * 1.44269504f + 0.5f;
    auto k = static_cast<int32_t>(turns);
    if (static_cast<float>(k) > turns) --k;  // truncated towards 0: take the floor
    // log 2 in two parts, the first of few bits, so that k times it is exact.
    const auto steps = static_cast<float>(k);
    const float f = x - steps * 0.693359375f - steps * -2.12194440e-4f;
    float p = 1.9875691500E-4f;
    for (const float next : {1.3981999507E-3f, 8.3334519073E-3f, 4.1665795894E-2f, 1.6666665459E-1f, 5.0000001201E-1f})
        p = p * f + next;
    const float mantissa = p * (f * f) + f + 1.0f;
    return mantissa * std::bit_cast<float>((k + 127) << 23);
}

namespace {

constexpr float kImpossible = -std::numeric_limits<float>::infinity();
/// The order of transitions in HMMER's files.
enum { kFileMM, kFileMI, kFileMD, kFileIM, kFileII, kFileDM, kFileDD, kFileTransitions };

// Returns a bit for each canonical residue that a code stands for, in the order of the alphabet.
constexpr uint32_t bits_of(std::string_view letters, std::string_view members) {
    uint32_t bits = 0;
    for (size_t x = 0; x < letters.size(); ++x)
        if (members.find(letters[x]) != members.npos) bits |= 1u << x;
    return bits;
}
struct Ambiguous {
    int code;
    uint32_t members;
};
constexpr auto protein_bits(std::string_view members) { return bits_of("ACDEFGHIKLMNPQRSTVWY", members); }
constexpr auto base_bits(std::string_view members) { return bits_of("ACGT", members); }
constexpr std::array<Ambiguous, 6> kAmbiguous{{{21, protein_bits("DN")},       // B
                                               {22, protein_bits("IL")},       // J
                                               {23, protein_bits("EQ")},       // Z
                                               {24, protein_bits("K")},        // O
                                               {25, protein_bits("C")},        // U
                                               {26, (1u << kResidues) - 1}}};  // X
/// Code 4 is the gap; R Y M K S W H B V D N follow.
constexpr std::array<Ambiguous, 11> kAmbiguousBases{{{5, base_bits("AG")},
                                                     {6, base_bits("CT")},
                                                     {7, base_bits("AC")},
                                                     {8, base_bits("GT")},
                                                     {9, base_bits("CG")},
                                                     {10, base_bits("AT")},
                                                     {11, base_bits("ACT")},
                                                     {12, base_bits("CGT")},
                                                     {13, base_bits("ACG")},
                                                     {14, base_bits("AGT")},
                                                     {15, base_bits("ACGT")}}};

/// Return a cost without bias; scores are at most 0.
uint8_t byte_cost_of(float score) {
    const float cost = -roundf(kByteScale * score);
    return cost > 255 ? 255 : static_cast<uint8_t>(static_cast<int>(cost));
}

uint8_t biased_byte_cost_of(float score, uint8_t bias) {
    const float cost = -roundf(kByteScale * score);
    return cost > 255 - bias ? 255 : static_cast<uint8_t>(static_cast<int>(cost) + bias);
}

int16_t word_of(float score) {
    const float rounded = roundf(kWordScale * score);
    return rounded >= 32767 ? 32767 : rounded <= -32768 ? -32768 : static_cast<int16_t>(rounded);
}

/// Set B -> M_k from how often the model's paths pass through node k, over all sections of the model.
void set_entries(int32_t M, const float *t, float *entry) {
    const auto step = [&](int32_t k, int which) { return t[k * kFileTransitions + which]; };
    std::vector<float> occupancy(M + 1);
    occupancy[1] = step(0, kFileMI) + step(0, kFileMM);
    for (int32_t k = 2; k <= M; ++k) {
        const float stays = occupancy[k - 1] * (step(k - 1, kFileMM) + step(k - 1, kFileMI));
        occupancy[k] = static_cast<float>(stays + (1.0 - occupancy[k - 1]) * step(k - 1, kFileDM));
    }
    float total = 0;
    for (int32_t k = 1; k <= M; ++k) total += occupancy[k] * static_cast<float>(M - k + 1);
    for (int32_t k = 1; k <= M; ++k) entry[k] = static_cast<float>(std::log(static_cast<double>(occupancy[k] / total)));
}

void set_transitions(int32_t M, const float *t, std::vector<float> &scores) {
    const size_t width = M + 1;
    scores.assign(kTransitions * width, kImpossible);
    set_entries(M, t, &scores[kBM * width]);
    struct Place {
        int from, to, shift;  // index in the file; index here; 1 if it belongs to the node that it enters
    };
    constexpr std::array<Place, 7> places{{{kFileMM, kMM, 1},
                                           {kFileIM, kIM, 1},
                                           {kFileDM, kDM, 1},
                                           {kFileMD, kMD, 0},
                                           {kFileMI, kMI, 0},
                                           {kFileII, kII, 0},
                                           {kFileDD, kDD, 0}}};
    for (int32_t k = 1; k < M; ++k)
        for (const Place &place : places)
            scores[place.to * width + k + place.shift] =
                static_cast<float>(std::log(static_cast<double>(t[k * kFileTransitions + place.from])));
}

void set_match(int32_t M, int n_residues, std::span<const Ambiguous> ambiguous, const float *match,
               const float *background, std::vector<float> &scores) {
    const size_t width = M + 1;
    scores.assign(kCodes * width, kImpossible);
    for (int32_t k = 1; k <= M; ++k) {
        for (int x = 0; x < n_residues; ++x) {
            const auto odds = static_cast<double>(match[k * n_residues + x]) / static_cast<double>(background[x]);
            scores[x * width + k] = static_cast<float>(std::log(odds));
        }
        for (const Ambiguous &code : ambiguous) {
            float sum = 0, weight = 0;
            for (int x = 0; x < n_residues; ++x) {
                if (!(code.members >> x & 1)) continue;
                sum += scores[x * width + k] * background[x];
                weight += background[x];
            }
            scores[code.code * width + k] = sum / weight;
        }
    }
}

void set_odds(const ProfileScores &scores, ProfileModel &model) {
    const auto odds = [](const std::vector<float> &from, std::vector<float> &to) {
        to.resize(from.size());
        for (size_t k = 0; k < from.size(); ++k) to[k] = single_exp(from[k]);
    };
    odds(scores.match, model.match_odds);
    odds(scores.transitions, model.transitions);
}

void set_bytes(const ProfileScores &scores, ProfileModel &model) {
    const size_t width = model.M + 1;
    float highest = 0;
    for (size_t at = 0; at < kResidues * width; ++at) highest = std::max(highest, scores.match[at]);
    model.bias = byte_cost_of(-highest);
    model.entry = byte_cost_of(logf(2.0f / (static_cast<float>(model.M) * static_cast<float>(model.M + 1))));
    model.end = byte_cost_of(logf(0.5f));
    model.byte_cost.resize(scores.match.size());
    for (size_t at = 0; at < scores.match.size(); ++at)
        model.byte_cost[at] = biased_byte_cost_of(scores.match[at], model.bias);
}

void set_words(const ProfileScores &scores, ProfileModel &model) {
    const size_t width = model.M + 1;
    model.word_match.resize(scores.match.size());
    for (size_t at = 0; at < scores.match.size(); ++at) model.word_match[at] = word_of(scores.match[at]);
    model.word_transitions.resize(scores.transitions.size());
    for (int which = 0; which < kTransitions; ++which) {
        // A rounded probability may come out above 1; an insertion without cost would never end.
        const int16_t most = which == kDD ? 32767 : which == kII ? -1 : 0;
        for (size_t k = 0; k < width; ++k) {
            const size_t at = which * width + k;
            model.word_transitions[at] = std::min(most, word_of(scores.transitions[at]));
        }
    }
}

void set_composition(const float *composition, ProfileModel &model) {
    const auto &background = model.background;
    model.composition_odds.fill(1);
    for (int x = 0; x < kResidues; ++x) model.composition_odds[x] = composition[x] / background[x];
    for (const Ambiguous &ambiguous : kAmbiguous) {
        float sum = 0, weight = 0;
        for (int x = 0; x < kResidues; ++x) {
            if (!(ambiguous.members >> x & 1)) continue;
            sum += composition[x];
            weight += background[x];
        }
        model.composition_odds[ambiguous.code] = weight > 0 ? sum / weight : 0;
    }
}

}  // namespace

ProfileScores make_profile_scores(int32_t M, int n_residues, const float *match, const float *transitions,
                                  const float *background) {
    ProfileScores scores{n_residues, n_residues == kBases ? kBaseCodes : kCodes, {}, {}};
    const auto ambiguous = n_residues == kBases ? std::span<const Ambiguous>(kAmbiguousBases) : kAmbiguous;
    set_match(M, n_residues, ambiguous, match, background, scores.match);
    set_transitions(M, transitions, scores.transitions);
    return scores;
}

ProfileModel make_odds_model(int32_t M, const ProfileScores &scores) {
    ProfileModel model;
    model.M = M;
    set_odds(scores, model);
    model.consensus.assign(M, 'x');
    return model;
}

ProfileModel make_profile_model(int32_t M, const float *match, const float *transitions, const float *composition,
                                const float *background, const float *evalue, std::string consensus) {
    const DenormalsAsZero as_zero;
    ProfileModel model;
    model.M = M;
    std::copy_n(background, kResidues, model.background.begin());
    const ProfileScores scores = make_profile_scores(M, kResidues, match, transitions, background);
    set_odds(scores, model);
    set_bytes(scores, model);
    set_words(scores, model);
    set_composition(composition, model);
    model.msv_mu = evalue[0], model.msv_lambda = evalue[1];
    model.viterbi_mu = evalue[2], model.viterbi_lambda = evalue[3];
    model.forward_tau = evalue[4], model.forward_lambda = evalue[5];
    model.consensus = std::move(consensus);
    return model;
}

}  // namespace tropalign
