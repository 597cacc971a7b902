// A model read from the text of HMMER 3 (formats 3/a to 3/f): every number as HMMER's own reader computes it,
// since a search's last bits depend on it.
#pragma once
#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace tropalign {

/// A model as stored in a file; see make_profile_model for the arrays.
struct ModelText {
    std::string name, accession, description, alphabet;
    int32_t M = 0;
    int n_residues = 20;                  ///< Size of the alphabet: 20 or 4.
    std::vector<float> match;             ///< [M + 1][n_residues]
    std::vector<float> transitions;       ///< [M + 1][7]
    std::array<float, 20> composition{};  ///< Zeros if the file has none, as in HMMER.
    std::array<float, 6> evalue{};
    bool is_calibrated = false;
    /// Gathering, trusted and noise cutoffs: of a target, and of a domain.
    std::array<std::array<float, 2>, 3> cutoffs{};
    std::array<bool, 3> has_cutoff{};
    /// One character per node; all but the consensus may be empty.
    std::string consensus, reference, mask, structure;
    /// The column of each node in the source alignment, counted from 1, or empty; a checksum of the rows.
    std::vector<int32_t> columns;
    uint32_t checksum = 0;
    bool has_checksum = false;
};

/// An error in a model, with its location: the line counts from 0.
class BadModel : public std::runtime_error {
  public:
    BadModel(int64_t line, const std::string &what, std::string name)
        : std::runtime_error(what), line(line), name(std::move(name)) {}
    int64_t line;
    std::string name;  ///< Empty if unknown.
};

/// Read the model in a text, from its line HMMER3/x to its line //. For other alphabets than amino acids only the
/// header is read, unless `with_nucleotides` requests complete models of DNA and RNA. Throws BadModel.
ModelText read_model_text(std::string_view text, bool with_nucleotides);

}  // namespace tropalign
