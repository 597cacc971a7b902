#include "rooting.hpp"

#include <algorithm>
#include <array>

namespace tropalign {

namespace {

constexpr int32_t kNone = -1;

/// The tree with links to parents; children are linked so that a node can hang from any of its neighbours.
template <class T>
struct Linked {
    explicit Linked(const BinaryTree<T> &tree)
        : n_leaves(tree.n_leaves()), root(tree.n_nodes() - 1), lengths(tree.lengths), parent(tree.n_nodes(), kNone),
          children(tree.n_nodes(), {kNone, kNone}) {
        for (int32_t k = 0; k + n_leaves < tree.n_nodes(); ++k)
            for (int side = 0; side < 2; ++side) {
                const int32_t child = tree.children[2 * k + side];
                children[n_leaves + k][side] = child;
                parent[child] = n_leaves + k;
            }
    }

    /// Return all nodes, parents first, the first child before the second.
    std::vector<int32_t> in_order() const {
        std::vector<int32_t> order, stack{root};
        while (!stack.empty()) {
            const int32_t node = stack.back();
            stack.pop_back();
            order.push_back(node);
            if (node < n_leaves) continue;
            stack.push_back(children[node][1]);
            stack.push_back(children[node][0]);
        }
        return order;
    }

    /// Return the tree renumbered from the leaves up: a node follows both of its subtrees, the first before the
    /// second.
    BinaryTree<T> numbered() const {
        BinaryTree<T> tree;
        const std::vector<int32_t> order = in_order();
        tree.lengths.resize(2 * static_cast<size_t>(n_leaves) - 1);
        std::vector<int32_t> number(parent.size());
        // Reversing an order with parents first and the second child before the first gives one with children
        // first, and the first child before the second.
        std::vector<int32_t> stack{root}, mirrored;
        while (!stack.empty()) {
            const int32_t node = stack.back();
            stack.pop_back();
            mirrored.push_back(node);
            if (node < n_leaves) continue;
            stack.push_back(children[node][0]);
            stack.push_back(children[node][1]);
        }
        int32_t next = n_leaves;
        for (auto at = mirrored.rbegin(); at != mirrored.rend(); ++at) {
            number[*at] = *at < n_leaves ? *at : next++;
            tree.lengths[number[*at]] = lengths[*at];
            if (*at < n_leaves) continue;
            tree.children.push_back(number[children[*at][0]]);
            tree.children.push_back(number[children[*at][1]]);
        }
        return tree;
    }

    int32_t n_leaves, root;
    std::vector<T> lengths;
    std::vector<int32_t> parent;
    std::vector<std::array<int32_t, 2>> children;
};

/// Balance of a root at a node: the difference of the mean distances of the leaves on both sides (beyond it minus
/// below it), and the depth of the tree with that root.
template <class T>
struct Balance {
    T difference, depth;
};

/// Distances as CLUSTALW sums them: a depth leaves out the path from the node to the point where the others branch
/// off.
class CompatBalance {
  public:
    explicit CompatBalance(const Linked<float> &tree) : tree_(tree), place_(tree.parent.size(), kNone) {
        for (const int32_t node : tree.in_order())
            if (node < tree.n_leaves) leaves_.push_back(node);
    }

    Balance<float> operator()(int32_t node) {
        to_node_.clear();
        float way = 0;
        for (int32_t at = node; at != kNone; at = tree_.parent[at]) {
            place_[at] = static_cast<int32_t>(to_node_.size());
            to_node_.push_back(way += tree_.lengths[at]);
        }
        float below = 0, beyond = 0, depth = 0;
        int n_below = 0, n_beyond = 0;
        for (const int32_t leaf : leaves_) {
            float distance = 0;
            int32_t at = leaf;
            // up to the node where both paths to the root meet
            while (place_[at] == kNone) distance += tree_.lengths[at], at = tree_.parent[at];
            if (at == node) {
                below += distance;
                ++n_below;
            } else {
                beyond += distance;
                beyond += to_node_[place_[at] - 1];
                ++n_beyond;
            }
            depth = std::max(depth, distance);
        }
        for (int32_t at = node; at != kNone; at = tree_.parent[at]) place_[at] = kNone;
        return {beyond / static_cast<float>(n_beyond) - below / static_cast<float>(n_below), depth};
    }

