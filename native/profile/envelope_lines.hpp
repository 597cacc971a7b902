// The end of an envelope's way: null2 for all codes, and an alignment as lines of text.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "hit.hpp"
#include "model.hpp"

namespace tropalign {

/// A step of the best path: a state that aligns ('M', 'D', 'I') or begins a domain ('B').
struct PathStep {
    char state;
    int32_t i, k;     ///< Residue of the envelope and node, both from 1.
    float posterior;  ///< That the residue is in this state.
};

/// `odds` of the canonical residues are there: means of them for ambiguous codes, 1 for what is no residue; then the
/// logarithms of all.
void finish_null2(std::array<float, kCodes> &odds);

/// The alignment and its ends, from a path in backward order, residues codes[0 ..) and where these begin in the target.
/// Of several domains in the path it is the first.
void write_lines(const ProfileModel &model, const uint8_t *codes, const std::vector<PathStep> &path,
                 int32_t envelope_begin, DomainHit &hit);

}  // namespace tropalign
