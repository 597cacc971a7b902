// FASTA records of a piece of text, in one pass: letters, names and descriptions one after another, with their places.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

namespace tropalign {

/// Texts one after another: text k is data[offsets[k] .. offsets[k + 1]).
struct Texts {
    std::vector<uint8_t> data;
    std::vector<int64_t> offsets{0};

    void end() { offsets.push_back(static_cast<int64_t>(data.size())); }
};

struct FastaRecords {
    Texts letters;       ///< Lines of a record joined, without the blanks at their ends.
    Texts names;         ///< Headers up to the first blank ...
    Texts descriptions;  ///< ... and what follows, without blanks at the ends.
    size_t n_bytes = 0;  ///< Of the text; what follows belongs to records that were not taken.
};

/// The records of a text that begins with one, '>'. As long as the text `goes_on`, its last record is not taken, since
/// its end is not known. Lines that begin with '#' are comments. leading_blanks: those before a name are no part of it.
FastaRecords split_fasta(std::string_view text, bool goes_on, int64_t most_records, bool leading_blanks);

}  // namespace tropalign
