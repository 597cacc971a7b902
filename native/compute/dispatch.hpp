// The kernels of the instruction set chosen at import. To be included, as often as there are jobs, in namespace scope
// (beside other includes), after
//     #define TROPALIGN_TABLE_TYPE Kernels              the type of the job's table of kernels
//     #define TROPALIGN_TABLE kernels                   what every instruction set's namespace calls it
//     #define TROPALIGN_SELECTED selected_kernels       the function that this defines
//     #define TROPALIGN_LOOKS_UP_BYTES                  if the kernels are compiled for v4vbmi, too (CMakeLists.txt)
#include "isa.hpp"
#ifndef TROPALIGN_ISAS
#include "isa_list.hpp"
#endif

namespace tropalign {

// TROPALIGN_ISAS is a list X(v2) X(v3)... made by the build. A set that has no kernels of its own, v4vbmi, runs those
// of the set with which its name begins.
#ifdef TROPALIGN_LOOKS_UP_BYTES
#define TROPALIGN_TABLE_ISAS TROPALIGN_ISAS
#else
#define TROPALIGN_TABLE_ISAS TROPALIGN_ISAS_WITHOUT_LOOKUPS
#endif
#define X(isa)                                         \
    namespace isa {                                    \
    extern const TROPALIGN_TABLE_TYPE TROPALIGN_TABLE; \
    }
TROPALIGN_TABLE_ISAS
#undef X

const TROPALIGN_TABLE_TYPE *TROPALIGN_SELECTED() {
    const std::string selected = selected_isa();
    const TROPALIGN_TABLE_TYPE *found = nullptr;
#define X(isa) \
    if (selected.starts_with(#isa)) found = &isa::TROPALIGN_TABLE;
    TROPALIGN_TABLE_ISAS
#undef X
    return found;
}

}  // namespace tropalign

#undef TROPALIGN_TABLE_TYPE
#undef TROPALIGN_TABLE
#undef TROPALIGN_SELECTED
#undef TROPALIGN_TABLE_ISAS
#undef TROPALIGN_LOOKS_UP_BYTES
