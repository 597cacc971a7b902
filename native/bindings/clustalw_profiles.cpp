// Bindings: alignment of profiles by CLUSTALW's rules.
#include "check.hpp"

void bind_clustalw_profiles(nanobind::module_ &) {}
