// One long pair at a time.
#include "long_pair.hpp"

namespace tropalign::TROPALIGN_ISA {
namespace {

template <class T, bool Local, bool FewLetters>
void run(const Scoring &scoring, const LanePair &pair, int n_threads, const Poll &poll, LaneResult &result,
         Buffer<uint32_t> &path) {
    LongPair<T, kVectorBytes, Local, FewLetters>(scoring, pair).run(n_threads, poll, result, path);
}

}  // namespace

void run_long(const Scoring &scoring, const LanePair &pair, int n_threads, const Poll &poll, LaneResult &result,
              Buffer<uint32_t> &path) {
    if (scoring.mode == Mode::local) return run<int32_t, true, false>(scoring, pair, n_threads, poll, result, path);
    if (fits<int8_t>(scoring) && FewLetterScores<kVectorBytes>::suits(scoring, pair))
        return run<int8_t, false, true>(scoring, pair, n_threads, poll, result, path);
    if (fits<int8_t>(scoring)) return run<int8_t, false, false>(scoring, pair, n_threads, poll, result, path);
    run<int32_t, false, false>(scoring, pair, n_threads, poll, result, path);
}

}  // namespace tropalign::TROPALIGN_ISA
