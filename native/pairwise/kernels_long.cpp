// One long pair (long_block.hpp): H(i,j) = max(H(i-1,j-1) + s(i,j), E(i,j), F(i,j) [, 0]) (Gotoh 1982; sweep.hpp).
#include "long_pair.hpp"

namespace tropalign::TROPALIGN_ISA {

bool run_long(const Scoring &scoring, const LanePair &pair, int n_threads, int64_t memory_bytes, const Poll &poll,
              LaneResult &result, Buffer<uint32_t> &path) {
    constexpr int B = kVectorBytes;
    auto run = [&]<class T, Mode M, class Scores>() {
        LongPair<T, B, M, Scores> whole(scoring, pair, n_threads, memory_bytes);
        return whole.run(poll, result, path);
    };
    switch (scoring.mode) {
        case Mode::local:
            // The best cell is searched in 32 bits from the start: avoiding saturated blocks is worth more than
            // narrow lanes.
            return run.template operator()<int32_t, Mode::local, PairScores<int32_t, B>>();
        case Mode::global:
            if (!fits(scoring, 8)) return run.template operator()<int32_t, Mode::global, PairScores<int32_t, B>>();
            if (FewLetterScores<B>::suits(scoring, pair))
                return run.template operator()<int8_t, Mode::global, FewLetterScores<B>>();
            return run.template operator()<int8_t, Mode::global, PairScores<int8_t, B>>();
    }
    __builtin_unreachable();
}

}  // namespace tropalign::TROPALIGN_ISA
