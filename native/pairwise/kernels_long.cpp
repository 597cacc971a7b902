// One long pair (long_block.hpp): H(i,j) = max(H(i-1,j-1) + s(i,j), E(i,j), F(i,j) [, 0]) (Gotoh 1982; sweep.hpp).
#include "long_pair.hpp"

namespace tropalign::TROPALIGN_ISA {

bool run_long(const Scoring &scoring, const LanePair &pair, int n_threads, int64_t memory_bytes, const Poll &poll,
              LaneResult &result, Buffer<uint32_t> &path) {
    auto run = [&]<class T, Mode M, bool FewLetters>() {
        LongPair<T, kVectorBytes, M, FewLetters> whole(scoring, pair, n_threads, memory_bytes);
        return whole.run(poll, result, path);
    };
    switch (scoring.mode) {
        case Mode::local:
            // The best cell is searched in 32 bits from the start: avoiding saturated blocks is worth more than
            // narrow lanes.
            return run.template operator()<int32_t, Mode::local, false>();
        case Mode::global:
            if (!fits(scoring, 8)) return run.template operator()<int32_t, Mode::global, false>();
            if (FewLetterScores<kVectorBytes>::suits(scoring, pair))
                return run.template operator()<int8_t, Mode::global, true>();
            return run.template operator()<int8_t, Mode::global, false>();
    }
    __builtin_unreachable();
}

}  // namespace tropalign::TROPALIGN_ISA
