// The emissions of some neighbouring positions in the form for the kernels: rows of probabilities, and the row
// index of each position. For codes these are the model's rows per symbol, for frames they are computed.
#pragma once
#include <vector>

#include "sums.hpp"

namespace tropalign {

class Emissions {
  public:
    /// Emissions of up to `most` positions at a time.
    Emissions(const HmmModel &model, const Observations &seen, int64_t most)
        : model_(model), seen_(seen), index_(static_cast<size_t>(most)),
          rows_(seen.frames ? static_cast<size_t>(most * model.padded) : 0),
          highest_(seen.frames ? static_cast<size_t>(most) : 0) {}

    /// Prepare the emissions of positions [first, last). Returns true if one power of two per position suffices, or if
    /// the model needs no checks.
    bool prepare(int64_t first, int64_t last) {
        const int64_t n = last - first;
        power_ = 0;
        log_ = 0;
        if (seen_.codes) {
            for (int64_t t = 0; t < n; ++t) {
                index_[static_cast<size_t>(t)] = seen_.codes[first + t];
                power_ += model_.powers[seen_.codes[first + t]];
            }
            return true;
        }
        for (int64_t t = 0; t < n; ++t) index_[static_cast<size_t>(t)] = static_cast<int32_t>(t);
        const bool is_near = model_.kernels->emission_rows(seen_.frames + first * model_.n_states, n, model_.n_states,
                                                           model_.padded, rows_.data(), highest_.data());
        for (int64_t t = 0; t < n; ++t) log_ += highest_[static_cast<size_t>(t)];
        return is_near || !model_.is_checked;
    }

    const double *rows() const { return seen_.codes ? model_.emissions.data() : rows_.data(); }
    const int32_t *index() const { return index_.data(); }
    /// Factors taken out of the rows of all positions: a power of two, and the logarithm of a factor.
    int64_t power() const { return power_; }
    double log() const { return log_; }

  private:
    const HmmModel &model_;
    const Observations &seen_;
    std::vector<int32_t> index_;
    Lined rows_;
    std::vector<double> highest_;
    int64_t power_ = 0;
    double log_ = 0;
};

}  // namespace tropalign
