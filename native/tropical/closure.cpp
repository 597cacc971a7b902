#include "closure.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <type_traits>

#include "../compute/buffer.hpp"
#include "../compute/parallel.hpp"
#include "../simd/dispatch.hpp"

namespace tropalign {

TROPALIGN_DISPATCH(ClosureKernels, closure_kernels)

namespace {

/// Thrown if the poll returns false.
struct Stopped {};

/// Below this number of sums, a product is not worth the start of a thread.
constexpr double kParallelSums = double(1 << 24);
/// Maximum and minimum of the rows and columns of the parts of a product that threads take. The minimum keeps
/// packing cheap.
constexpr int64_t kLargestPart = 512, kSmallestPart = 128;

template <class T>
int64_t close_block(const ClosureKernels &kernels, const ClosureBlock<T> &block) {
    if constexpr (std::is_same_v<T, float>) return kernels.close_float(block);
    else if constexpr (std::is_same_v<T, double>) return kernels.close_double(block);
    else if constexpr (std::is_same_v<T, int32_t>) return kernels.close_int32(block);
    else return kernels.close_int16(block);
}

/// Polls every 50 ms, in the calling thread only.
class Watcher {
  public:
    Watcher(const Poll &poll, double all, int64_t n) : poll_(poll), unit_(double(n) / std::max(all, 1.0)) {}

    void look(double done) {
        const auto now = std::chrono::steady_clock::now();
        if (now - polled_ < std::chrono::milliseconds(50)) return;
        polled_ = now;
        if (poll_ && !poll_(static_cast<int64_t>(done * unit_))) throw Stopped();
    }

  private:
    const Poll &poll_;
    const double unit_;
    std::chrono::steady_clock::time_point polled_ = std::chrono::steady_clock::now();
};

/// Vertices [first, first + n).
struct Range {
    int64_t first, n;
};

/// Thrown if a cycle of negative weight is found.
struct NegativeCycle {
    int64_t vertex;
};

template <class T>
class Closing {
  public:
    Closing(const ClosureJob<T> &job, const Poll &poll)
        : job_(job), kernels_(*selected_closure_kernels()), products_(product_kernels<T>()),
          watcher_(poll, cubed(double(job.n)), job.n) {}

    void close(Range all) {
        if (all.n <= kClosureBlock) return close_directly(all);
        const auto [one, two] = halves(all);
        close(one);
        close_second(one, two);
        from_left(two, one);
        from_right(one, two);
        product(one, two, one);
        clear_diagonal(one);
    }

    /// Close a graph of two parts; the first one has job.n_left vertices.
    void close_two_parts() {
        const Range one{0, job_.n_left}, two{job_.n_left, job_.n - job_.n_left};
        product(one, two, one);
        close(one);
        from_left(one, two);
        from_right(two, one);
        product(two, one, two);
        clear_diagonal(two);
    }

  private:
    static double cubed(double x) { return x * x * x; }

    static std::pair<Range, Range> halves(Range all) {
        const int64_t half = (all.n / 2 + kClosureBlock - 1) / kClosureBlock * kClosureBlock;
        return {{all.first, half}, {all.first + half, all.n - half}};
    }

    T *at(int64_t i, int64_t j) const { return job_.values + i * job_.n + j; }
    int32_t *via_at(int64_t i, int64_t j) const { return job_.via + i * job_.n + j; }
    T tolerance() const {
        if constexpr (std::is_floating_point_v<T>) return static_cast<T>(job_.tolerance);
        else return 0;
    }

    void close_directly(Range all) {
        const int64_t found =
            close_block(kernels_, ClosureBlock<T>{at(all.first, all.first), job_.n,
                                                  job_.via ? via_at(all.first, all.first) : nullptr, job_.n, all.n,
                                                  static_cast<int32_t>(all.first), tolerance()});
        if (found >= 0) throw NegativeCycle{all.first + found};
        done_ += cubed(double(all.n));
        watcher_.look(done_);
    }

    void close_second(Range one, Range two) {
        from_left(one, two);
        from_right(two, one);
        product(two, one, two);
        close(two);
    }

