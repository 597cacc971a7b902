// Where in a target domains begin and end, and which residues are homologous, by the special states' posteriors.
#pragma once
#include <cstdint>
#include <vector>

#include "parsers.hpp"

namespace tropalign {

struct DomainPosteriors {
    /// By residue, from 1 to L (place 0 is zero): domains expected to have begun, and to have ended, up to here
    /// (HMMER's btot and etot); the probability that a domain has the residue (mocc).
    std::vector<float> begin, end, homology;
    float n_expected = 0;    ///< Domains in the target: the last of `begin`.
    bool overflows = false;  ///< The numbers of Backward left the range of floats; hmmsearch gives up here.
};

/// `parsed` has been through both parsers.
void domain_posteriors(const TargetBlock &block, int32_t target, const ParsedTarget &parsed, DomainPosteriors &out);

}  // namespace tropalign
