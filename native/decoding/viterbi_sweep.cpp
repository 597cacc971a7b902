#include "viterbi_sweep.hpp"

#include <algorithm>
#include <utility>

#include "../simd/dispatch.hpp"
#include "viterbi_kernels.hpp"

namespace tropalign {

TROPALIGN_DISPATCH(BestPathKernels, best_path_kernels)

ViterbiSweep::ViterbiSweep(const ViterbiModel &model, int32_t n_symbols, int64_t n_steps)
    : kernels_(*selected_best_path_kernels()), model_(model) {
    const int length = word_length(model, n_symbols, n_steps, kernels_.most_states_of_words);
    if (length == 1) return;
    const Words symbols = words_of_symbols(model, n_symbols);
    Words words = words_of_symbols(model, n_symbols);
    for (int n = 1; n < length; ++n) {
        Words longer(words.n_words * n_symbols, model.stride);
        kernels_.lengthen_words(words, (n - 1) * kInnerBits, symbols, longer);
        words = std::move(longer);
    }
    words_.emplace(WordModel{length, n_symbols, std::move(words)});
}

void ViterbiSweep::forward(ForwardStream *streams, int64_t n_streams, double *scratch) const {
    if (!words_) return forward_singly(streams, n_streams, scratch);
    for (int64_t s = 0; s < n_streams; s += kMostStreams) {
        const int64_t n = std::min<int64_t>(kMostStreams, n_streams - s);
        int64_t ends[kMostStreams];
        for (int64_t q = 0; q < n; ++q) {
            ForwardStream &stream = streams[s + q];
            ends[q] = stream.end;
            stream.end = stream.next + single(stream.end - stream.next);
        }
        forward_singly(streams + s, n, scratch);
        for (int64_t q = 0; q < n; ++q) streams[s + q].end = ends[q];
        kernels_.forward_words(*words_, streams + s, n);
    }
}

void ViterbiSweep::trace(TraceStream<uint8_t> *streams, int64_t n_streams, double *scratch) const {
    if (!words_) return trace_singly(streams, n_streams, scratch);
    for (int64_t s = 0; s < n_streams; s += kMostStreams) {
        const int64_t n = std::min<int64_t>(kMostStreams, n_streams - s);
        TraceStream<uint8_t> words[kMostStreams];
        for (int64_t q = 0; q < n; ++q) {
            TraceStream<uint8_t> &stream = streams[s + q];
            const int64_t n_single = single(stream.end - stream.first);
            words[q] = {stream.steps, stream.first + n_single - 1, stream.end, stream.kept + n_single * model_.stride,
                        stream.path + n_single - 1};
            stream.end = stream.first + n_single;
        }
        kernels_.trace_words(*words_, words, n);
        trace_singly(streams + s, n, scratch);
    }
}

void ViterbiSweep::trace(TraceStream<uint16_t> *streams, int64_t n_streams, double *scratch) const {
    trace_singly(streams, n_streams, scratch);  // models with 16-bit states have too many states for words
}

}  // namespace tropalign
