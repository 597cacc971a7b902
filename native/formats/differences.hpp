// What sets the letters of an alignment apart, as text: minimap2's cs tag and SAM's MD tag.
#pragma once
#include <cstddef>
#include <cstdint>

#include "gapped.hpp"

namespace tropalign {

/// Which text.
///
///     cs   ":6" six equal letters, "*ct" the target's c beside the query's t, "+ga" two letters of the query only,
///          "-ac" two of the target only
///     md   "6" six equal letters, "C" the target's letter beside another one, "^AC" two of the target only; letters of
///          the query only are left out, and a number (a 0 where nothing is equal) stands first, last and between
enum class Differences { cs, md };

/// Bytes that write_differences() fills at most. Throws what columns_of throws.
size_t bound_differences(const AlignedRows &rows, Differences kind);

/// The texts one after another; returns their end. `letters` says how each of 256 bytes is shown. `offsets` takes
/// n_rows + 1 entries: where each text begins.
char *write_differences(const AlignedRows &rows, Differences kind, const uint8_t *letters, char *out, int64_t *offsets);

}  // namespace tropalign
