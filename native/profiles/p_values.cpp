#include "p_values.hpp"

#include <cmath>
#include <numbers>

namespace tropalign {
namespace {

/// Below this, 1 - exp(-x) and -log(1 - x) equal x in double precision.
constexpr double kSmall = 5e-9;

}  // namespace

float bits_of(float nats, float null_nats) { return static_cast<float>((nats - null_nats) / std::numbers::ln2); }

// P = 1 - exp(-t), with t = exp(-lambda (bits - mu)) the expected number of better scores.

double gumbel_p(double bits, double mu, double lambda) {
    const double t = std::exp(-(lambda * (bits - mu)));
    return t < kSmall ? t : 1 - std::exp(-t);
}

double gumbel_log_p(double bits, double mu, double lambda) {
    const double y = lambda * (bits - mu), t = std::exp(-y);
    if (t < kSmall) return -y;
    const double none_better = std::exp(-t);
    return none_better < kSmall ? -none_better : std::log(1 - none_better);
}

double exponential_p(double bits, double mu, double lambda) {
    return bits < mu ? 1.0 : std::exp(-lambda * (bits - mu));
}

double exponential_log_p(double bits, double mu, double lambda) { return bits < mu ? 0.0 : -lambda * (bits - mu); }

}  // namespace tropalign
