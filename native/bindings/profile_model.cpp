// Bindings: a model of tropalign.profiles.models for the stages. Its tables are visible from Python for tests.
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>

#include <algorithm>
#include <cmath>

#include "../profiles/effective_number.hpp"
#include "../profiles/model_text.hpp"
#include "../profiles/search_model.hpp"
#include "checked_model.hpp"

using namespace nb::literals;

namespace tropalign {
namespace {

void make_search_model(SearchModel *self, Array<float, 2> match, Array<float, 2> transitions, Column<float> composition,
                       Column<float> background, Column<float> evalue, nb::bytes consensus) {
    const size_t places = match.shape(0);
    require(places >= 2 && places <= kMostNodes + 1, "match: must have 1 to 1000000 nodes, and a row before them");
    require(match.shape(1) == kResidues, "match: must have 20 residues per node");
    require(transitions.shape(0) == places, "transitions: must have as many rows as match");
    require(transitions.shape(1) == 7, "transitions: must have 7 per node");
    require(composition.size() == kResidues, "composition: must have 20 residues");
    require(background.size() == kResidues, "background: must have 20 residues");
    require(evalue.size() == 6, "evalue: must have 6 numbers");
    require(consensus.size() == places - 1, "consensus: must have a letter per node");
    require_probabilities(match.data(), match.size(), "match");
    require_probabilities(transitions.data(), transitions.size(), "transitions");
    require_probabilities(composition.data(), composition.size(), "composition");
    require_background(background);
    require(std::all_of(evalue.data(), evalue.data() + 6, [](float x) { return std::isfinite(x); }),
            "evalue: a number is not finite");
    const auto M = static_cast<int32_t>(places - 1);
    nb::gil_scoped_release released;
    new (self)
        SearchModel(make_profile_model(M, match.data(), transitions.data(), composition.data(), background.data(),
                                       evalue.data(), std::string(consensus.c_str(), consensus.size())));
}

/// Return a view of a table of the model; it keeps the model alive.
template <class T, size_t n>
Numpy<T> view(nb::handle self, const T *data, const std::array<size_t, n> &shape) {
    return nb::cast(nb::ndarray<nb::numpy, const T>(data, n, shape.data(), self));
}

template <auto table>
auto node_table(nb::handle self) {
    const ProfileModel &model = nb::cast<const SearchModel &>(self).plain();
    const auto &values = model.*table;
    const auto width = static_cast<size_t>(model.M) + 1;
    return view<typename std::remove_cvref_t<decltype(values)>::value_type, 2>(self, values.data(),
                                                                               {values.size() / width, width});
}

template <auto table>
Numpy<float> row(nb::handle self) {
    const auto &values = nb::cast<const SearchModel &>(self).plain().*table;
    return view<float, 1>(self, values.data(), {values.size()});
}

Tuple<float, float, float, float, float, float> evalue_of(const SearchModel &model) {
    const ProfileModel &p = model.plain();
    return nb::make_tuple(p.msv_mu, p.msv_lambda, p.viterbi_mu, p.viterbi_lambda, p.forward_tau, p.forward_lambda);
}

nb::bytes to_bytes(const std::string &text) { return nb::bytes(text.data(), text.size()); }

/// Line, name and error.
using BadText = Tuple<int64_t, nb::bytes, nb::bytes>;

nb::object cutoff(const ModelText &model, int which) {
    if (!model.has_cutoff[which]) return nb::none();
    return nb::make_tuple(model.cutoffs[which][0], model.cutoffs[which][1]);
}

Dict to_python(ModelText &&model) {
    Dict found;
    const auto places = static_cast<size_t>(model.M) + 1;
    found["name"] = to_bytes(model.name);
    found["accession"] = to_bytes(model.accession);
    found["description"] = to_bytes(model.description);
    found["alphabet"] = to_bytes(model.alphabet);
    found["is_calibrated"] = model.is_calibrated;
    found["gathering"] = cutoff(model, 0);
    found["trusted"] = cutoff(model, 1);
    found["noise"] = cutoff(model, 2);
    found["consensus"] = to_bytes(model.consensus);
    found["reference"] = to_bytes(model.reference);
    found["mask"] = to_bytes(model.mask);
    found["structure"] = to_bytes(model.structure);
    found["composition"] = to_numpy(std::vector<float>(model.composition.begin(), model.composition.end()));
    found["evalue"] = to_numpy(std::vector<float>(model.evalue.begin(), model.evalue.end()));
    found["checksum"] = model.has_checksum ? nb::object(nb::int_(model.checksum)) : nb::none();
    if (model.match.empty()) return found;
    found["columns"] = model.columns.empty() ? nb::none() : nb::object(to_numpy(std::move(model.columns)));
    found["match"] =
        to_numpy(std::move(model.match), std::array<size_t, 2>{places, static_cast<size_t>(model.n_residues)});
    found["transitions"] = to_numpy(std::move(model.transitions), std::array<size_t, 2>{places, 7});
    return found;
}

std::variant<Dict, BadText> read_model(nb::bytes text, bool with_nucleotides) {
    try {
        ModelText model;
        {
            nb::gil_scoped_release released;
            model = read_model_text({text.c_str(), text.size()}, with_nucleotides);
        }
        return to_python(std::move(model));
    } catch (const BadModel &bad) {
        return BadText(nb::make_tuple(bad.line, to_bytes(bad.name), to_bytes(bad.what())));
    }
}

double effective_number_of(Array<uint8_t, 2> codes, std::optional<Column<uint8_t>> is_node, float occupancy,
                           double fragment, double entropy, double sigma, Column<float> background) {
    require(codes.shape(0) >= 1 && codes.shape(1) >= 1, "codes: must have at least one row and one column");
    require_codes(codes.data(), codes.size(), kCodes, "codes");
    require(!is_node || is_node->size() == codes.shape(1), "is_node: must have an entry per column");
    if (is_node) require_codes(is_node->data(), is_node->size(), 2, "is_node");
    require(background.size() == kResidues, "background: must have 20 residues");
    require(*std::min_element(background.data(), background.data() + kResidues) >= kLeastBackground,
            "background: a residue of less than 0.000001");
    const AlignedCodes alignment{codes.data(), static_cast<int64_t>(codes.shape(0)),
                                 static_cast<int64_t>(codes.shape(1)), is_node ? is_node->data() : nullptr};
    nb::gil_scoped_release released;
    return effective_number(alignment, {occupancy, fragment, entropy, sigma}, background.data());
}

}  // namespace
}  // namespace tropalign

