// Bindings: the best paths of hidden Markov models.
#include "check.hpp"

void bind_hmm_viterbi(nanobind::module_ &) {}
