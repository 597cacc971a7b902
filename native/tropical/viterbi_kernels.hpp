// What the kernels of best paths do, and the table of them that every instruction set fills.
#pragma once
#include <cstdint>

#include "viterbi_model.hpp"

namespace tropalign {

struct BestPathKernels {
    const char *isa;
    /// Steps [first, end) of viterbi.hpp, lanes are states. values [stride] are V of the step before, if there is one,
    /// and become V of the last. kept [end - first][stride] gets A, unless it is null. scratch: [viterbi_scratch].
    /// False where a value of a shifted step was below kLowestExact.
    bool (*forward)(const ViterbiModel &model, const ViterbiSteps &steps, int64_t first, int64_t end, double *values,
                    double *kept, double *scratch);
    /// The way back from the state path[end - 1]: states of [first, end - 1), from what forward kept of [first, end).
    void (*trace_bytes)(const ViterbiModel &model, const ViterbiSteps &steps, int64_t first, int64_t end,
                        const double *kept, uint8_t *path, double *scratch);
    void (*trace_words)(const ViterbiModel &model, const ViterbiSteps &steps, int64_t first, int64_t end,
                        const double *kept, uint16_t *path, double *scratch);
};

/// Doubles of a kernel's scratch: emissions, keys, sums, guesses, numbers of rows.
inline int64_t viterbi_scratch(const ViterbiModel &model) { return 5 * int64_t{model.stride} + 8; }

/// The table of the chosen instruction set.
const BestPathKernels *selected_best_path_kernels();

}  // namespace tropalign
