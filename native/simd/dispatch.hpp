// The kernels of the instruction set chosen at import, in a line per table of kernels, in namespace tropalign:
//
//     TROPALIGN_DISPATCH(ColumnKernels, column_kernels)
//
// defines `const ColumnKernels *selected_column_kernels()`, which throws what selected_isa throws. Every instruction
// set's namespace has a ColumnKernels of the name column_kernels (kernels_*.cpp).
#pragma once
#include "isa.hpp"
#ifndef TROPALIGN_ISAS
#include "isa_list.hpp"
#endif

/// Kernels without look-ups of bytes: they are not compiled for v4vbmi where they are for v4 (CMakeLists.txt).
#define TROPALIGN_DISPATCH(Table, table) \
    TROPALIGN_DISPATCH_AMONG_(TROPALIGN_ISAS_WITHOUT_LOOKUPS, selected_isa(), Table, table)
/// Kernels with look-ups of bytes.
#define TROPALIGN_DISPATCH_LOOKUPS(Table, table) TROPALIGN_DISPATCH_AMONG_(TROPALIGN_ISAS, selected_isa(), Table, table)
/// Kernels with look-ups of bytes, of the narrower set where wide vectors are halved.
#define TROPALIGN_DISPATCH_NARROW(Table, table) \
    TROPALIGN_DISPATCH_AMONG_(TROPALIGN_ISAS, selected_narrow_isa(), Table, table)

// The build makes the list of instruction sets, the plainest first: LIST(X, ...) is X(v2, ...) X(v3, ...) and so on.
// A set that has no kernels of its own, v4vbmi, runs those of the set with which its name begins.
#define TROPALIGN_DISPATCH_AMONG_(LIST, isa_of_table, Table, table) \
    LIST(TROPALIGN_DECLARED_TABLE_, Table, table)                   \
    const Table *selected_##table() {                               \
        const std::string selected = isa_of_table;                  \
        const Table *found = nullptr;                               \
        LIST(TROPALIGN_SELECTED_TABLE_, Table, table)               \
        return found;                                               \
    }
#define TROPALIGN_DECLARED_TABLE_(isa, Table, table) \
    namespace isa {                                  \
    extern const Table table;                        \
    }
#define TROPALIGN_SELECTED_TABLE_(isa, Table, table) \
    if (selected.starts_with(#isa)) found = &isa::table;
