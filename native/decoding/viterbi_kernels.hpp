// The kernels of best paths, and the table of them that every instruction set fills.
#pragma once
#include <cstdint>

#include "viterbi_model.hpp"
#include "viterbi_words.hpp"

namespace tropalign {

/// Steps [next, end) of a sequence in the recurrence. A step waits for the previous one, so kernels process
/// several streams in alternation.
struct ForwardStream {
    ViterbiSteps steps;
    int64_t next, end;
    double *values;        ///< [stride] V of the step before `next`, if there is one; becomes V of the last.
    double *kept;          ///< [end - next][stride] gets A, unless it is null.
    bool is_exact = true;  ///< False if a value of a shifted step was below kLowestExact.
    double shifted = 0;    ///< Sum of all shifts, which were subtracted from the values.
};

/// The traceback from the state of step end - 1: gets the states of [first, end - 1), from the values kept for
/// [first, end).
template <class State>
struct TraceStream {
    ViterbiSteps steps;
    int64_t first, end;
    const double *kept;  ///< [end - first][stride]
    State *path;         ///< [end - first]
};

struct BestPathKernels {
    const char *isa;
    /// Streams may have any lengths; they are fastest together if these are similar. scratch: [viterbi_scratch].
    void (*forward)(const ViterbiModel &model, ForwardStream *streams, int64_t n_streams, double *scratch);
    void (*trace_bytes)(const ViterbiModel &model, TraceStream<uint8_t> *streams, int64_t n_streams, double *scratch);
    void (*trace_shorts)(const ViterbiModel &model, TraceStream<uint16_t> *streams, int64_t n_streams, double *scratch);
    /// Runs forward a word at a time; steps are whole words. kept gets V before the first word and after each, as
    /// it was before a shift.
    void (*forward_words)(const WordModel &model, ForwardStream *streams, int64_t n_streams);
    /// `first` is the step before the first word.
    void (*trace_words)(const WordModel &model, TraceStream<uint8_t> *streams, int64_t n_streams);
    /// Appends each symbol to each word. The states within the words take `bits`.
    void (*lengthen_words)(const Words &words, int bits, const Words &symbols, Words &longer);
    int32_t most_states_of_words;
};

/// Maximum number of streams that are processed in alternation.
inline constexpr int kMostStreams = 4;

/// Return the doubles of a kernel's scratch: emissions of each stream, and the state of a step in
/// viterbi_many.hpp.
inline int64_t viterbi_scratch(const ViterbiModel &model) {
    return (kMostStreams + 4) * int64_t{model.stride} + 4 * kLookedThrough;
}

/// Return the table of the chosen instruction set.
const BestPathKernels *selected_best_path_kernels();

}  // namespace tropalign
