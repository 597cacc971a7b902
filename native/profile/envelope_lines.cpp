#include "envelope_lines.hpp"

#include <cmath>
#include <string_view>

namespace tropalign {
namespace {

constexpr std::string_view kLetters = "ACDEFGHIKLMNPQRSTVWY-BJZOUX*~";

char upper(char letter) { return letter >= 'a' && letter <= 'z' ? static_cast<char>(letter - 'a' + 'A') : letter; }
char lower(char letter) { return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter; }

/// Tenths, rounded; '*' from 0.95 on.
char posterior_letter(float p) {
    if (!(p + 0.05 < 1.0)) return '*';
    return static_cast<char>('0' + static_cast<int>((p + 0.05) * 10.0));
}

char between(const ProfileModel &model, int32_t k, uint8_t code) {
    const char letter = model.consensus[k - 1];
    if (kLetters[code] == upper(letter)) return letter;
    return model.match_odds[code * (static_cast<size_t>(model.M) + 1) + k] > 1.0f ? '+' : ' ';
}

}  // namespace

void finish_null2(std::array<float, kCodes> &odds) {
    constexpr std::string_view members[] = {"DN", "IL", "EQ", "K", "C", kLetters.substr(0, kResidues)};
    for (int a = 0; a < 6; ++a) {
        float sum = 0;
        for (const char letter : members[a]) sum += odds[kLetters.find(letter)];
        odds[kResidues + 1 + a] = sum / static_cast<float>(members[a].size());
    }
    odds[kResidues] = odds[kCodes - 2] = odds[kCodes - 1] = 1;
    for (float &x : odds) x = logf(x);
}

void write_lines(const ProfileModel &model, const uint8_t *codes, const std::vector<PathStep> &path,
                 int32_t envelope_begin, DomainHit &hit) {
    // Backward order: the first domain's steps come last, between the last 'B' and the one before.
    size_t end = path.size();
    while (end > 0 && path[end - 1].state != 'B') --end;
    if (end == 0) return;
    size_t begin = --end;
    while (begin > 0 && path[begin - 1].state != 'B') --begin;
    while (begin < end && path[begin].state != 'M') ++begin;
    if (begin == end) return;
    const PathStep &first = path[end - 1], &last = path[begin];
    hit.begin = envelope_begin + first.i - 1, hit.end = envelope_begin + last.i;
    hit.model_begin = first.k - 1, hit.model_end = last.k;
    for (size_t z = end; z-- > begin;) {
        const PathStep &step = path[z];
        const char letter = step.state == 'D' ? '-' : kLetters[codes[step.i - 1]];
        hit.model_line += step.state == 'I' ? '.' : model.consensus[step.k - 1];
        hit.match_line += step.state == 'M' ? between(model, step.k, codes[step.i - 1]) : ' ';
        hit.target_line += step.state == 'I' ? lower(letter) : letter;
        hit.posterior_line += step.state == 'D' ? '.' : posterior_letter(step.posterior);
    }
}

}  // namespace tropalign
