// Words of the standard input, one per line, as numbers: the bits by the C++ library's own way and by a stream.
#include <bit>
#include <cstdio>
#include <iostream>

#include "../../native/formats/read_double.hpp"

int main() {
    std::string word;
    while (std::getline(std::cin, word)) {
        double own = 0, streamed = 0;
        const bool is_own = tropalign::read_double(word, own);
        const bool is_streamed = tropalign::read_double_by_stream(word, streamed);
        std::printf("%d %016llx %d %016llx\n", is_own, std::bit_cast<unsigned long long>(is_own ? own : 0.0),
                    is_streamed, std::bit_cast<unsigned long long>(is_streamed ? streamed : 0.0));
    }
}
