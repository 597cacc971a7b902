// Bindings: CLUSTALW's pairwise distances.
#include "check.hpp"

void bind_clustalw_pairs(nanobind::module_ &) {}
