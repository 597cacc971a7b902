#include "dispatch.hpp"

#include "../compute/isa.hpp"

namespace tropalign {

// TROPALIGN_ISAS is a list X(v2)X(v3)... made by the build.
#define X(isa)                          \
    namespace isa {                     \
    extern const Kernels kernels; \
    }
TROPALIGN_ISAS
#undef X

const Kernels *selected_kernels() {
    const std::string selected = selected_isa();
#define X(name) \
    if (selected == #name) return &name::kernels;
    TROPALIGN_ISAS
#undef X
    return nullptr;
}

}  // namespace tropalign
