// Shared helpers of the bindings: NumPy arrays in and out, and progress.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <array>
#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

namespace nb = nanobind;

namespace tropalign {

template <class T, size_t n>
using Array = nb::ndarray<const T, nb::ndim<n>, nb::c_contig, nb::device::cpu>;
template <class T>
using Column = Array<T, 1>;

/// An argument that is an array of exactly this dtype and layout: nanobind would convert any other into a copy, in
/// which numbers wrap around and writes are lost.
inline auto array(const char *name) { return nb::arg(name).noconvert(); }

// A result array; signatures show its type, and so does src/tropalign/_native.pyi (packaging/stub.py).

template <class T>
struct Numpy : nb::object {
    static constexpr auto Name = nb::detail::const_name("numpy.typing.NDArray[numpy.") +
                                 nb::detail::dtype_traits<T>::name + nb::detail::const_name("]");
    using nb::object::object;
    Numpy(nb::object array) : nb::object(std::move(array)) {}
    static bool check_(nb::handle) { return true; }
};
/// A Python type that no class of nanobind represents.
#define TROPALIGN_PYTHON_TYPE(Type, name)                          \
    struct Type : nb::object {                                     \
        static constexpr auto Name = nb::detail::const_name(name); \
        using nb::object::object;                                  \
        Type(nb::object object) : nb::object(std::move(object)) {} \
        static bool check_(nb::handle) { return true; }            \
    };
TROPALIGN_PYTHON_TYPE(Any, "typing.Any")
TROPALIGN_PYTHON_TYPE(AnyNumpy, "numpy.typing.NDArray[typing.Any]")
/// Called with the amount of work done; an exception ends the work.
TROPALIGN_PYTHON_TYPE(Progress, "collections.abc.Callable[[int], object]")
template <class... Items>
using Tuple = nb::typed<nb::tuple, Items...>;
template <class Item>
using List = nb::typed<nb::list, Item>;
using Dict = nb::typed<nb::dict, nb::str, Any>;
using ArrayDict = nb::typed<nb::dict, nb::str, AnyNumpy>;

/// Return an array whose memory belongs to a container with data() and size().
template <class Container, size_t n>
auto to_numpy(Container &&values, const std::array<size_t, n> &shape) {
    using Owner = std::remove_reference_t<Container>;
    using T = std::remove_pointer_t<decltype(values.data())>;
    auto owner = std::make_unique<Owner>(std::move(values));
    T *data = owner->data();
    nb::capsule keep(owner.release(), [](void *p) noexcept { delete static_cast<Owner *>(p); });
    return Numpy<T>(nb::cast(nb::ndarray<nb::numpy, T>(data, n, shape.data(), keep)));
}
template <class Container>
auto to_numpy(Container &&values) {
    const std::array<size_t, 1> shape{values.size()};
    return to_numpy(std::forward<Container>(values), shape);
}

/// Stop a thread that Python ends: until version 3.14, once the interpreter finalizes, any other thread that takes
/// the lock of the interpreter has its stack unwound, without the lock. See also `keep_ended_threads` in
/// module.cpp.
[[noreturn]] inline void wait_for_exit() {
    for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
}

/// Call Python with the lock held. Only exceptions leave this function: a thread that Python ends stays here.
template <class Call>
auto calling_python(Call call) {
    nb::gil_scoped_acquire gil;
    try {
        return call();
    } catch (const std::exception &) {
        throw;
    } catch (...) {
        wait_for_exit();
    }
}

/// Reports progress to Python; returns false after Ctrl-C, or if `progress` raises.
class PythonPoll {
  public:
    explicit PythonPoll(Progress progress) : progress_(std::move(progress)) {}

    bool operator()(int64_t done) {
        if (raised_) return false;
        calling_python([&] {
            try {
                if (PyErr_CheckSignals() != 0) raised_ = true;
                else if (!progress_.is_none()) progress_(done);
            } catch (nb::python_error &error) {
                error.restore();
                raised_ = true;
            }
        });
        return !raised_;
    }

    /// Throw the exception that ended the work; the lock must be held again.
    void rethrow() const {
        if (raised_) throw nb::python_error();
    }

  private:
    Progress progress_;
    bool raised_ = false;
};

}  // namespace tropalign
