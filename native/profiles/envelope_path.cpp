// The best path of an envelope, traced back, and its text lines.
#include <ranges>
#include <string_view>

#include "envelope_kernels.hpp"

namespace tropalign {
namespace {

constexpr std::string_view kLetters = "ACDEFGHIKLMNPQRSTVWY-BJZOUX*~";

char upper(char letter) { return letter >= 'a' && letter <= 'z' ? static_cast<char>(letter - 'a' + 'A') : letter; }
char lower(char letter) { return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter; }

/// Return rounded tenths; '*' from 0.95 on.
char posterior_letter(float p) {
    if (!(p + 0.05 < 1.0)) return '*';
    return static_cast<char>('0' + static_cast<int>((p + 0.05) * 10.0));
}

char between(const ProfileModel &model, int32_t k, uint8_t code) {
    const char letter = model.consensus[k - 1];
    if (kLetters[code] == upper(letter)) return letter;
    return model.match_odds[code * (static_cast<size_t>(model.M) + 1) + k] > 1.0f ? '+' : ' ';
}

/// The kernels' results for one lane: rows count from its own row 0, node positions as in float_tables.hpp.
class LaneMemory {
  public:
    LaneMemory(const EnvelopeUnit &unit, int lane, int width)
        : unit_(unit), lane_(lane), width_(width), Q_(unit.tables->Q), begin_(unit.n_rows - unit.lanes[lane].L) {}

    bool choice(int32_t i, int32_t k, Choice c) const {
        const int64_t at = (static_cast<int64_t>(begin_ + i) * Q_ + (k - 1) % Q_) * kChoices + c;
        const int bit = 4 * lane_ + (k - 1) / Q_;
        if (choice_bytes(width_) == 1) return unit_.choices[at] >> bit & 1;
        return reinterpret_cast<const uint16_t *>(unit_.choices)[at] >> bit & 1;
    }

    float posterior(int32_t i, int32_t k, bool is_insert) const {
        const int64_t quad = (static_cast<int64_t>(begin_ + i) * Q_ + (k - 1) % Q_) * 2 + is_insert;
        return unit_.cells[(quad * width_ + lane_) * kQuad + (k - 1) / Q_] * special(i, kTotal);
    }

    float special(int32_t i, LaneSpecial s) const {
        return unit_.specials[((static_cast<int64_t>(begin_ + i) * kLaneSpecials + s) * width_ + lane_) * kQuad];
    }

    bool is_possible(int32_t k, Transition t) const {
        const int32_t q = (k - 1) % Q_, r = (k - 1) / Q_;
        const float *odds = t == kDD ? unit_.tables->deletes.data() + q * kQuad
                                     : unit_.tables->transitions.data() + (q * kDD + t) * kQuad;
        return odds[r] > 0;
    }

  private:
    const EnvelopeUnit &unit_;
    int lane_, width_;
    int32_t Q_, begin_;
};

// At ties HMMER prefers predecessors M, I, D, B in this order. In accuracies an impossible step counts 0, but
// HMMER does not trace back along one. Such a step is the best one only at the start of a domain: any cell with a
// posterior has predecessors with posteriors, back to the first residue.
char before_match(const LaneMemory &lane, int32_t i, int32_t k) {
    if (lane.choice(i, k, kOthersAboveMatches)) {
        if (lane.choice(i, k, kBeginAboveDelete)) return 'B';
        return lane.is_possible(k, kDM) ? 'D' : 'B';
    }
    if (lane.choice(i, k, kInsertAboveMatch)) return lane.is_possible(k, kIM) ? 'I' : 'B';
    return lane.is_possible(k, kMM) ? 'M' : 'B';
}

// Whether D continues is stored with the previous node, in the next row.
char before_delete(const LaneMemory &lane, int32_t i, int32_t k) {
    return k > 1 && lane.choice(i + 1, k - 1, kDeleteStays) ? 'D' : 'M';
}

char before_insert(const LaneMemory &lane, int32_t i, int32_t k) { return lane.choice(i, k, kInsertStays) ? 'I' : 'M'; }

}  // namespace

void walk_back(const EnvelopeUnit &unit, int lane, int width, std::vector<PathStep> &path) {
    const LaneMemory memory(unit, lane, width);
    const EnvelopeLane &ends = unit.lanes[lane];
    int32_t i = ends.end_row - (unit.n_rows - ends.L), k = ends.end_node;
    char state = 'M';
    path.clear();
    while (state != 'B' && i >= 1 && k >= 1) {
        path.push_back({state, i, k, state == 'D' ? 0 : memory.posterior(i, k, state == 'I')});
        if (state == 'M') state = before_match(memory, i, k), --i, --k;
        else if (state == 'D') state = before_delete(memory, i, k), --k;
        else state = before_insert(memory, i, k), --i;
    }
}

float outside_posterior(const EnvelopeUnit &unit, int lane, int width, int32_t i, LaneSpecial which) {
    return LaneMemory(unit, lane, width).special(i, which);
}

void write_lines(const ProfileModel &model, const uint8_t *codes, const std::vector<PathStep> &path,
                 int32_t envelope_begin, DomainHit &hit) {
    const PathStep &first = path.back(), &last = path.front();
    hit.begin = envelope_begin + first.i - 1, hit.end = envelope_begin + last.i;
    hit.model_begin = first.k - 1, hit.model_end = last.k;
    for (const PathStep &step : std::views::reverse(path)) {
        const char letter = step.state == 'D' ? '-' : kLetters[codes[step.i - 1]];
        hit.model_line += step.state == 'I' ? '.' : model.consensus[step.k - 1];
        hit.match_line += step.state == 'M' ? between(model, step.k, codes[step.i - 1]) : ' ';
        hit.target_line += step.state == 'I' ? lower(letter) : letter;
        hit.posterior_line += step.state == 'D' ? '.' : posterior_letter(step.posterior);
    }
}

}  // namespace tropalign
