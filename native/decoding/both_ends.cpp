// Likelihoods of models with many states, from both ends to the middle.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "emissions.hpp"
#include "ends.hpp"

namespace tropalign {
namespace {

/// Positions per side whose emissions are prepared at a time; a multiple of kScaleEvery.
constexpr int64_t kChunk = 256;

}  // namespace

int scaled(Lined &sums, int32_t n_states) {
    const double highest = *std::max_element(sums.begin(), sums.begin() + n_states);
    int power = 0;
    std::frexp(highest, &power);
    for (int32_t s = 0; s < n_states; ++s)
        sums[static_cast<size_t>(s)] = std::ldexp(sums[static_cast<size_t>(s)], -power);
    return power;
}

bool likelihood_from_both_ends(const HmmModel &model, const Observations &seen, int64_t begin, int64_t end, SumRun &run,
                               double &found) {
    const auto padded = static_cast<size_t>(model.padded);
    Emissions ahead(model, seen, kChunk), back(model, seen, kChunk);
    Lined x(2 * padded), beta(padded), room(2 * padded + 8 * static_cast<size_t>(model.n_states));
    int64_t exponent = 0;
    double log = 0;
    const auto steps_of = [&](const Emissions &some, int64_t first, int64_t last) {
        return SumSteps{model.n_states, model.padded, false,        model.forward.data(),
                        some.rows(),    some.index(), last - first, first - begin};
    };
    const auto prepare = [&](Emissions &some, int64_t first, int64_t last) {
        some.prepare(first, last);
        exponent += some.power();
        log += some.log();
    };
    // The first position, and a single forward step if that leaves an even number of positions.
    int64_t middle = begin + 1 + (end - begin - 1) % 2, last = end;
    prepare(ahead, begin, middle);
    const double *emission = ahead.rows() + int64_t{ahead.index()[0]} * model.padded;
    for (size_t s = 0; s < padded; ++s) x[s] = model.start[s] * emission[s];
    if (!(*std::max_element(x.begin(), x.begin() + model.n_states) > kTiny)) return false;
    SumSteps alone = steps_of(ahead, begin, middle);
    ++alone.index, --alone.n_steps, ++alone.first;
    SumStream stream{alone, x.data()};
    model.kernels->forward(&stream, 1);
    exponent += stream.exponent;
    std::fill_n(beta.begin(), model.n_states, 1.0);
    while (middle < last) {
        const int64_t n = std::min(kChunk, (last - middle) / 2);
        run.check();
        prepare(ahead, middle, middle + n);
        prepare(back, last - n, last);
        model.kernels->both(steps_of(ahead, middle, middle + n), x.data(), exponent, steps_of(back, last - n, last),
                            beta.data(), exponent, room.data());
        middle += n, last -= n;
    }
    exponent += scaled(x, model.n_states) + scaled(beta, model.n_states);
    double total = 0;
    for (size_t s = 0; s < static_cast<size_t>(model.n_states); ++s) total += x[s] * beta[s];
    found = std::log(total) + static_cast<double>(exponent) * std::numbers::ln2 + log;
    return total > kTiny;
}

}  // namespace tropalign
