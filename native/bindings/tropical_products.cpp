// Bindings: products of matrices over semirings.
#include "check.hpp"

void bind_tropical_products(nanobind::module_ &) {}
