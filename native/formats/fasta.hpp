// FASTA records of a piece of text, in one pass.
#pragma once
#include "records.hpp"

namespace tropalign {

/// The records of a text that begins with one, '>'. As long as the text `goes_on`, its last record is not taken, since
/// its end is not known. Blanks at the ends of lines are left out, and lines that begin with '#', which are comments.
FileRecords split_fasta(std::string_view text, bool goes_on, int64_t most_records, bool leading_blanks);

}  // namespace tropalign
