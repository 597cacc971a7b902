// What a thread needs to find best paths.
#pragma once
#include <algorithm>
#include <limits>
#include <vector>

#include "viterbi_kernels.hpp"

namespace tropalign {

inline constexpr double kImpossible = -std::numeric_limits<double>::infinity();

/// Buffers of one thread.
class ViterbiRoom {
  public:
    explicit ViterbiRoom(const ViterbiModel &model)
        : values_(kMostStreams * int64_t{model.stride}), scratch_(viterbi_scratch(model)), stride_(model.stride) {}

    /// V of a stream.
    double *values(int64_t stream) { return values_.data() + stride_ * stream; }
    double *scratch() { return scratch_.data(); }
    /// Room for A of n steps.
    double *kept(int64_t n) {
        if (static_cast<int64_t>(kept_.size()) < n * stride_) kept_ = Buffer<double>(n * stride_);
        return kept_.data();
    }

  private:
    Buffer<double> kept_, values_, scratch_;
    int64_t stride_;
};

/// The lowest of the best states, -1 where none is possible.
inline int64_t best_state(const ViterbiModel &model, const double *values) {
    const int64_t state = std::max_element(values, values + model.n_states) - values;
    return values[state] > kImpossible ? state : -1;
}

}  // namespace tropalign
