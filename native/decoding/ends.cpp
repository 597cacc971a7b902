#include "ends.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "../compute/parallel.hpp"
#include "words.hpp"

namespace tropalign {
namespace {

/// The stretches of a sequence, and the symbols of their steps: no step leads to the very first position.
struct SymbolStretches {
    const uint8_t *codes;
    int64_t begin, end, length;

    int64_t count() const { return (end - begin - 1) / length + 1; }
    int64_t first_step(int64_t k) const { return begin + std::max<int64_t>(k * length, 1); }
    int64_t last_step(int64_t k) const { return std::min(begin + (k + 1) * length, end); }
};

/// Sums that pass through stretches in one direction.
class Pass {
  public:
    Pass(const HmmModel &model, const SymbolStretches &stretches, bool is_back)
        : model_(model), table_(*model.words), stretches_(stretches), is_back_(is_back),
          x_(static_cast<size_t>(model.padded)) {}

    Lined &sums() { return x_; }
    int64_t &exponent() { return exponent_; }

    /// Read the words of stretch k; the remainder at its start is read as single symbols.
    void read(int64_t k) {
        const uint8_t *codes = stretches_.codes + stretches_.first_step(k);
        const int64_t n = stretches_.last_step(k) - stretches_.first_step(k), length = table_.length();
        symbols_.assign(codes, codes + n % length);
        words_.clear();
        for (int64_t t = n % length; t < n; t += length) {
            int32_t word = codes[t];
            for (int64_t s = 1; s < length; ++s) word = word * model_.n_symbols + codes[t + s];
            words_.push_back(word);
        }
        for (int32_t symbol : symbols_) exponent_ += table_.symbols().powers[static_cast<size_t>(symbol)];
        for (int32_t word : words_) exponent_ += table_.words().powers[static_cast<size_t>(word)];
    }

    WordChain symbol_chain() { return chain_of(table_.symbols(), symbols_); }
    WordChain word_chain() { return chain_of(table_.words(), words_); }

    void take_symbols() {
        WordChain chain = symbol_chain();
        model_.kernels->words(&chain, 1, model_.padded);
        exponent_ += chain.exponent;
    }

  private:
    WordChain chain_of(const WordTable &table, const std::vector<int32_t> &words) {
        const auto n = static_cast<int64_t>(words.size());
        if (is_back_) return {table.back.data(), words.data() + std::max<int64_t>(n - 1, 0), n, -1, x_.data(), 0};
        return {table.ahead.data(), words.data(), n, 1, x_.data(), 0};
    }

    const HmmModel &model_;
    const HmmWords &table_;
    const SymbolStretches &stretches_;
    const bool is_back_;
    Lined x_;
    int64_t exponent_ = 0;
    std::vector<int32_t> symbols_, words_;
};

/// The forward and the backward pass over a sequence.
class Passes {
  public:
    Passes(const HmmModel &model, const SymbolStretches &stretches, SumRun &run)
        : model_(model), stretches_(stretches), run_(run), ahead_(model, stretches, false),
          back_(model, stretches, true) {}

    Pass &ahead() { return ahead_; }
    Pass &back() { return back_; }

    /// Run forward through the stretches [0, n_ahead) and backward through the last n_back. Before each stretch
    /// `before(k)` and `after(k)` are called. Returns false if no path emits the first observation.
    template <class Before, class After>
    bool go(int64_t n_ahead, int64_t n_back, Before before, After after) {
        if (!begin()) return false;
        const int64_t last = stretches_.count() - 1;
        const auto step = [&](int64_t k, bool goes_ahead, bool goes_back) {
            run_.check();
            if (goes_ahead) before(k), ahead_.read(k), ahead_.take_symbols();
            if (goes_back) after(last - k), back_.read(last - k);
            take_words(goes_ahead, goes_back);
            if (goes_back) back_.take_symbols();
        };
        if (run_.n_threads > 1)
            parallel(2, 2, 1, [&](int, int64_t item) {
                for (int64_t k = 0; k < (item == 0 ? n_ahead : n_back); ++k) step(k, item == 0, item == 1);
            });
        else
            for (int64_t k = 0; k < std::max(n_ahead, n_back); ++k) step(k, k < n_ahead, k < n_back);
        return true;
    }