    /// Set distances of a vertex to itself to 0; rounding may have changed them.
    void clear_diagonal(Range range) {
        for (int64_t i = range.first; i < range.first + range.n; ++i) {
            if (*at(i, i) < -tolerance()) throw NegativeCycle{i};
            *at(i, i) = 0;
            if (job_.via) *via_at(i, i) = -1;
        }
    }

    /// Replace the part rows x columns of the matrix by the smaller of itself and (left, through) (through,
    /// right).
    void update_part(Range rows, Range columns, Range through, const T *left, int64_t left_stride, const T *right,
                     int64_t right_stride) {
        T *const part = at(rows.first, columns.first);
        if (job_.via)
            products_.update_arg(Order::lowest, left, left_stride, right, right_stride, part, job_.n,
                                 via_at(rows.first, columns.first), job_.n, static_cast<int32_t>(through.first), rows.n,
                                 columns.n, through.n);
        else
            products_.update(Order::lowest, left, left_stride, right, right_stride, part, job_.n, rows.n, columns.n,
                             through.n);
    }

    /// Replace rows x columns by the smaller of itself and (rows, through) (through, columns), which do not
    /// overlap it.
    void product(Range rows, Range through, Range columns) {
        const int64_t edge = edge_for(double(rows.n) * double(columns.n));
        const int64_t n_across = pieces(columns.n, edge);
        over_parts(pieces(rows.n, edge) * n_across, rows, through, columns, [&](int64_t item) {
            const Range i = piece(rows, item / n_across, edge), j = piece(columns, item % n_across, edge);
            update_part(i, j, through, at(i.first, through.first), job_.n, at(through.first, j.first), job_.n);
        });
    }

    /// Replace rows x columns by (rows, rows) (rows, columns), if the left factor is closed.
    void from_left(Range rows, Range columns) {
        const int64_t edge = edge_for(double(columns.n) * double(kLargestPart));
        over_parts(pieces(columns.n, edge), rows, rows, columns, [&](int64_t item) {
            const Range j = piece(columns, item, edge);
            const Buffer<T> before = copy(rows, j);
            update_part(rows, j, rows, at(rows.first, rows.first), job_.n, before.data(), j.n);
        });
    }

    /// Replace rows x columns by (rows, columns) (columns, columns), if the right factor is closed.
    void from_right(Range rows, Range columns) {
        const int64_t edge = edge_for(double(rows.n) * double(kLargestPart));
        over_parts(pieces(rows.n, edge), rows, columns, columns, [&](int64_t item) {
            const Range i = piece(rows, item, edge);
            const Buffer<T> before = copy(i, columns);
            update_part(i, columns, columns, before.data(), columns.n, at(columns.first, columns.first), job_.n);
        });
    }

    Buffer<T> copy(Range rows, Range columns) const {
        Buffer<T> copied(static_cast<size_t>(rows.n * columns.n));
        for (int64_t i = 0; i < rows.n; ++i)
            std::copy_n(at(rows.first + i, columns.first), columns.n, copied.data() + i * columns.n);
        return copied;
    }

    /// Return the edge of square parts of `area` distances such that each thread gets several parts.
    int64_t edge_for(double area) const {
        int64_t edge = kLargestPart;
        while (edge > kSmallestPart && area < 3.0 * job_.n_threads * double(edge) * double(edge)) edge /= 2;
        return job_.n_threads == 1 ? kLargestPart : edge;
    }
    static int64_t pieces(int64_t n, int64_t edge) { return (n + edge - 1) / edge; }
    static Range piece(Range all, int64_t k, int64_t edge) {
        return {all.first + k * edge, std::min(edge, all.n - k * edge)};
    }

    template <class Work>
    void over_parts(int64_t n_parts, Range rows, Range through, Range columns, Work work) {
        const double sums = double(rows.n) * double(through.n) * double(columns.n);
        std::atomic<int64_t> n_done = 0;
        parallel(sums < kParallelSums ? 1 : job_.n_threads, n_parts, 1, [&](int thread, int64_t item) {
            work(item);
            const int64_t so_far = ++n_done;
            if (thread == 0) watcher_.look(done_ + sums * double(so_far) / double(n_parts));
        });
        done_ += sums;
        watcher_.look(done_);
    }

