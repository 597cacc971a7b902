// The effective number of sequences: weights of rows, counts of nodes, a Dirichlet mixture, and a bisection.
//
//     rows --weights--> columns that are nodes --> counts of residues per node
//                                                      | times N / rows, for an N in the middle of a bracket
//                                                      v
//     N <--bisection-- mean relative entropy <-- probabilities, by the mixture
//
// Rows are weighted, trimmed and counted as in HMMER. The mixture is computed differently: log-Gamma functions of
// residues without counts cancel, and the other ones share logarithms. The result agrees to 1e-12, but not to the
// last bit, so a mean that comes close to the target value is not used for a decision (kUndecided).
#include "effective_number.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>

#include "model.hpp"

namespace tropalign {
namespace {

constexpr int kComponents = 9;
/// Easel's alphabet: amino acids, gap, ambiguity codes, non-residue, and missing data.
constexpr std::string_view kEaselLetters = "ACDEFGHIKLMNPQRSTVWY-BJZOUX*~";
constexpr uint8_t code_of(char letter) { return static_cast<uint8_t>(kEaselLetters.find(letter)); }
constexpr uint8_t kGapCode = code_of('-'), kLastResidue = code_of('X'), kMissingCode = code_of('~');
/// Largest number of rows that HMMER uses for the weights; of more rows it takes a sample.
constexpr int64_t kMostRows = 40'000;
/// Difference of a mean from the target value, in bits, up to which nothing is decided: floats are off by up to 1e-6.
constexpr double kUndecided = 1e-5;
/// Width of the bracket at which the bisection ends.
constexpr double kTolerance = 0.01;
constexpr double kNotKnown = std::numeric_limits<double>::quiet_NaN();

/// Sjolander et al., "Dirichlet mixtures", CABIOS 12 (1996): nine components of amino acids.
constexpr double kShares[kComponents] = {0.178091,  0.056591, 0.0960191, 0.0781233, 0.0834977,
                                         0.0904123, 0.114468, 0.0682132, 0.234585};
constexpr double kPseudocounts[kComponents][kResidues] = {
    {0.270671, 0.039848, 0.017576, 0.016415, 0.014268, 0.131916, 0.012391, 0.022599, 0.020358, 0.030727,
     0.015315, 0.048298, 0.053803, 0.020662, 0.023612, 0.216147, 0.147226, 0.065438, 0.003758, 0.009621},
    {0.021465, 0.010300, 0.011741, 0.010883, 0.385651, 0.016416, 0.076196, 0.035329, 0.013921, 0.093517,
     0.022034, 0.028593, 0.013086, 0.023011, 0.018866, 0.029156, 0.018153, 0.036100, 0.071770, 0.419641},
    {0.561459, 0.045448, 0.438366, 0.764167, 0.087364, 0.259114, 0.214940, 0.145928, 0.762204, 0.247320,
     0.118662, 0.441564, 0.174822, 0.530840, 0.465529, 0.583402, 0.445586, 0.227050, 0.029510, 0.121090},
    {0.070143, 0.011140, 0.019479, 0.094657, 0.013162, 0.048038, 0.077000, 0.032939, 0.576639, 0.072293,
     0.028240, 0.080372, 0.037661, 0.185037, 0.506783, 0.073732, 0.071587, 0.042532, 0.011254, 0.028723},
    {0.041103, 0.014794, 0.005610, 0.010216, 0.153602, 0.007797, 0.007175, 0.299635, 0.010849, 0.999446,
     0.210189, 0.006127, 0.013021, 0.019798, 0.014509, 0.012049, 0.035799, 0.180085, 0.012744, 0.026466},
    {0.115607, 0.037381, 0.012414, 0.018179, 0.051778, 0.017255, 0.004911, 0.796882, 0.017074, 0.285858,
     0.075811, 0.014548, 0.015092, 0.011382, 0.012696, 0.027535, 0.088333, 0.944340, 0.004373, 0.016741},
    {0.093461, 0.004737, 0.387252, 0.347841, 0.010822, 0.105877, 0.049776, 0.014963, 0.094276, 0.027761,
     0.010040, 0.187869, 0.050018, 0.110039, 0.038668, 0.119471, 0.065802, 0.025430, 0.003215, 0.018742},
    {0.452171, 0.114613, 0.062460, 0.115702, 0.284246, 0.140204, 0.100358, 0.550230, 0.143995, 0.700649,
     0.276580, 0.118569, 0.097470, 0.126673, 0.143634, 0.278983, 0.358482, 0.661750, 0.061533, 0.199373},
    {0.005193, 0.004039, 0.006722, 0.006121, 0.003468, 0.016931, 0.003647, 0.002184, 0.005019, 0.005990,
     0.001473, 0.004158, 0.009055, 0.003630, 0.006583, 0.003172, 0.003690, 0.002967, 0.002772, 0.002686},
};

bool is_residue(uint8_t code) { return code != kGapCode && code <= kLastResidue; }

/// First and last residue of a row; begin > end if there are no residues.
struct Span {
    int64_t begin, end;
};

Span span_of(const uint8_t *row, int64_t n) {
    int64_t begin = 0, end = n - 1;
    while (begin < n && !is_residue(row[begin])) ++begin;
    while (end >= 0 && !is_residue(row[end])) --end;
    return {begin, end};
}

/// Sum doubles as Easel does, with Kahan's correction.
double corrected_sum(const std::vector<double> &values) {
    double sum = 0, lost = 0;
    for (double value : values) {
        const double y = value - lost, next = sum + y;
        lost = (next - sum) - y;
        sum = next;
    }
    return sum;
}

/// Count each code in each column; short rows count only within their span.
std::vector<std::array<int32_t, kMissingCode + 1>> column_counts(const AlignedCodes &a) {
    std::vector<std::array<int32_t, kMissingCode + 1>> counts(static_cast<size_t>(a.n_columns));
    const auto least = static_cast<int64_t>(std::ceil(0.5f * static_cast<float>(a.n_columns)));
    for (int64_t r = 0; r < a.n_rows; ++r) {
        const uint8_t *row = a.codes + r * a.n_columns;
        Span span = span_of(row, a.n_columns);
        if (span.end - span.begin + 1 >= least) span = {0, a.n_columns - 1};
        for (int64_t c = span.begin; c <= span.end; ++c) ++counts[static_cast<size_t>(c)][row[c]];
    }
    return counts;
}

/// Compute weights by position, over the columns in which most rows have a residue, or those that are nodes.
std::vector<double> weights_of(const AlignedCodes &a) {
    if (a.n_rows == 1) return {1.0};
    const auto counts = column_counts(a);
    std::vector<int64_t> columns;
    for (int64_t c = 0; c < a.n_columns; ++c) {
        const auto &count = counts[static_cast<size_t>(c)];
        int32_t total = 0;
        for (int code = 0; code <= kLastResidue; ++code) total += count[static_cast<size_t>(code)];
        const bool is_dense = static_cast<float>(count[kGapCode]) / static_cast<float>(total) < 0.5f;
        if (a.is_node ? a.is_node[c] : is_dense) columns.push_back(c);
    }
    if (columns.empty())
        for (int64_t c = 0; c < a.n_columns; ++c) columns.push_back(c);
    std::vector<std::array<double, kResidues>> shares(columns.size());
    for (size_t j = 0; j < columns.size(); ++j) {
        const auto &count = counts[static_cast<size_t>(columns[j])];
        const auto distinct = std::count_if(count.begin(), count.begin() + kResidues, [](int32_t n) { return n > 0; });
        for (size_t x = 0; x < kResidues; ++x) shares[j][x] = 1.0 / (static_cast<double>(distinct) * count[x]);
    }
    std::vector<double> weights(static_cast<size_t>(a.n_rows), 0.0);
    for (int64_t r = 0; r < a.n_rows; ++r) {
        const uint8_t *row = a.codes + r * a.n_columns;
        double &weight = weights[static_cast<size_t>(r)];
        int64_t n = 0;
        for (size_t j = 0; j < columns.size(); ++j) {
            const uint8_t x = row[columns[j]];
            if (x >= kResidues) continue;
            weight += shares[j][x];
            ++n;
        }
        if (n) weight /= static_cast<double>(n);
    }
    const double sum = corrected_sum(weights);
    for (double &weight : weights)
        weight = (sum != 0 ? weight / sum : 1.0 / static_cast<double>(a.n_rows)) * static_cast<double>(a.n_rows);
    return weights;
}

/// Return the rows with the ends of fragments marked as missing.
std::vector<uint8_t> with_fragments(const AlignedCodes &a, double fragment) {
    const auto n = a.n_columns;
    std::vector<uint8_t> codes(a.codes, a.codes + a.n_rows * n);
    for (int64_t r = 0; r < a.n_rows; ++r) {
        uint8_t *row = codes.data() + r * n;
        if (static_cast<double>(std::count_if(row, row + n, is_residue)) > fragment * static_cast<double>(n)) continue;
        const Span span = span_of(row, n);
        std::fill(row, row + std::min(span.begin, n), kMissingCode);
        if (span.end >= span.begin) std::fill(row + span.end + 1, row + n, kMissingCode);
    }
    return codes;
}

std::vector<uint8_t> nodes_of(const AlignedCodes &a, const std::vector<uint8_t> &codes,
                              const std::vector<double> &weights, float occupancy) {
    const auto n = static_cast<size_t>(a.n_columns);
    if (a.is_node) return {a.is_node, a.is_node + n};
    std::vector<float> residues(n, 0.0f), all(n, 0.0f);
    for (size_t r = 0; r < weights.size(); ++r) {
        const uint8_t *row = codes.data() + r * n;
        for (size_t c = 0; c < n; ++c) {
            const bool counts = is_residue(row[c]);
            // Each sum is rounded, as HMMER's floats are.
            if (counts) residues[c] = static_cast<float>(residues[c] + weights[r]);
            if (counts || row[c] == kGapCode) all[c] = static_cast<float>(all[c] + weights[r]);
        }
    }
    std::vector<uint8_t> found(n);
    for (size_t c = 0; c < n; ++c) found[c] = residues[c] > 0 && residues[c] / all[c] >= occupancy;
    return found;
}

/// A state of a row's path through the model, and the residue that it emits, if any.
struct RowState {
    char kind;  // by HMMER's names: B, M, D, I, E, or X for a missing end
    int32_t node;
    uint8_t code;
};

/// Return the states of a row; a deletion next to an insertion becomes a match.
std::vector<RowState> states_of(const uint8_t *row, const std::vector<uint8_t> &is_node) {
    std::vector<RowState> states = {{'B', 0, kGapCode}};
    int32_t node = 0;
    for (size_t c = 0; c < is_node.size(); ++c) {
        node += is_node[c];
        const uint8_t code = row[c];
        if (is_residue(code) || code == code_of('*')) states.push_back({is_node[c] ? 'M' : 'I', node, code});
        else if (code == kMissingCode) {
            if (states.back().kind != 'X') states.push_back({'X', node, code});
        } else if (is_node[c]) states.push_back({'D', node, code});
    }
    states.push_back({'E', 0, kGapCode});
    size_t n = 0;
    for (size_t k = 0; k < states.size(); ++k, ++n) {
        const char kind = states[k].kind, next = k + 1 < states.size() ? states[k + 1].kind : 'E';
        if (kind == 'D' && next == 'I') {
            states[n] = {'M', states[k].node, states[k + 1].code};
            ++k;
        } else if (kind == 'I' && next == 'D') {
            states[n] = {'M', states[k + 1].node, states[k].code};
            ++k;
        } else states[n] = states[k];
    }
    states.resize(n);
    return states;
}

using Counts = std::array<float, kResidues>;

/// Count a residue; an ambiguity code is shared equally among its residues.
void count_letter(Counts &counts, uint8_t code, float weight) {
    const auto share = [&](std::string_view letters) {
        for (char letter : letters) counts[code_of(letter)] += weight / static_cast<float>(letters.size());
    };
    if (code < kResidues) counts[code] += weight;
    if (code == code_of('B')) share("DN");
    if (code == code_of('J')) share("IL");
    if (code == code_of('Z')) share("EQ");
    if (code == code_of('O')) share("K");
    if (code == code_of('U')) share("C");
    if (code == code_of('X')) share(kEaselLetters.substr(0, kResidues));
}

/// Return weighted residue counts of each node. For a row with missing ends, only the part between its matches
/// counts, without the last match if the right end is missing.
std::vector<Counts> node_counts(const std::vector<uint8_t> &codes, const std::vector<double> &weights,
                                const std::vector<uint8_t> &is_node) {
    const auto n_nodes = static_cast<size_t>(std::count(is_node.begin(), is_node.end(), 1));
    std::vector<Counts> counts(n_nodes, Counts{});
    for (size_t r = 0; r < weights.size(); ++r) {
        const auto states = states_of(codes.data() + r * is_node.size(), is_node);
        const auto weight = static_cast<float>(weights[r]);
        size_t begin = 0, end = states.size() - 1;
        if (states[1].kind == 'X')
            for (size_t k = 2; k + 1 < states.size(); ++k)
                if (states[k].kind == 'M') {
                    begin = k;
                    break;
                }
        if (states[states.size() - 2].kind == 'X')
            for (size_t k = states.size() - 2; k-- > 1;)
                if (states[k].kind == 'M') {
                    end = k;
                    break;
                }
        for (size_t k = begin; k < end; ++k)
            if (states[k].kind == 'M')
                count_letter(counts[static_cast<size_t>(states[k].node - 1)], states[k].code, weight);
    }
    return counts;
}

/// Sums log-Gamma functions: Stirling's series at x + 8, and from there eight steps down by one product for all
/// terms.
class LogGammas {
  public:
    void add(double x) {
        const double y = x + 8, inverse = 1 / y, square = inverse * inverse;
        sum_ += (y - 0.5) * std::log(y) - y + kHalfLog + inverse * (1 / 12.0 - square * (1 / 360.0 - square / 1260));
        product_ *= (x * (x + 1)) * ((x + 2) * (x + 3)) * ((x + 4) * (x + 5)) * ((x + 6) * (x + 7));
        if (product_ > 1e200) flush();
    }
    double sum() {
        flush();
        return sum_;
    }

