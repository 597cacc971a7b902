// What sets the letters of an alignment apart, as text: minimap2's cs tag in its short form.
#pragma once
#include <cstddef>
#include <cstdint>

#include "gapped.hpp"

namespace tropalign {

/// Bytes that write_differences() fills at most. Throws what columns_of throws.
size_t bound_differences(const AlignedRows &rows);

/// The texts one after another; returns their end. `letters` says how each of 256 bytes is shown. `offsets` takes
/// n_rows + 1 entries: where each text begins.
///
///     ":6" six equal letters   "*ct" the target's c beside the query's t   "+ga" two letters of the query only
///     "-ac" two of the target only
char *write_differences(const AlignedRows &rows, const uint8_t *letters, char *out, int64_t *offsets);

}  // namespace tropalign