  private:
    const Linked<float> &tree_;
    std::vector<int32_t> leaves_, place_;  // place_: a node's index on the path from the node to the root, or kNone
    std::vector<float> to_node_;           // cumulative lengths along that path
};

/// Balances of all nodes at once: sums and longest paths from below, then from beyond.
class LinearBalance {
  public:
    explicit LinearBalance(const Linked<double> &tree)
        : tree_(tree), count_(tree.parent.size(), 1), below_(tree.parent.size()), beyond_(below_), deepest_(below_),
          farthest_(below_) {
        const std::vector<int32_t> order = tree.in_order();
        for (auto at = order.rbegin(); at != order.rend(); ++at)
            if (*at >= tree.n_leaves) gather(*at);
        for (const int32_t node : order)
            if (node >= tree.n_leaves) spread(node);
    }

    Balance<double> operator()(int32_t node) const {
        const double difference = beyond_[node] / (tree_.n_leaves - count_[node]) - below_[node] / count_[node];
        return {difference, std::max(farthest_[node] - difference / 2, deepest_[node] + difference / 2)};
    }

  private:
    void gather(int32_t node) {
        count_[node] = 0;
        for (const int32_t child : tree_.children[node]) {
            count_[node] += count_[child];
            below_[node] += below_[child] + count_[child] * tree_.lengths[child];
            deepest_[node] = std::max(deepest_[node], deepest_[child] + tree_.lengths[child]);
        }
    }

    /// Compute the values beyond each child from those beyond the node and those below the other child.
    void spread(int32_t node) {
        for (int side = 0; side < 2; ++side) {
            const int32_t child = tree_.children[node][side], other = tree_.children[node][1 - side];
            const double length = tree_.lengths[child];
            const int32_t n_beyond = tree_.n_leaves - count_[child];
            beyond_[child] = beyond_[node] + below_[other] + count_[other] * tree_.lengths[other] + n_beyond * length;
            farthest_[child] = std::max(farthest_[node], deepest_[other] + tree_.lengths[other]) + length;
        }
    }

    const Linked<double> &tree_;
    std::vector<int32_t> count_;                               // leaves below
    std::vector<double> below_, beyond_, deepest_, farthest_;  // sums of distances, and the longest
};

/// Insert a root on the branch above `node`, half of `difference` away from it. The branches from there to the old
/// root are reversed; the old root is removed.
template <class T>
void insert_root(Linked<T> &tree, int32_t node, T difference) {
    auto &parent = tree.parent;
    auto &lengths = tree.lengths;
    const int32_t old_root = tree.root, above = parent[node], root = static_cast<int32_t>(parent.size());
    const T length = lengths[node];
    T turned = lengths[above];  // length of the branch that is reversed next
    lengths[node] = std::min(std::max(difference / 2, T{0}), length);
    lengths[above] = length - lengths[node];
    parent.push_back(kNone);
    lengths.push_back(0);
    tree.children.push_back({above, node});
    parent[node] = root;
    int32_t before = node, at = above, new_parent = root;
    while (at != kNone) {
        const int32_t next = parent[at];
        tree.children[at][tree.children[at][1] == before] = next;
        parent[at] = new_parent;
        if (at != above) std::swap(lengths[at], turned);
        new_parent = before = at;
        at = next;
    }
    // The old root has one neighbour left below it, which takes its place.
    const int32_t left_over = tree.children[old_root][tree.children[old_root][0] == kNone];
    lengths[left_over] += lengths[old_root];
    const int32_t holder = parent[old_root];
    tree.children[holder][tree.children[holder][1] == old_root] = left_over;
    parent[left_over] = holder;
    parent[old_root] = kNone;
    tree.root = root;
}

template <class T, class Balances>
BinaryTree<T> rooted(const BinaryTree<T> &given) {
    Linked<T> tree(given);
    Balances balance(tree);
    const int32_t top = tree.children[tree.root][0];  // the node where the three branches a, b and c meet
    int32_t best = top;
    Balance<T> chosen{0, 0};
    bool is_first = true;
    for (const int32_t node : tree.in_order()) {
        if (node == tree.root) continue;
        const Balance<T> found = balance(node);
        const bool fits = found.difference == 0 || (found.difference > 0 && found.difference < 2 * tree.lengths[node]);
        if (!fits || !(is_first || found.depth < chosen.depth)) continue;
        is_first = false;
        best = node;
        chosen = found;
    }
    if (best == top) {  // no branch fits, or only the one of length 0
        const auto [first, second] = tree.children[top];
        chosen.difference = tree.lengths[first] + tree.lengths[second];
        best = second;
    }
    insert_root(tree, best, chosen.difference);
    return tree.numbered();
}

}  // namespace

BinaryTree<float> clustalw_rooted_compat(const BinaryTree<float> &tree) { return rooted<float, CompatBalance>(tree); }

BinaryTree<double> clustalw_rooted(const BinaryTree<double> &tree) { return rooted<double, LinearBalance>(tree); }

}  // namespace tropalign
