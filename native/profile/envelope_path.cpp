#include "envelope_path.hpp"

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

/// What the kernels left of one lane: rows count from its own row 0, places of nodes as in float_tables.hpp.
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

    /// The last node, in the order of places, whose M has the highest posterior of row 1: HMMER's choice where the path
    /// has to leave the model there.
    int32_t best_node_of_first_row() const {
        float best = -1;
        int32_t node = 1;
        for (int32_t q = 0; q < Q_; ++q)
            for (int r = 0; r < kQuad; ++r) {
                const float p = posterior(1, r * Q_ + q + 1, false);
                if (p >= best) best = p, node = r * Q_ + q + 1;
            }
        return node;
    }

  private:
    const EnvelopeUnit &unit_;
    int lane_, width_;
    int32_t Q_, begin_;
};

// Of equal ways HMMER prefers M, I, D, B in this order; and where the kernels let an impossible step count 0, it takes
// none. That makes a difference only where the best way counts 0, too: then all others count 0 or are not there, as
// nothing is in row 0, and D not in node 1, nor I in row 1 unless from an impossible step.
char before_match(const LaneMemory &lane, int32_t i, int32_t k) {
    const bool from_others = lane.choice(i, k, kOthersAboveMatches);
    const char best = from_others ? (lane.choice(i, k, kBeginAboveDelete) ? 'B' : 'D')
                                  : (lane.choice(i, k, kInsertAboveMatch) ? 'I' : 'M');
    const Transition into = best == 'B' ? kBM : best == 'D' ? kDM : best == 'I' ? kIM : kMM;
    if (lane.is_possible(k, into)) return best;
    if (i >= 2 && lane.is_possible(k, kMM)) return 'M';
    const bool has_insert =
        i >= 3 || (i == 2 && k >= 2 && !(lane.is_possible(k - 1, kMI) && lane.is_possible(k - 1, kII)));
    if (has_insert && lane.is_possible(k, kIM)) return 'I';
    if (i >= 2 && k >= 3 && lane.is_possible(k, kDM)) return 'D';
    return 'B';
}

char before_delete(const LaneMemory &lane, int32_t i, int32_t k) {
    if (k <= 2 || !lane.is_possible(k - 1, kDD)) return 'M';
    if (!lane.is_possible(k - 1, kMD)) return 'D';
    return lane.choice(i + 1, k - 1, kDeleteStays) ? 'D' : 'M';
}

char before_insert(const LaneMemory &lane, int32_t i, int32_t k) {
    if (!lane.is_possible(k, kII)) return 'M';
    if (!lane.is_possible(k, kMI)) return i == 1 ? 'M' : 'I';
    return lane.choice(i, k, kInsertStays) ? 'I' : 'M';
}

/// From where a domain is left to where it begins; the residues that are left.
int32_t walk_domain(const LaneMemory &lane, int32_t i, int32_t k, std::vector<PathStep> &path) {
    char state = 'M';
    while (state != 'B' && i >= 1 && k >= 1) {
        path.push_back({state, i, k, state == 'D' ? 0 : lane.posterior(i, k, state == 'I')});
        if (state == 'M') state = before_match(lane, i, k), --i, --k;
        else if (state == 'D') state = before_delete(lane, i, k), --k;
        else state = before_insert(lane, i, k), --i;
    }
    path.push_back({'B', i, 0, 0});
    return i;
}

}  // namespace

void walk_back(const EnvelopeUnit &unit, int lane, int width, std::vector<PathStep> &path) {
    const LaneMemory memory(unit, lane, width);
    const EnvelopeLane &ends = unit.lanes[lane];
    path.clear();
    const int32_t i = walk_domain(memory, ends.end_row - (unit.n_rows - ends.L), ends.end_node, path);
    // Where the residues before the domain count 0 as such, HMMER prefers to have them behind another one, of which
    // there is none but that of their first residue alone.
    if (i >= 1 && !(memory.special(i, kAccuracyN) > 0)) walk_domain(memory, 1, memory.best_node_of_first_row(), path);
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
