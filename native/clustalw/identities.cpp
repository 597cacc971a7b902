// Identities of sequences, from sums of branch lengths of the guide tree or from given distances.
#include <algorithm>
#include <limits>

#include "progressive.hpp"

namespace tropalign {

Identities::Identities(const ClustalwFamily &family) : family_(family) {
    const int32_t n = family.n, n_nodes = 2 * n - 1;
    std::vector<int32_t> sizes(static_cast<size_t>(n_nodes), 1);
    parents_.assign(static_cast<size_t>(n_nodes), -1);
    for (int32_t node = n; node < n_nodes; ++node) {
        const auto &[one, other] = family.children[node - n];
        sizes[node] = sizes[one] + sizes[other];
        parents_[one] = parents_[other] = node;
    }
    begins_.assign(static_cast<size_t>(n_nodes), 0);
    ends_.assign(static_cast<size_t>(n_nodes), n);
    for (int32_t node = n_nodes - 1; node >= n; --node) {
        const auto &[one, other] = family.children[node - n];
        begins_[one] = begins_[node];
        ends_[one] = begins_[other] = begins_[node] + sizes[one];
        ends_[other] = ends_[node];
    }
    order_.resize(static_cast<size_t>(n));
    place_.resize(static_cast<size_t>(n));
    for (int32_t leaf = 0; leaf < n; ++leaf) {
        place_[leaf] = begins_[leaf];
        order_[place_[leaf]] = leaf;
    }
}

std::vector<int32_t> Identities::present(int32_t node, const std::vector<bool> &waits) const {
    std::vector<int32_t> found;
    for (int32_t place = begins_[node]; place < ends_[node]; ++place)
        if (!waits[order_[place]]) found.push_back(order_[place]);
    std::sort(found.begin(), found.end());
    return found;
}

double Identities::of_distance(float sum) const {
    const double distance = std::clamp(static_cast<double>(sum), 0.01, 1.0);
    return 100.0 - distance * 100.0;
}

double Identities::given(int32_t i, int32_t j) const {
    const int64_t one = std::min(i, j), other = std::max(i, j), n = family_.n;
    return 100.0 - family_.distances[one * n - one * (one + 1) / 2 + other - one - 1] * 100.0;
}

void Identities::climb(int32_t node, std::vector<float> &heights) const {
    for (int32_t place = begins_[node]; place < ends_[node]; ++place) {
        float height = 0;  // sums of floats from the leaf up, as CLUSTALW adds them
        for (int32_t at = order_[place];; at = parents_[at]) {
            height += static_cast<float>(family_.lengths[at]);
            if (at == node) break;
        }
        heights[place] = height;
    }
}

std::vector<double> Identities::highest() const {
    const int32_t n = family_.n;
    std::vector<double> found(static_cast<size_t>(n), -1);
    if (family_.distances) {
        for (int32_t i = 0; i < n; ++i)
            for (int32_t j = i + 1; j < n; ++j) {
                const double here = given(i, j);
                found[i] = std::max(found[i], here);
                found[j] = std::max(found[j], here);
            }
        return found;
    }
    std::vector<float> heights(static_cast<size_t>(n), 0);
    for (int32_t node = n; node < 2 * n - 1; ++node) {
        float lowest[2];
        for (int side = 0; side < 2; ++side) {
            const int32_t child = family_.children[node - n][side];
            lowest[side] = std::numeric_limits<float>::infinity();
            for (int32_t place = begins_[child]; place < ends_[child]; ++place) {
                heights[place] += static_cast<float>(family_.lengths[child]);
                lowest[side] = std::min(lowest[side], heights[place]);
            }
        }
        for (int side = 0; side < 2; ++side) {
            const int32_t child = family_.children[node - n][side];
            for (int32_t place = begins_[child]; place < ends_[child]; ++place) {
                double &best = found[order_[place]];
                best = std::max(best, of_distance(heights[place] + lowest[1 - side]));
            }
        }
    }
    return found;
}

std::vector<double> Identities::means(const std::vector<bool> &waits) const {
    const int32_t n = family_.n;
    std::vector<double> found(static_cast<size_t>(n - 1));
    std::vector<float> heights(static_cast<size_t>(n), 0);  // as in highest()
    for (int32_t node = n; node < 2 * n - 1; ++node) {
        const auto &children = family_.children[node - n];
        for (int32_t child : children)
            for (int32_t place = begins_[child]; place < ends_[child]; ++place)
                heights[place] += static_cast<float>(family_.lengths[child]);
        std::vector<int32_t> first = present(children[0], waits), second = present(children[1], waits);
        if (first.empty() || second.empty()) continue;
        if (second.size() > first.size()) std::swap(first, second);
        double sum = 0;
        for (int32_t i : first)
            for (int32_t j : second)
                sum += family_.distances ? given(i, j) : of_distance(heights[place_[i]] + heights[place_[j]]);
        found[node - n] = sum / static_cast<float>(first.size() * second.size());
    }
    return found;
}

std::vector<double> Identities::with_all(int32_t sequence) const {
    const int32_t n = family_.n;
    std::vector<double> found(static_cast<size_t>(n), 0);
    if (family_.distances) {
        for (int32_t j = 0; j < n; ++j)
            if (j != sequence) found[j] = given(sequence, j);
        return found;
    }
    std::vector<float> heights(static_cast<size_t>(n));
    float height = 0;
    for (int32_t at = sequence; parents_[at] >= 0; at = parents_[at]) {
        height += static_cast<float>(family_.lengths[at]);
        const auto &[one, other] = family_.children[parents_[at] - n];
        const int32_t sister = one == at ? other : one;
        climb(sister, heights);
        for (int32_t place = begins_[sister]; place < ends_[sister]; ++place)
            found[order_[place]] = of_distance(heights[place] + height);
    }
    return found;
}

}  // namespace tropalign
