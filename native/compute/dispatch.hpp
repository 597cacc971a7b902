// The kernels of the instruction set chosen at import. To be included, as often as there are jobs, in namespace scope
// (beside other includes), after
//     #define TROPALIGN_TABLE_TYPE Kernels              the type of the job's table of kernels
//     #define TROPALIGN_TABLE kernels                   what every instruction set's namespace calls it
//     #define TROPALIGN_SELECTED selected_kernels       the function that this defines
#include "isa.hpp"
#ifndef TROPALIGN_ISAS
#include "isa_list.hpp"
#endif

namespace tropalign {

// TROPALIGN_ISAS is a list X(v2) X(v3)... made by the build.
#define X(isa)                                         \
    namespace isa {                                    \
    extern const TROPALIGN_TABLE_TYPE TROPALIGN_TABLE; \
    }
TROPALIGN_ISAS
#undef X

const TROPALIGN_TABLE_TYPE *TROPALIGN_SELECTED() {
    const std::string selected = selected_isa();
#define X(isa) \
    if (selected == #isa) return &isa::TROPALIGN_TABLE;
    TROPALIGN_ISAS
#undef X
    return nullptr;
}

}  // namespace tropalign

#undef TROPALIGN_TABLE_TYPE
#undef TROPALIGN_TABLE
#undef TROPALIGN_SELECTED
