// One long pair at a time.
#include "long_pair.hpp"

namespace tropalign::TROPALIGN_ISA {

bool run_long(const Scoring &scoring, const LanePair &pair, int n_threads, int64_t memory_bytes, const Poll &poll,
              LaneResult &result, Buffer<uint32_t> &path) {
    auto run = [&]<class T, bool Local, bool FewLetters>() {
        LongPair<T, kVectorBytes, Local, FewLetters> whole(scoring, pair, n_threads, memory_bytes);
        return whole.run(poll, result, path);
    };
    // A local best cell is searched in 32 bits at once: that no block saturates is worth more than narrow lanes.
    if (scoring.mode == Mode::local) return run.template operator()<int32_t, true, false>();
    if (!fits(scoring, 8)) return run.template operator()<int32_t, false, false>();
    if (FewLetterScores<kVectorBytes>::suits(scoring, pair)) return run.template operator()<int8_t, false, true>();
    return run.template operator()<int8_t, false, false>();
}

}  // namespace tropalign::TROPALIGN_ISA