    const ClosureJob<T> &job_;
    const ClosureKernels &kernels_;
    const ProductKernels<T> &products_;
    Watcher watcher_;
    double done_ = 0;
};

/// Convert to distances of shortest paths, in bounded numbers. The caller ensures that integers are not too large
/// (weight_range).
template <class T>
void to_distances(T *values, int64_t size, Order order) {
    const T infinity = worst_number<T>(order);
    if constexpr (std::is_floating_point_v<T>) {
        if (!is_negated(order)) return;
        for (int64_t k = 0; k < size; ++k) values[k] = T(0) - values[k];  // the result is never -0
    } else {
        for (int64_t k = 0; k < size; ++k) {
            const T value = values[k];
            values[k] = value == infinity ? kBoundedInfinity<T> : is_negated(order) ? static_cast<T>(-value) : value;
        }
    }
}

template <class T>
void from_distances(T *values, int64_t size, Order order, bool has_negative) {
    const T infinity = worst_number<T>(order);
    if constexpr (std::is_floating_point_v<T>) {
        if (!is_negated(order)) return;
        for (int64_t k = 0; k < size; ++k) values[k] = T(0) - values[k];
    } else {
        const T highest = static_cast<T>(highest_distance<T>(has_negative));
        for (int64_t k = 0; k < size; ++k) {
            const T value = values[k];
            values[k] = value > highest ? infinity : is_negated(order) ? static_cast<T>(-value) : value;
        }
    }
}

}  // namespace

template <class T>
int64_t close_matrix(const ClosureJob<T> &job, const Poll &poll) {
    const int64_t size = job.n * job.n;
    const Survey<T> range = survey(job.order, job.values, size);
    const bool has_negative = range.any_finite && (is_negated(job.order) ? range.highest > 0 : range.lowest < 0);
    to_distances(job.values, size, job.order);
    if (job.via) std::fill_n(job.via, size, -1);
    int64_t found = -1;
    try {
        Closing<T> closing(job, poll);
        for (int64_t i = 0; i < job.n; ++i) {
            if (job.values[i * job.n + i] < 0) throw NegativeCycle{i};  // a loop
            job.values[i * job.n + i] = 0;
        }
        if (job.n_left) closing.close_two_parts();
        else closing.close({0, job.n});
    } catch (const NegativeCycle &cycle) {
        found = cycle.vertex;
    } catch (const Stopped &) {
        return -2;
    }
    from_distances(job.values, size, job.order, has_negative);
    return found;
}

bool close_bits(uint64_t *bits, int64_t n, int64_t n_words, int n_threads, const Poll &poll) {
    const ClosureKernels &kernels = *selected_closure_kernels();
    for (int64_t i = 0; i < n; ++i) bits[i * n_words + i / 64] |= uint64_t{1} << (i % 64);
    Watcher watcher(poll, double(n), n);
    try {
        for (int64_t first = 0; first < n; first += kClosureBlock) {
            const int64_t last = std::min(first + kClosureBlock, n);
            kernels.join_rows(bits, n_words, first, last, first, last);
            const bool is_large = double(n) * double(n_words) > double(1 << 16);
            parallel(is_large ? n_threads : 1, (n + kClosureBlock - 1) / kClosureBlock, 1, [&](int thread, int64_t b) {
                const int64_t begin = b * kClosureBlock;
                if (begin != first)
                    kernels.join_rows(bits, n_words, begin, std::min(begin + kClosureBlock, n), first, last);
                if (thread == 0) watcher.look(double(first));
            });
        }
    } catch (const Stopped &) {
        return false;
    }
    return true;
}

template int64_t close_matrix<float>(const ClosureJob<float> &, const Poll &);
template int64_t close_matrix<double>(const ClosureJob<double> &, const Poll &);
template int64_t close_matrix<int32_t>(const ClosureJob<int32_t> &, const Poll &);
template int64_t close_matrix<int16_t>(const ClosureJob<int16_t> &, const Poll &);

}  // namespace tropalign
