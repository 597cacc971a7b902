// The end of an envelope's way: the best path, walked back through what the kernels left, and its lines of text.
#pragma once
#include <cstdint>
#include <vector>

#include "envelope_kernels.hpp"
#include "hit.hpp"
#include "model.hpp"

namespace tropalign {

/// A step of a path in a state 'M', 'D' or 'I'.
struct PathStep {
    char state;
    int32_t i, k;     ///< Residue of the envelope and node, both from 1.
    float posterior;  ///< That the residue is in this state.
};

/// From the M that a lane's domain ends with to the one that it begins with. `width`: quads of a vector.
void walk_back(const EnvelopeUnit &unit, int lane, int width, std::vector<PathStep> &path);

/// The alignment and its ends, from a path in backward order, residues codes[0 ..) and where these begin in the target.
void write_lines(const ProfileModel &model, const uint8_t *codes, const std::vector<PathStep> &path,
                 int32_t envelope_begin, DomainHit &hit);

}  // namespace tropalign
