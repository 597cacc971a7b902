// Bindings: reading of sequences; formats and errors are documented in tropalign.sequences.
#include "../formats/letters.hpp"
#include "../formats/records.hpp"
#include "check.hpp"

using namespace nb::literals;

namespace tropalign {
namespace {

std::string_view view_of(const Column<uint8_t> &text) {
    return {reinterpret_cast<const char *>(text.data()), text.size()};
}

using Text = Tuple<Numpy<uint8_t>, Numpy<int64_t>>;
using Records = Tuple<Text, Text, Text, Numpy<int64_t>, Numpy<uint8_t>, int64_t>;

/// Return residues, names and descriptions, each as data and offsets; the number of occurrences of each byte in
/// the residues; qualities; and the number of bytes consumed.
template <class Split>
Records records_of(Split &&split, bool &is_unusual) {
    FastqRecords found;
    std::array<int64_t, 256> counts;
    {
        nb::gil_scoped_release release;
        found = split();
        counts = count_bytes(found.letters.data.data(), static_cast<int64_t>(found.letters.data.size()));
    }
    is_unusual = found.stopped_by == FastqEnd::unusual;
    if (found.stopped_by != FastqEnd::none) found = FastqRecords{};
    auto arrays = [](Texts &texts) {
        return nb::make_tuple(to_numpy(std::move(texts.data)), to_numpy(std::move(texts.offsets)));
    };
    const auto counted = to_numpy(std::vector<int64_t>(counts.begin(), counts.end()));
    return nb::make_tuple(arrays(found.letters), arrays(found.names), arrays(found.descriptions), counted,
                          to_numpy(std::move(found.qualities)), found.n_bytes);
}

Records fasta_records(Column<uint8_t> text, bool goes_on, int64_t most_records, bool leading_blanks) {
    require(most_records >= 1, "most_records: below 1");
    bool is_unusual;
    return records_of(
        [&] {
            return FastqRecords{split_fasta(view_of(text), goes_on, most_records, leading_blanks), FastqEnd::none, {}};
        },
        is_unusual);
}

std::optional<Records> fastq_records(Column<uint8_t> text, bool goes_on, int64_t most_records, int64_t most_letters,
                                     bool leading_blanks, bool keeps_qualities) {
    require(most_records >= 1, "most_records: below 1");
    require(most_letters >= 1, "most_letters: below 1");
    bool is_unusual;
    Records records = records_of(
        [&] {
            return split_fastq(view_of(text), goes_on, most_records, most_letters, leading_blanks, keeps_qualities);
        },
        is_unusual);
    if (is_unusual) return std::nullopt;
    return records;
}

Tuple<int64_t, int64_t> plain_text(Column<uint8_t> text) {
    PlainText found;
    {
        nb::gil_scoped_release release;
        found = check_plain(text.data(), static_cast<int64_t>(text.size()));
    }
    return nb::make_tuple(found.n_lines, found.first_bad);
}

Numpy<int64_t> counted_bytes(Column<uint8_t> letters) {
    std::array<int64_t, 256> counts;
    {
        nb::gil_scoped_release release;
        counts = count_bytes(letters.data(), static_cast<int64_t>(letters.size()));
    }
    return to_numpy(std::vector<int64_t>(counts.begin(), counts.end()));
}

Tuple<Numpy<uint8_t>, int64_t, int64_t> encoded(Column<uint8_t> letters, Column<uint8_t> table, int64_t wildcard) {
    require(table.size() == 256, "table: must have a code per byte");
    require(wildcard >= 0 && wildcard < 255, "wildcard: not a code");
    const auto n = static_cast<int64_t>(letters.size());
    auto codes = std::make_unique_for_overwrite<uint8_t[]>(letters.size());
    Unknown unknown;
    {
        nb::gil_scoped_release release;
        unknown = encode_letters(letters.data(), n, table.data(), static_cast<uint8_t>(wildcard), codes.get());
    }
    uint8_t *data = codes.release();
    nb::capsule keep(data, [](void *p) noexcept { delete[] static_cast<uint8_t *>(p); });
    Numpy<uint8_t> array = nb::cast(nb::ndarray<nb::numpy, uint8_t, nb::ndim<1>>(data, {letters.size()}, keep));
    return nb::make_tuple(array, unknown.count, unknown.first);
}

std::optional<Tuple<int64_t, int64_t>> repeated(Column<uint8_t> data, Column<int64_t> offsets) {
    const auto n_entries = static_cast<int64_t>(offsets.size());
    require_offsets(offsets.data(), n_entries, static_cast<int64_t>(data.size()), "offsets");
    Repeated found;
    {
        nb::gil_scoped_release release;
        found = find_repeated(data.data(), offsets.data(), n_entries - 1);
    }
    if (found.again < 0) return std::nullopt;
    return nb::make_tuple(found.first, found.again);
}

}  // namespace
}  // namespace tropalign

void bind_sequences(nb::module_ &m) {
    using namespace tropalign;
    m.def("split_fasta", fasta_records, array("text"), "goes_on"_a, "most_records"_a, "leading_blanks"_a);
    m.def("split_fastq", fastq_records, array("text"), "goes_on"_a, "most_records"_a, "most_letters"_a,
          "leading_blanks"_a, "keeps_qualities"_a = false);
    m.def("check_plain", plain_text, array("text"));
    m.def("count_bytes", counted_bytes, array("letters"));
    m.def("encode_letters", encoded, array("letters"), array("table"), "wildcard"_a);
    m.def("find_repeated", repeated, array("data"), array("offsets"));
}
