// Bindings: non-serial polyadic problems.
#include "check.hpp"

void bind_tropical_triangular(nanobind::module_ &) {}
