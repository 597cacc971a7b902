#include "posterior_model.hpp"

#include <algorithm>
#include <cmath>

namespace tropalign {

PosteriorModel posterior_model(int n_letters, const double *transitions, const double *match, const double *insert,
                               const double *boltzmann, const double *gap, double hmm_share) {
    PosteriorModel model{};
    const double *initial = transitions, *open = transitions + 3, *extend = transitions + 5;
    const double overhang = transitions[7], stay = 1 - 2 * open[0] - 2 * open[1];
    const double g = overhang > 0 ? 1 : 1 / std::max(extend[0], extend[1]);
    for (int a = 0; a < n_letters; ++a)
        for (int b = 0; b < n_letters; ++b) {
            model.odds[a][b] = match[a * n_letters + b] / (insert[a] * insert[b]) * stay * g * g;
            model.boltzmann[a][b] = boltzmann[a * n_letters + b];
        }
    model.start_match = initial[0] / stay;
    model.end_match = initial[0];
    model.start_free = overhang / stay;
    model.end_free = overhang;
    for (int k = 0; k < 2; ++k) {
        model.extend[k] = extend[k] * g;
        model.add[k] = open[k] * g * (1 - extend[k]) / stay;
        model.start_insert[k] = initial[1 + k] / open[k];
        model.end_insert[k] = initial[1 + k] * open[k] * g;
    }
    model.gap_open = gap[0];
    model.gap_extend = gap[1];
    model.hmm_share = hmm_share;
    for (int a = 0; a < 32; ++a) {
        double highest = 0;
        for (int b = 0; b < 32; ++b) highest = std::max({highest, model.odds[a][b], model.boltzmann[a][b]});
        model.growth[a] = std::log2(highest + 2);  // the contribution of gaps is at most as much again
    }
    return model;
}

}  // namespace tropalign
