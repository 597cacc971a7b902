// One pair within a band (band_pair.hpp), by the difference form of Gotoh's recurrence (1982; sweep.hpp).
#include "band.hpp"
#include "band_pair.hpp"
#include "ranges.hpp"

namespace tropalign::TROPALIGN_ISA {
namespace {

bool suits(const Scoring &scoring, const LanePair &pair) {
    if (!fits(scoring, 8)) return false;
    if (kLooksUp128 && ManyLetters::suits(scoring, pair)) return true;
    return FewLetters::suits(scoring, pair);
}

bool run(const Scoring &scoring, const LanePair &pair, const Band &band, UnitScratch &scratch, LaneResult &result) {
    if constexpr (kLooksUp128)
        if (!FewLetters::suits(scoring, pair)) return BandPair<ManyLetters>(scoring, pair, band, scratch).run(result);
    return BandPair<FewLetters>(scoring, pair, band, scratch).run(result);
}

}  // namespace

extern const BandKernels band_kernels = {kVectorBytes, suits, BandPair<FewLetters>::bytes, run};

}  // namespace tropalign::TROPALIGN_ISA
