// Bindings: profiles aligned with profiles and sequences.
#include <cmath>

#include "../msa/profile_pairs.hpp"
#include "check.hpp"

namespace tropalign {
namespace {

/// Refuse matrices whose numbers could have an infinite sum over 2^31 terms.
void require_finite(const Array<double, 2> &values, double most, const char *name) {
    const double *data = values.data();
    bool good = true;
    for (size_t k = 0; k < values.shape(0) * values.shape(1); ++k) good &= std::abs(data[k]) <= most;
    if (!good) refuse(std::string(name) + ": a number beyond " + std::to_string(static_cast<int64_t>(most)));
}

ProfileColumns profile_columns(const Array<double, 2> &shares, const char *name) {
    require_finite(shares, 1, name);
    if (shares.shape(0) < 1 || shares.shape(1) < 2)
        refuse(std::string(name) + ": must have at least one column and one letter");
    if (shares.shape(0) > INT32_MAX / 2) refuse(std::string(name) + ": too many columns");
    return {shares.data(), static_cast<int64_t>(shares.shape(0)), static_cast<int64_t>(shares.shape(1))};
}

template <class Work>
Tuple<Numpy<int32_t>, Numpy<int32_t>, int64_t> merged(Work work) {
    PythonPoll poll{Progress(nb::none())};
    Watch watch;
    MergedColumns found;
    {
        nb::gil_scoped_release released;
        watch.run(std::ref(poll), [&] { found = work(watch); });
    }
    poll.rethrow();
    return nb::make_tuple(to_numpy(std::move(found.first)), to_numpy(std::move(found.second)), found.n_columns);
}

Tuple<Numpy<int32_t>, Numpy<int32_t>, int64_t> profiles(Array<double, 2> first, Array<double, 2> second) {
    const ProfileColumns p = profile_columns(first, "first"), q = profile_columns(second, "second");
    require(p.n_letters == q.n_letters, "second: must have the letters of the first profile");
    return merged([&](const Watch &watch) { return align_profiles(p, q, watch); });
}

Tuple<Numpy<int32_t>, Numpy<int32_t>, int64_t> profile_and_sequence(Array<double, 2> profile, Column<uint8_t> codes,
                                                                    Array<double, 2> scores) {
    const ProfileColumns p = profile_columns(profile, "profile");
    const auto n = static_cast<size_t>(p.n_letters);
    require(scores.shape(0) == n && scores.shape(1) == n, "scores: must have a score per two letters of the profile");
    require_finite(scores, 1e6, "scores");
    require(codes.size() >= 1 && codes.size() <= INT32_MAX / 2, "codes: empty, or too many");
    require_codes(codes.data(), codes.size(), static_cast<int>(std::min<int64_t>(p.n_letters - 1, 255)), "codes");
    const auto length = static_cast<int64_t>(codes.size());
    return merged(
        [&](const Watch &watch) { return align_profile_to_sequence(p, codes.data(), length, scores.data(), watch); });
}

}  // namespace
}  // namespace tropalign

void bind_msa_profiles(nanobind::module_ &m) {
    using namespace tropalign;
    m.def("align_profiles", &profiles, array("first"), array("second"),
          "Align two profiles by Euclidean distance of columns; returns (first, second, n_columns).");
    m.def("align_profile_to_sequence", &profile_and_sequence, array("profile"), array("codes"), array("scores"),
          "Align a profile with a sequence by scores; returns (first, second, n_columns).");
}
