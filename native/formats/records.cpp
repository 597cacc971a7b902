#include "records.hpp"

namespace tropalign {

void FileRecords::add_header(std::string_view header, bool leading_blanks) {
    if (leading_blanks) header = stripped_front(header);
    size_t blank = 0;
    while (blank < header.size() && header[blank] != ' ' && header[blank] != '\t') ++blank;
    names.add(header.substr(0, blank));
    names.end();
    if (blank < header.size()) descriptions.add(stripped(header.substr(blank + 1)));
    descriptions.end();
}

}  // namespace tropalign