  private:
    static constexpr double kHalfLog = 0.91893853320467274;  // log(2 pi) / 2
    void flush() {
        sum_ -= std::log(product_);
        product_ = 1;
    }
    double sum_ = 0, product_ = 1;
};

double log_gamma(double x) {
    LogGammas one;
    one.add(x);
    return one.sum();
}

/// The constant terms of the mixture.
struct Mixture {
    std::array<double, kComponents> logs, totals, total_gammas;
    std::array<std::array<double, kResidues>, kComponents> gammas;
    Mixture() {
        for (size_t k = 0; k < kComponents; ++k) {
            totals[k] = 0;
            for (size_t x = 0; x < kResidues; ++x) {
                totals[k] += kPseudocounts[k][x];
                gammas[k][x] = log_gamma(kPseudocounts[k][x]);
            }
            logs[k] = std::log(kShares[k]);
            total_gammas[k] = log_gamma(totals[k]);
        }
    }
};

/// Return the relative entropy, in bits, of the probabilities given by counts and mixture.
double relative_entropy(const Counts &counts, double scale, const Mixture &mixture, const float *background) {
    std::array<double, kResidues> c;
    double total = 0;
    for (size_t x = 0; x < kResidues; ++x) total += c[x] = counts[x] * scale;
    std::array<double, kComponents> posterior;
    for (size_t k = 0; k < kComponents; ++k) {
        LogGammas above;
        double below = 0;
        for (size_t x = 0; x < kResidues; ++x) {
            if (c[x] == 0) continue;
            above.add(c[x] + kPseudocounts[k][x]);
            below += mixture.gammas[k][x];
        }
        posterior[k] =
            mixture.logs[k] + above.sum() - below + mixture.total_gammas[k] - log_gamma(mixture.totals[k] + total);
    }
    const double most = *std::max_element(posterior.begin(), posterior.end());
    double sum = 0;
    for (double &p : posterior) sum += p = std::exp(p - most);
    std::array<double, kResidues> probabilities{};
    for (size_t k = 0; k < kComponents; ++k) {
        const double share = posterior[k] / sum / (total + mixture.totals[k]);
        for (size_t x = 0; x < kResidues; ++x) probabilities[x] += share * (c[x] + kPseudocounts[k][x]);
    }
    double bits = 0;
    for (size_t x = 0; x < kResidues; ++x)
        bits += probabilities[x] * std::log2(probabilities[x] / static_cast<double>(background[x]));
    return bits;
}

}  // namespace

double effective_number(const AlignedCodes &alignment, const EntropyAims &aims, const float *background) {
    if (alignment.n_rows > kMostRows) return kNotKnown;
    const auto weights = weights_of(alignment);
    const auto codes = with_fragments(alignment, aims.fragment);
    const auto is_node = nodes_of(alignment, codes, weights, aims.occupancy);
    const auto counts = node_counts(codes, weights, is_node);
    if (counts.empty()) return kNotKnown;
    const auto M = static_cast<double>(counts.size()), n = static_cast<double>(alignment.n_rows);
    const double aim = std::max(aims.entropy, (aims.sigma - std::log2(2 / (M * (M + 1)))) / M);
    const Mixture mixture;
    const auto excess = [&](double number) {
        double sum = 0;
        for (const Counts &node : counts) sum += relative_entropy(node, number / n, mixture, background);
        return sum / M - aim;
    };
    // A model of no sequences must have less information than the target value, or there is nothing to bisect.
    const double at_all = excess(n), at_none = excess(0);
    if (!(std::abs(at_all) > kUndecided) || !(at_none < -kUndecided)) return kNotKnown;
    if (at_all < 0) return n;
    for (double low = 0, high = n;;) {
        const double middle = (low + high) / 2, found = excess(middle);
        if (high - low < kTolerance + 1e-12 * middle) return middle;
        if (!(std::abs(found) > kUndecided)) return kNotKnown;
        (found < 0 ? low : high) = middle;
    }
}

}  // namespace tropalign
