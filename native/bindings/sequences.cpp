// Python's view of reading sequences. What files hold and errors say is tropalign.sequences'.
#include "../formats/fasta.hpp"
#include "check.hpp"

using namespace nb::literals;

namespace tropalign {
namespace {

nb::tuple records_of(Column<uint8_t> text, bool goes_on, int64_t most_records, bool leading_blanks) {
    require(most_records >= 1, "most_records: below 1");
    FastaRecords found;
    {
        nb::gil_scoped_release release;
        const std::string_view view(reinterpret_cast<const char *>(text.data()), text.size());
        found = split_fasta(view, goes_on, most_records, leading_blanks);
    }
    auto arrays = [](Texts &texts) {
        return nb::make_tuple(to_numpy(std::move(texts.data)), to_numpy(std::move(texts.offsets)));
    };
    return nb::make_tuple(arrays(found.letters), arrays(found.names), arrays(found.descriptions), found.n_bytes);
}

}  // namespace
}  // namespace tropalign

void bind_sequences(nb::module_ &m) {
    using namespace tropalign;
    m.def("split_fasta", records_of, array("text"), "goes_on"_a, "most_records"_a, "leading_blanks"_a);
}
