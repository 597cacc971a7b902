// Selection of the kernels of the instruction set chosen at import, one line per table of kernels, in namespace
// tropalign:
//
//     TROPALIGN_DISPATCH(ColumnKernels, column_kernels)
//
// defines `const ColumnKernels *selected_column_kernels()`, which throws what selected_isa throws. The namespace
// of every instruction set defines a ColumnKernels named column_kernels (kernels_*.cpp).
#pragma once
#include "isa.hpp"
#ifndef TROPALIGN_ISAS
#include "isa_list.hpp"
#endif

/// For kernels without byte look-ups: they are not compiled for v4vbmi if v4 is compiled (CMakeLists.txt).
#define TROPALIGN_DISPATCH(Table, table) \
    TROPALIGN_DISPATCH_AMONG_(TROPALIGN_ISAS_WITHOUT_LOOKUPS, selected_isa(), Table, table)
/// For kernels with byte look-ups.
#define TROPALIGN_DISPATCH_LOOKUPS(Table, table) TROPALIGN_DISPATCH_AMONG_(TROPALIGN_ISAS, selected_isa(), Table, table)
/// For kernels with byte look-ups that use the narrower set on processors that halve wide vectors.
#define TROPALIGN_DISPATCH_NARROW(Table, table) \
    TROPALIGN_DISPATCH_AMONG_(TROPALIGN_ISAS, selected_narrow_isa(), Table, table)

// The build generates the list of instruction sets, the most basic first: LIST(X, ...) is X(v2, ...) X(v3, ...)
// and so on. A set without kernels of its own, v4vbmi, runs those of the set that its name starts with.
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
