// Bindings: sums over the paths of hidden Markov models.
#include "check.hpp"

void bind_hmm_sums(nanobind::module_ &) {}
