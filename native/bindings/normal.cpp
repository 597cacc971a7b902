// The normal distribution: NumPy lacks it, and SciPy takes a quarter of a second to import.
#include <cmath>

#include "check.hpp"

namespace tropalign {
namespace {

Numpy<double> normal_cumulative(Column<double> values) {
    std::vector<double> below(values.size());
    {
        nb::gil_scoped_release released;
        for (size_t k = 0; k < below.size(); ++k) below[k] = std::erfc(-values.data()[k] * std::sqrt(0.5)) / 2;
    }
    return to_numpy(std::move(below));
}

}  // namespace
}  // namespace tropalign

void bind_normal(nb::module_ &m) {
    using namespace tropalign;
    m.def("normal_cumulative", &normal_cumulative, array("values"),
          "Return the standard normal distribution function of each number.");
}
