// A model out of the text of HMMER 3 (formats 3/a to 3/f): every number as HMMER's own reader makes it, which is part
// of a search's last bits.
#pragma once
#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace tropalign {

/// A model as a file holds it; see make_profile_model for the arrays.
struct ModelText {
    std::string name, accession, description, alphabet;
    int32_t M = 0;
    int n_residues = 20;                  ///< Of its alphabet: 20 or 4.
    std::vector<float> match;             ///< [M + 1][n_residues]
    std::vector<float> transitions;       ///< [M + 1][7]
    std::array<float, 20> composition{};  ///< Zeros where the file has none, as HMMER reads it.
    std::array<float, 6> evalue{};
    bool is_calibrated = false;
    /// Gathering, trusted and noise cutoffs: of a target, and of a domain.
    std::array<std::array<float, 2>, 3> cutoffs{};
    std::array<bool, 3> has_cutoff{};
    /// A letter per node; all but the consensus may be empty.
    std::string consensus, reference, mask, structure;
    /// The column of each node in the alignment that it was made of, from 1, or none at all; a checksum of the rows.
    std::vector<int32_t> columns;
    uint32_t checksum = 0;
    bool has_checksum = false;
};

/// What is wrong with a model, and where: the line counts from 0.
class BadModel : public std::runtime_error {
  public:
    BadModel(int64_t line, const std::string &what, std::string name)
        : std::runtime_error(what), line(line), name(std::move(name)) {}
    int64_t line;
    std::string name;  ///< As far as it is known.
};

/// The model that a text holds, from its line HMMER3/x to its line //. Of models in another alphabet than amino acids
/// only the header is read, unless `with_nucleotides` wants those of DNA and RNA whole. Throws BadModel.
ModelText read_model_text(std::string_view text, bool with_nucleotides);

}  // namespace tropalign
