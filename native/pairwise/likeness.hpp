// How alike two sequences are, from a few words of each: a guess, on which no result depends.
//
// A sequence's words of w letters are hashed; the hash says to which of 128 classes a word belongs and gives it a
// number, and the sketch keeps the least number of each class (Li, Owen and Zhang 2012, one permutation hashing). Two
// sequences have the same least number in a class with the probability J that one of their words is in both (Broder
// 1997). With c = 2 J / (1 + J) the share of words in common, and all w letters of a word unchanged with probability
// (1 - p)^w, they differ in a share p = 1 - c^(1/w) of their letters.
#pragma once
#include <array>
#include <cstdint>

#include "interface.hpp"

namespace tropalign {

struct Sketch {
    static constexpr int kClasses = 128;
    static constexpr uint16_t kNone = 0xffff;  // no word of that class
    uint16_t least[kClasses];

    /// `word`: letters of a word, at most 16.
    Sketch(const Letters &, int word);
};

/// The word that tells chance from likeness: random sequences of `length` residues have few in common.
int word_for(int64_t length, bool has_few_letters);

/// The share of letters that differ, by the number of classes in common; 1 where that may be chance.
class Divergence {
  public:
    explicit Divergence(int word);
    double operator()(const Sketch &, const Sketch &) const;

  private:
    std::array<double, Sketch::kClasses + 1> by_classes_;
};

}  // namespace tropalign
