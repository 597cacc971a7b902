// A domain within its envelope, the part of a target in which it may lie: its score with one domain only (unihit
// mode), the alignment of highest expected accuracy, and the correction of the score for its composition. HMMER
// 3.4's numbers to the last bit (rescore_isolated_domain).
#pragma once
#include <array>
#include <cstdint>
#include <span>

#include "hit.hpp"
#include "search_model.hpp"
#include "targets.hpp"

namespace tropalign {

struct Envelope {
    int32_t target, begin, end;  ///< 0-based, half-open in the target, not empty.
    bool with_null2;             ///< True if null2 is requested (else it comes from stochastic traces).
};

struct EnvelopeResult {
    /// Numbers left the range of floats, as on long repeats: HMMER drops the domain. No other field is set then.
    bool is_dropped = false;
    /// Envelope, alignment, envelope_nats, expected_accuracy; correction_nats with null2. Bits and P-value are not set.
    DomainHit hit;
    /// Logarithm of each code's odds under null2; zeros if not requested.
    std::array<float, kCodes> null2{};
};

/// Largest memory of envelopes that are computed in parallel; a larger single one takes what it needs.
inline constexpr size_t kUnitBytes = size_t{32} << 20;

/// Return the bytes that a thread may take for envelopes of up to L residues: beyond kUnitBytes, 10.5 bytes per
/// residue and node.
size_t envelope_bytes(const SearchModel &model, int32_t L);

/// Rescore any number of envelopes, of any targets; out[k] belongs to envelopes[k].
void rescore_envelopes(const SearchModel &model, const TargetBlock &block, std::span<const Envelope> envelopes,
                       EnvelopeResult *out);

}  // namespace tropalign
