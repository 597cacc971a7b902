// Bindings: closures of matrices.
#include "check.hpp"

void bind_tropical_paths(nanobind::module_ &) {}
