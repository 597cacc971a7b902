// Steps of forward and backward sums, a word of symbols at a time (words.hpp).
//
// Each step waits for the one before: product, then scale, then the product of the next word. Two independent
// chains fill the gaps:
//
//     chain 0   x --> product --> x --> product --> ...
//     chain 1   y --> product --> y --> product --> ...
#pragma once
#include <algorithm>

#include "sum_vectors.hpp"

namespace tropalign::TROPALIGN_ISA {
namespace {

template <int Padded>
[[gnu::always_inline]] inline void word_step(WordChain &chain, int64_t k, bool scales) {
    alignas(64) double sums[Padded];
    const double *matrix = chain.matrices + int64_t{chain.words[k * chain.stride]} * (Padded * Padded);
    tile_sums<4>(chain.x, matrix, Padded, Padded, sums);
    if (scales) {
        const Scaling scaling = scaling_of(chain.x, Padded);
        chain.exponent += scaling.power;
        for (int j = 0; j < Padded; j += kLanes) put(chain.x + j, get(sums + j) * every<V>(scaling.scale));
    } else {
        for (int j = 0; j < Padded; j += kLanes) put(chain.x + j, get(sums + j));
    }
}

/// Process the words [begin, end) of `Chains` chains in alternation.
template <int Padded, int Chains>
void words_in_turns(WordChain *chains, int64_t begin, int64_t end) {
    alignas(64) double x[Chains][Padded];
    WordChain own[Chains];  // so that the compiler knows that they are not aliased
    for (int c = 0; c < Chains; ++c) {
        own[c] = chains[c];
        std::copy_n(chains[c].x, Padded, x[c]);
        own[c].x = x[c];
    }
    for (int64_t k = begin; k < end; ++k)
#pragma GCC unroll 2
        for (int c = 0; c < Chains; ++c) word_step<Padded>(own[c], k, k % kWordsPerScale == 0);
    for (int c = 0; c < Chains; ++c) {
        std::copy_n(x[c], Padded, chains[c].x);
        chains[c].exponent = own[c].exponent;
    }
}

template <int Padded>
void words_of(WordChain *chains, int n_chains) {
    const int64_t together = n_chains == 2 ? std::min(chains[0].n, chains[1].n) : 0;
    if (together) words_in_turns<Padded, 2>(chains, 0, together);
    for (int c = 0; c < n_chains; ++c)
        if (together < chains[c].n) words_in_turns<Padded, 1>(chains + c, together, chains[c].n);
}

void words(WordChain *chains, int n_chains, int32_t padded) {
    (padded == 8 ? words_of<8> : words_of<16>)(chains, n_chains);
}

}  // namespace
}  // namespace tropalign::TROPALIGN_ISA
