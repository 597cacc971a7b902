// FASTQ records of a piece of text, where they are as nearly all files have them: four lines each, ended by '\n'.
#pragma once
#include "records.hpp"

namespace tropalign {

/// What stands in the way of a whole number of records, if anything.
enum class FastqEnd { none, text_ends, unusual };

struct FastqRecords : FileRecords {
    /// none: the block is full, or the text ended with a record. text_ends: more of it is needed. unusual: a record
    /// that another reader has to judge. But for none, no record was taken.
    FastqEnd stopped_by = FastqEnd::none;
    std::vector<uint8_t> qualities;  ///< A character per letter, where they are kept.
};

/// A block of records: most_records of them, or as many as hold most_letters, or the rest of a text that does not go
/// on. Qualities are left out unless keeps_qualities.
FastqRecords split_fastq(std::string_view text, bool goes_on, int64_t most_records, int64_t most_letters,
                         bool leading_blanks, bool keeps_qualities);

}  // namespace tropalign
