// Estimated similarity of two sequences, from a few k-mers of each; no result depends on the estimate.
//
// A sequence's k-mers of w residues are hashed; the hash assigns a k-mer to one of 128 classes and gives it a
// number, and the sketch keeps the smallest number of each class (Li, Owen and Zhang 2012, one permutation
// hashing). Two sequences have the same smallest number in a class with the probability J that one of their k-mers
// is in both (Broder 1997). With c = 2 J / (1 + J) the share of common k-mers, and all w residues of a k-mer
// unchanged with probability (1 - p)^w, they differ in a share p = 1 - c^(1/w) of their residues.
#pragma once
#include <array>
#include <cstdint>

#include "interface.hpp"

namespace tropalign {

struct Sketch {
    static constexpr int kClasses = 128;
    static constexpr uint16_t kNone = 0xffff;  // no k-mer of this class
    uint16_t least[kClasses];

    /// `word`: residues of a k-mer, at most 16.
    Sketch(const Letters &, int word);
};

/// Return a k-mer length for which random sequences of `length` residues have few common k-mers.
int word_for(int64_t length, bool has_few_letters);

/// The share of differing residues, by the number of common classes; 1 if that number may be due to chance.
class Divergence {
  public:
    explicit Divergence(int word);
    double operator()(const Sketch &, const Sketch &) const;

  private:
    std::array<double, Sketch::kClasses + 1> by_classes_;
};

}  // namespace tropalign
