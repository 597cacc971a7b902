// Scores in bits, and the probability that random targets reach them: an extreme-value (Gumbel) distribution for
// optimal scores (MSV, Viterbi), an exponential tail for Forward's (Eddy 2008, doi:10.1371/journal.pcbi.1000069).
//
// Types and orders of operations are HMMER's, so that comparisons of P with a threshold have the same result.
// Bits, location and slope are floats there; P is computed from them in double precision.
#pragma once

namespace tropalign {

/// Return a score relative to a null model's. The difference is computed in float, the quotient in double.
float bits_of(float nats, float null_nats);

/// Return P(score > bits): 1 for bits far below mu, 0 far above; bits may be infinite.
double gumbel_p(double bits, double mu, double lambda);
double gumbel_log_p(double bits, double mu, double lambda);
double exponential_p(double bits, double mu, double lambda);
double exponential_log_p(double bits, double mu, double lambda);

}  // namespace tropalign
