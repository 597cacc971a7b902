// Bindings: trees from distances.
#include "check.hpp"

void bind_trees(nanobind::module_ &) {}
