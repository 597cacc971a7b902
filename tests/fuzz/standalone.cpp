// Runs a fuzzer where there is no libFuzzer: over the files that are named, or over inputs of random bytes.
//   standalone FILE...                     those files
//   standalone --random SEED SECONDS MOST  inputs made from the seed, for so long, at most so many; prints their number
// An input that ends the process is left in ./crash-input.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int main(int argc, char **argv) {
    if (argc == 5 && std::strcmp(argv[1], "--random") == 0) {
        const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(std::atof(argv[3]));
        const long most = std::atol(argv[4]);
        long count = 0;
        for (; count < most && std::chrono::steady_clock::now() < end; ++count) {
            std::mt19937_64 random(static_cast<uint64_t>(std::atol(argv[2])) * 1'000'003 +
                                   static_cast<uint64_t>(count));
            std::vector<uint8_t> input(random() % 4096);
            for (uint8_t &byte : input) byte = static_cast<uint8_t>(random());
            std::ofstream("crash-input", std::ios::binary)
                .write(reinterpret_cast<const char *>(input.data()), static_cast<std::streamsize>(input.size()));
            LLVMFuzzerTestOneInput(input.data(), input.size());
        }
        std::remove("crash-input");
        std::printf("%ld\n", count);
        return 0;
    }
    for (int k = 1; k < argc; ++k) {
        std::ifstream file(argv[k], std::ios::binary);
        const std::vector<char> input{std::istreambuf_iterator<char>(file), {}};
        LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t *>(input.data()), input.size());
    }
    std::printf("%d\n", argc - 1);
}
