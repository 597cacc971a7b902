// Bindings: masks of sequences.
#include "../compute/parallel.hpp"
#include "../masks/dust.hpp"
#include "../masks/seg.hpp"
#include "../masks/tantan.hpp"
#include "check.hpp"

using namespace nb::literals;

namespace tropalign {
namespace {

/// Starts and ends within their sequences, and the range of each sequence's intervals.
using Masks = Tuple<Numpy<int64_t>, Numpy<int64_t>>;

/// Call mask(codes, n) for each sequence.
template <class Mask>
Masks masks_of(const Column<uint8_t> &codes, const Column<int64_t> &offsets, int n_threads, Mask mask) {
    require_threads(n_threads);
    const auto n_entries = static_cast<int64_t>(offsets.size());
    require_offsets(offsets.data(), n_entries, static_cast<int64_t>(codes.size()), "offsets");
    const int64_t n = n_entries - 1;
    std::vector<Intervals> found(n);
    PythonPoll poll{nb::none()};
    {
        nb::gil_scoped_release released;
        parallel(
            n_threads, n, 1,
            [&](int, int64_t k) {
                const int64_t begin = offsets.data()[k];
                found[k] = mask(codes.data() + begin, offsets.data()[k + 1] - begin);
            },
            [&](int64_t begun) { return poll(begun); });
    }
    poll.rethrow();
    std::vector<int64_t> first{0}, bounds;
    for (const Intervals &of_sequence : found) {
        for (const Interval &part : of_sequence) bounds.insert(bounds.end(), {part.begin, part.end});
        first.push_back(static_cast<int64_t>(bounds.size() / 2));
    }
    const std::array<size_t, 2> shape{bounds.size() / 2, 2};
    return nb::make_tuple(to_numpy(std::move(bounds), shape), to_numpy(std::move(first)));
}

Masks seg_of(Column<uint8_t> codes, Column<int64_t> offsets, int window, double low, double high, int n_threads) {
    require(window >= 1 && window <= kMostSegWindow, "window: below 1, or above 4096");
    require(low <= high, "low: above high");
    const SegRule rule{window, low, high};
    return masks_of(codes, offsets, n_threads, [&](const uint8_t *of, int64_t n) { return seg(of, n, rule); });
}

Masks dust_of(Column<uint8_t> codes, Column<int64_t> offsets, int window, int level, int n_threads) {
    require(window >= 4 && window <= kMostDustWindow, "window: below 4, or above 4096");
    require(level >= 1 && level <= 1000, "level: below 1, or above 1000");
    const DustRule rule{window, level};
    return masks_of(codes, offsets, n_threads, [&](const uint8_t *of, int64_t n) { return dust(of, n, rule); });
}

Masks tantan_of(Column<uint8_t> codes, Column<int64_t> offsets, Array<double, 2> ratios, int periods, double repeat,
                double end, double decay, double least, int n_threads) {
    require_codes(codes.data(), codes.size(), kTantanCodes - 1, "codes");
    require(ratios.shape(0) == kTantanCodes && ratios.shape(1) == kTantanCodes, "ratios: must have 32 x 32 codes");
    for (size_t k = 0; k < ratios.size(); ++k)
        require(ratios.data()[k] >= 0 && ratios.data()[k] <= 1e6, "ratios: below 0, or above 1000000");
    require(periods >= 1 && periods <= kMostPeriod, "periods: below 1, or above 1024");
    for (double chance : {repeat, end, decay}) require(chance > 0 && chance < 1, "repeat, end, decay: not in 0 to 1");
    const TantanModel model({ratios.data(), periods, repeat, end, decay, least});
    return masks_of(codes, offsets, n_threads, [&](const uint8_t *of, int64_t n) { return tantan(model, of, n); });
}

}  // namespace
}  // namespace tropalign

void bind_masks(nb::module_ &m) {
    using namespace tropalign;
    m.def("mask_seg", seg_of, array("codes"), array("offsets"), "window"_a, "low"_a, "high"_a, "n_threads"_a);
    m.def("mask_dust", dust_of, array("codes"), array("offsets"), "window"_a, "level"_a, "n_threads"_a);
    m.def("mask_tantan", tantan_of, array("codes"), array("offsets"), array("ratios"), "periods"_a, "repeat"_a, "end"_a,
          "decay"_a, "least"_a, "n_threads"_a);
}
