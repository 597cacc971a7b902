// Bindings: rescored envelopes as columns, for tests.
#include <nanobind/stl/vector.h>

#include "../profiles/envelope.hpp"
#include "check.hpp"

using namespace nb::literals;

namespace tropalign {
namespace {

nb::bytes bytes_of(const std::string &text) { return nb::bytes(text.data(), text.size()); }

Dict as_dict(const EnvelopeResult &result) {
    const DomainHit &hit = result.hit;
    nb::dict out;
    out["is_dropped"] = result.is_dropped;
    out["envelope_begin"] = hit.envelope_begin, out["envelope_end"] = hit.envelope_end;
    out["begin"] = hit.begin, out["end"] = hit.end;
    out["model_begin"] = hit.model_begin, out["model_end"] = hit.model_end;
    out["envelope_nats"] = hit.envelope_nats, out["correction_nats"] = hit.correction_nats;
    out["expected_accuracy"] = hit.expected_accuracy;
    out["model_line"] = bytes_of(hit.model_line), out["match_line"] = bytes_of(hit.match_line);
    out["target_line"] = bytes_of(hit.target_line), out["posterior_line"] = bytes_of(hit.posterior_line);
    out["null2"] = to_numpy(std::vector<float>(result.null2.begin(), result.null2.end()));
    return out;
}

List<Dict> rescore(const SearchModel &model, const TargetBlock &block, Array<int32_t, 2> envelopes, bool with_null2) {
    require(envelopes.shape(1) == 3, "envelopes: must have target, begin and end");
    std::vector<Envelope> wanted(envelopes.shape(0));
    for (size_t k = 0; k < wanted.size(); ++k) {
        const int32_t target = envelopes(k, 0), begin = envelopes(k, 1), end = envelopes(k, 2);
        require(target >= 0 && target < block.size(), "envelopes: a target is not in the block");
        require(begin >= 0 && begin < end && end <= block.length(target),
                "envelopes: an envelope is empty or extends beyond its target");
        wanted[k] = {target, begin, end, with_null2};
    }
    std::vector<EnvelopeResult> results(wanted.size());
    {
        nb::gil_scoped_release released;
        rescore_envelopes(model, block, wanted, results.data());
    }
    nb::list out;
    for (const EnvelopeResult &result : results) out.append(as_dict(result));
    return out;
}

}  // namespace
}  // namespace tropalign

void bind_profile_envelopes(nb::module_ &m) {
    using namespace tropalign;
    nb::module_ testing = nb::cast<nb::module_>(m.attr("testing"));
    testing.def("rescore_envelopes", &rescore, "model"_a, "block"_a, array("envelopes"), "with_null2"_a = true,
                "Rescore envelopes, given as rows of target, begin, end (0-based, half-open); returns columns.");
}