void bind_profile_model(nb::module_ &m) {
    using namespace tropalign;
    m.def("read_model", &read_model, "text"_a, "with_nucleotides"_a = false,
          "Parse a model in HMMER 3's text format; returns the model, or the line of an error (from 0), the model's "
          "name, and the error.");
    m.def("effective_number", &effective_number_of, array("codes"), nb::arg("is_node").noconvert().none(),
          "occupancy"_a, "fragment"_a, "entropy"_a, "sigma"_a, array("background"),
          "Return the effective number of sequences of an alignment; NaN if HMMER must compute it. See "
          "native/profiles/effective_number.hpp.");
    using Model = ProfileModel;
    nb::class_<SearchModel>(m, "ProfileModel", "A model ready for search; see native/profiles/model.hpp.")
        .def("__init__", &make_search_model, array("match"), array("transitions"), array("composition"),
             array("background"), array("evalue"), "consensus"_a)
        .def_prop_ro(
            "n_nodes", [](const SearchModel &model) { return model.plain().M; }, "M.")
        .def_prop_ro("match_odds", &node_table<&Model::match_odds>, "float32 (29, M + 1).")
        .def_prop_ro("transitions", &node_table<&Model::transitions>, "float32 (8, M + 1): odds.")
        .def_prop_ro("byte_cost", &node_table<&Model::byte_cost>, "uint8 (29, M + 1).")
        .def_prop_ro("word_match", &node_table<&Model::word_match>, "int16 (29, M + 1).")
        .def_prop_ro("word_transitions", &node_table<&Model::word_transitions>, "int16 (8, M + 1).")
        .def_prop_ro("background", &row<&Model::background>, "float32 (20,).")
        .def_prop_ro("composition_odds", &row<&Model::composition_odds>, "float32 (29,).")
        .def_prop_ro(
            "byte_constants",
            [](const SearchModel &model) -> Tuple<int, int, int> {
                return nb::make_tuple(model.plain().bias, model.plain().entry, model.plain().end);
            },
            "bias, entry, end.")
        .def_prop_ro("evalue", &evalue_of, "Location and slope of MSV, Viterbi and Forward scores.")
        .def_prop_ro(
            "consensus",
            [](const SearchModel &model) {
                return nb::bytes(model.plain().consensus.data(), model.plain().consensus.size());
            },
            "A letter per node.");
}
