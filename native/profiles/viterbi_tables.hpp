// The tables of the Viterbi filter in the layouts of its two arrangements.
//
// A lane per target: all lanes are at the same node, so transitions are the same for all, and a match score is
// looked up by each lane's residue. Striped: lanes are nodes of one target, lane z of vector q is node z Q + q +
// 1, with Q the number of vectors (Farrar 2007, doi:10.1093/bioinformatics/btl582):
//
//     vector 0        nodes 1,  Q + 1,  2 Q + 1,  ...
//     vector 1        nodes 2,  Q + 2,  2 Q + 2,  ...
//     ...
//     vector Q - 1    nodes Q,  2 Q,    3 Q,      ...
//
// A row keeps neither M nor D of a node, but the terms derived from them for the next row: E(k), the best
// predecessor of M(k) other than B, and I(k):
//
//     E(k + 1) = max(M(k) + MM(k + 1), I(k) + IM(k + 1), D(k) + DM(k + 1))
//     I(k)     = max(M(k) + MI(k), I(k) + II(k))
#pragma once
#include <array>
#include <cstdint>

#include "../compute/buffer.hpp"
#include "search_model.hpp"

namespace tropalign {

inline constexpr int16_t kViterbiLowest = -32'768, kViterbiHighest = 32'767;

/// The transitions of a node's step. MM, IM and DM are those that enter the next node.
enum ViterbiStep { kStepBM, kStepMM, kStepIM, kStepDM, kStepMI, kStepII, kStepMD, kStepDD, kSteps };

/// Codes of residues in a look-up; those from kCodes on score like a gap.
inline constexpr int kViterbiCodes = 32;

/// Layout of a node's match scores in its 64 bytes: a 16-bit word per code, or all low bytes, then all high bytes.
enum class ViterbiLookup { words, bytes };

/// A lane per target; node k is at index k - 1.
struct ViterbiLaneTables {
    /// A score twice, since filling a vector with 32 bits costs nothing.
    using Twice = std::array<int16_t, 2>;
    using Node = std::array<Twice, kSteps>;
    using Match = std::array<uint8_t, 2 * kViterbiCodes>;

    ViterbiLaneTables(const ProfileModel &model, ViterbiLookup lookup);

    int32_t M;
    Buffer<Node> nodes;
    Buffer<Match> match;
};

struct ViterbiStripes {
    ViterbiStripes(const ProfileModel &model, int n_stripes);

    int32_t Q;              ///< Vectors.
    Buffer<int16_t> steps;  ///< [Q][kSteps][n_stripes]
    Buffer<int16_t> match;  ///< [kCodes][Q][n_stripes]
    /// Loss of D on its way through stripes, up to 65535: entry [s][z] through the 2^s stripes that end with z.
    Buffer<uint16_t> crossing;
};

/// Tables, each made on first use.
class ViterbiTables {
  public:
    explicit ViterbiTables(const ProfileModel &model) : model_(model) {}

    const ViterbiLaneTables &lanes(ViterbiLookup lookup) const;
    /// n_stripes: 8, 16 or 32.
    const ViterbiStripes &stripes(int n_stripes) const;

  private:
    const ProfileModel &model_;
    OnFirstUse<ViterbiLaneTables> lanes_[2];
    OnFirstUse<ViterbiStripes> stripes_[3];
};

}  // namespace tropalign