  private:
    /// Set the sums at the first and the last position.
    bool begin() {
        const int32_t symbol = stretches_.codes[stretches_.begin];
        const double *emission = model_.emissions.data() + int64_t{symbol} * model_.padded;
        for (size_t s = 0; s < ahead_.sums().size(); ++s) ahead_.sums()[s] = model_.start[s] * emission[s];
        ahead_.exponent() = model_.powers[static_cast<size_t>(symbol)];
        std::fill_n(back_.sums().begin(), model_.n_states, 1.0);
        return *std::max_element(ahead_.sums().begin(), ahead_.sums().end()) > kTiny;
    }

    void take_words(bool goes_ahead, bool goes_back) {
        WordChain chains[2];
        int n = 0;
        if (goes_ahead) chains[n++] = ahead_.word_chain();
        if (goes_back) chains[n++] = back_.word_chain();
        model_.kernels->words(chains, n, model_.padded);
        if (goes_ahead) ahead_.exponent() += chains[0].exponent;
        if (goes_back) back_.exponent() += chains[n - 1].exponent;
    }

    const HmmModel &model_;
    const SymbolStretches &stretches_;
    SumRun &run_;
    Pass ahead_, back_;
};

}  // namespace

bool goes_by_words(const HmmModel &model, int64_t begin, int64_t end) {
    return model.words && HmmWords::pay(end - begin);
}

bool ends_by_words(const HmmModel &model, const Observations &seen, int64_t begin, int64_t end, int64_t stretch,
                   SumRun &run, StretchEnds &ends) {
    const SymbolStretches stretches{seen.codes, begin, end, stretch};
    const auto padded = static_cast<size_t>(model.padded), n = static_cast<size_t>(stretches.count());
    ends.before.resize(n * padded);
    ends.after.resize(n * padded);
    Passes passes(model, stretches, run);
    const auto keep = [&](Pass &pass, std::vector<double> &to, int64_t k) {
        std::copy(pass.sums().begin(), pass.sums().end(), to.begin() + k * model.padded);
    };
    if (!passes.go(
            stretches.count(), stretches.count() - 1, [&](int64_t k) { keep(passes.ahead(), ends.before, k); },
            [&](int64_t k) { keep(passes.back(), ends.after, k); }))
        return false;
    keep(passes.back(), ends.after, 0);
    const Lined &x = passes.ahead().sums();
    double total = 0;
    for (double sum : x) total += sum;
    ends.log_likelihood = std::log(total) + static_cast<double>(passes.ahead().exponent()) * std::numbers::ln2;
    return total > kTiny;
}

bool likelihood_by_words(const HmmModel &model, const Observations &seen, int64_t begin, int64_t end, int64_t stretch,
                         SumRun &run, double &found) {
    const SymbolStretches stretches{seen.codes, begin, end, stretch};
    Passes passes(model, stretches, run);
    const int64_t n_ahead = (stretches.count() + 1) / 2, n_back = stretches.count() - n_ahead;
    const auto nothing = [](int64_t) {};
    if (!passes.go(n_ahead, n_back, nothing, nothing)) return false;
    Lined &x = passes.ahead().sums(), &beta = passes.back().sums();
    const int64_t exponent =
        passes.ahead().exponent() + passes.back().exponent() + scaled(x, model.n_states) + scaled(beta, model.n_states);
    double total = 0;
    for (size_t s = 0; s < x.size(); ++s) total += x[s] * beta[s];
    found = std::log(total) + static_cast<double>(exponent) * std::numbers::ln2;
    return total > kTiny;
}

}  // namespace tropalign
