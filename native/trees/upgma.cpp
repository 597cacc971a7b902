#include "upgma.hpp"

#include "nearest_places.hpp"
#include "sometimes.hpp"

namespace tropalign {
namespace {

/// A joined cluster has the slot of the first of its leaves. An average that is below the bound (of a slot between
/// i and j, or by rounding) becomes the bound. The larger of two distances is also at least the smaller one, so
/// that complete linkage works the same way (see nearest_places.hpp).
template <class T, Linkage linkage>
class LinkageClusters : NearestPlaces<T> {
    using Base = NearestPlaces<T>;
    using Base::bound_, Base::is_alive_, Base::is_marked_, Base::n_, Base::n_leaves_, Base::nearest_, Base::node_;
    using Base::closest, Base::distance, Base::read_row, Base::remove;

  public:
    LinkageClusters(const T *distances, int32_t n) : Base(distances, n) {}

    /// Join the closest pair into node `joined`. Returns its children and the distance between them.
    std::pair<std::array<int32_t, 2>, double> join_closest(int32_t joined) {
        const int32_t j = closest(), i = nearest_[j];
        const std::array<int32_t, 2> children{node_[i], node_[j]};
        const double distance = bound_[j];
        remove(j);
        combine(i, j);
        node_[i] = joined;
        n_leaves_[i] += n_leaves_[j];
        read_row(i);
        return {children, distance};
    }

  private:
    /// Compute the distances of the cluster joined from i and j to all others, in slot i.
    void combine(int32_t i, int32_t j) {
        [[maybe_unused]] const double m = n_leaves_[i], n = n_leaves_[j];
        for (int32_t k = 0; k < n_; ++k) {
            if (!is_alive_[k] || k == i) continue;
            T &kept = distance(i, k);
            const T other = distance(j, k);
            switch (linkage) {
                case Linkage::average:
                    kept = static_cast<T>((kept * m + other * n) / (m + n));
                    break;
                case Linkage::complete:
                    kept = std::max(kept, other);
                    break;
                case Linkage::weighted:
                    kept = (kept + other) / 2;
                    break;
            }
            const double both = kept;
            if (k < i) continue;
            if (both < bound_[k] || (both == bound_[k] && !is_marked_[k] && i < nearest_[k])) {
                bound_[k] = both;
                nearest_[k] = i;
                is_marked_[k] = 0;
            } else if ((nearest_[k] == i && both > bound_[k]) || nearest_[k] == j) {
                is_marked_[k] = 1;
            }
        }
    }
};

template <Linkage linkage, class T>
AveragedTree joined(const T *distances, int32_t n, const Poll &poll) {
    AveragedTree tree;
    Sometimes sometimes(poll);
    LinkageClusters<T, linkage> clusters(distances, n);
    for (int32_t joined = n; joined < 2 * n - 1; ++joined) {
        if (!sometimes(joined - n)) return tree;
        const auto [children, distance] = clusters.join_closest(joined);
        tree.children.push_back(children);
        tree.distances.push_back(distance);
    }
    return tree;
}

}  // namespace

template <class T>
AveragedTree join_clusters(const T *distances, int32_t n, Linkage linkage, const Poll &poll) {
    switch (linkage) {
        case Linkage::average:
            return joined<Linkage::average>(distances, n, poll);
        case Linkage::complete:
            return joined<Linkage::complete>(distances, n, poll);
        case Linkage::weighted:
            return joined<Linkage::weighted>(distances, n, poll);
    }
    __builtin_unreachable();
}

template AveragedTree join_clusters(const float *, int32_t, Linkage, const Poll &);
template AveragedTree join_clusters(const double *, int32_t, Linkage, const Poll &);

}  // namespace tropalign
