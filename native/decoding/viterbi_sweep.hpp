// A stretch of steps, and its traceback: in single steps, or in words preceded by single steps.
//
//     A  A  A | V       V       V       V     kept: the rows of single steps, then V around each word
//     .  .  . | .  . [.  .  .  .][.  .  .  .]
//     at least one single step
#pragma once
#include <optional>

#include "viterbi_kernels.hpp"

namespace tropalign {

class ViterbiSweep {
  public:
    /// n_steps: total number of steps to decode. n_symbols: codes are lower than this; 0 if there are no codes.
    ViterbiSweep(const ViterbiModel &model, int32_t n_symbols, int64_t n_steps);

    bool has_words() const { return words_.has_value(); }
    /// Run forward like the kernels (viterbi_kernels.hpp).
    void forward(ForwardStream *streams, int64_t n_streams, double *scratch) const;
    void trace(TraceStream<uint8_t> *streams, int64_t n_streams, double *scratch) const;
    void trace(TraceStream<uint16_t> *streams, int64_t n_streams, double *scratch) const;

    /// Run forward in single steps only.
    void forward_singly(ForwardStream *streams, int64_t n_streams, double *scratch) const {
        kernels_.forward(model_, streams, n_streams, scratch);
    }
    void trace_singly(TraceStream<uint8_t> *streams, int64_t n_streams, double *scratch) const {
        kernels_.trace_bytes(model_, streams, n_streams, scratch);
    }
    void trace_singly(TraceStream<uint16_t> *streams, int64_t n_streams, double *scratch) const {
        kernels_.trace_shorts(model_, streams, n_streams, scratch);
    }

  private:
    const BestPathKernels &kernels_;
    const ViterbiModel &model_;
    std::optional<WordModel> words_;

    /// Number of single steps before the words, of n steps.
    int64_t single(int64_t n) const { return 1 + (n - 1) % words_->length; }
};

}  // namespace tropalign
