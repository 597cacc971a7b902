// Differences of an alignment as text: minimap2's cs tag in its short form, and SAM's MD tag.
#pragma once
#include <cstddef>
#include <cstdint>

#include "gapped.hpp"

namespace tropalign {

/// Return the maximum number of bytes that write_differences() fills. Throws what columns_of throws.
size_t bound_differences(const AlignedRows &rows);

/// Write the texts one after another; return their end. `letters` is the output character of each of 256 bytes.
/// `offsets` takes n_rows + 1 entries: the start of each text.
///
///     ":6" six equal residues   "*ct" the target's c against the query's t   "+ga" two residues of the query only
///     "-ac" two of the target only
char *write_differences(const AlignedRows &rows, const uint8_t *letters, char *out, int64_t *offsets);

/// Like bound_differences() and write_differences(), for MD tags. They show residues of the target only, and numbers of
/// equal residues before and after each mismatch or deletion.
///
///     "6C0A4" six equal residues, the target's C and A against others, four equal   "3^GT2" a deletion of GT
size_t bound_mismatches(const AlignedRows &rows);
char *write_mismatches(const AlignedRows &rows, const uint8_t *letters, char *out, int64_t *offsets);

}  // namespace tropalign
