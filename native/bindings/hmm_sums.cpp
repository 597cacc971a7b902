// Bindings: sums over the paths of hidden Markov models; the arrays are documented in native/decoding/sums.hpp.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <string>

#include "../compute/buffer.hpp"
#include "../compute/parallel.hpp"
#include "../decoding/sums.hpp"
#include "check.hpp"

using namespace nb::literals;

namespace tropalign {
namespace {

/// Maximum logarithm of an emission, so that powers of two can be counted.
constexpr double kMostLog = 1e8;
constexpr int64_t kMostSummedStates = 1 << 14;
/// Counts are summed in up to this many groups of neighbouring sequences, for any number of threads.
constexpr int64_t kMostGroups = 32;

using Numbers = Column<double>;
using Table = Array<double, 2>;
using Codes = Column<uint8_t>;
using Offsets = Column<int64_t>;

void require_probabilities(const double *values, size_t count, const char *name) {
    const bool good = std::all_of(values, values + count, [](double p) { return p >= 0 && p <= 1.001; });
    if (!good) refuse(std::string(name) + ": a number outside of 0 to 1");
}

/// The checked arguments of a call.
struct Call {
    Call(const Numbers &start, const Table &transition, const Offsets &offsets_of, int n_threads_of,
         const Progress &progress)
        : n_states(static_cast<int32_t>(start.size())), offsets(offsets_of.data()),
          n_sequences(static_cast<int64_t>(offsets_of.size()) - 1), n_threads(n_threads_of) {
        require(start.size() >= 1 && start.size() <= kMostSummedStates, "start: must have 1 to 16384 states");
        require(transition.shape(0) == start.size() && transition.shape(1) == start.size(),
                "transition: must have a number per pair of states");
        require_probabilities(start.data(), start.size(), "start");
        require_probabilities(transition.data(), transition.size(), "transition");
        require_threads(n_threads);
        require_progress(progress);
    }

    HmmModel with_codes(const Numbers &start, const Table &transition, const Table &emission, const Codes &codes) {
        require(emission.shape(0) == start.size(), "emission: must have a row per state");
        require(emission.shape(1) >= 1 && emission.shape(1) <= 256, "emission: must have 1 to 256 symbols");
        require_probabilities(emission.data(), emission.size(), "emission");
        require_offsets(offsets, n_sequences + 1, static_cast<int64_t>(codes.size()), "offsets");
        const int64_t longest = longest_of(offsets, n_sequences + 1, "offsets");
        require_codes(codes.data(), codes.size(), static_cast<int>(emission.shape(1)), "codes");
        seen = {codes.data(), nullptr};
        const auto n_symbols = static_cast<int32_t>(emission.shape(1));
        return {start.data(), transition.data(), emission.data(), n_states, n_symbols, longest};
    }

    HmmModel with_frames(const Numbers &start, const Table &transition, const Table &frames) {
        require(frames.shape(1) == start.size(), "frames: must have a column per state");
        require_offsets(offsets, n_sequences + 1, static_cast<int64_t>(frames.shape(0)), "offsets");
        longest_of(offsets, n_sequences + 1, "offsets");
        const bool good = std::all_of(frames.data(), frames.data() + frames.size(),
                                      [](double x) { return x == -INFINITY || (x >= -kMostLog && x <= kMostLog); });
        require(good, "frames: a number that is neither -infinity nor from -1e8 to 1e8");
        seen = {nullptr, frames.data()};
        return {start.data(), transition.data(), nullptr, n_states, 0, 0};
    }

    int32_t n_states;
    const int64_t *offsets;
    int64_t n_sequences;
    int n_threads;
    Observations seen{};
};

/// Below this many products of numbers, about a millisecond, the start of a thread takes longer than it saves.
constexpr int64_t kFewProducts = 1 << 23;

/// Call work(item, run) for all items without the interpreter's lock, and rethrow an exception of the poll. Items
/// for which is_long(item) is true use all threads, one after another; the others share them.
template <class IsLong, class Work>
void run(const Call &call, int64_t n_items, Progress progress, IsLong is_long, Work work) {
    PythonPoll poll(std::move(progress));
    std::atomic<bool> stops = false;
    const auto go_on = [&](int64_t done) {
        const bool goes = poll(done);
        if (!goes) stops = true;
        return goes;
    };
    SumRun alone{1, stops}, together{call.n_threads, stops};
    const int64_t n_positions = call.offsets[call.n_sequences] - call.offsets[0];
    std::vector<int64_t> large, small;
    for (int64_t item = 0; item < n_items; ++item)
        (call.n_threads > 1 && is_long(item) ? large : small).push_back(item);
    const auto take_large = [&](int, int64_t k) { work(large[static_cast<size_t>(k)], together); };
    const auto take_small = [&](int, int64_t k) { work(small[static_cast<size_t>(k)], alone); };
    try {
        nb::gil_scoped_release released;
        if (n_positions < kFewProducts / (int64_t{call.n_states} * call.n_states))
            for (int64_t item = 0; item < n_items; ++item) work(item, alone);
        else if (parallel(1, static_cast<int64_t>(large.size()), 1, take_large, go_on))
            parallel(call.n_threads, static_cast<int64_t>(small.size()), 1, take_small, go_on);
    } catch (const SumsStopped &) {  // poll.rethrow() throws the cause
    }
    poll.rethrow();
}

/// Call work for each sequence; some may be long.
template <class Work>
void run_sequences(const Call &call, const HmmModel &model, Progress progress, Work work) {
    const auto is_long = [&](int64_t k) { return call.offsets[k + 1] - call.offsets[k] > long_sequence(model); };
    run(call, call.n_sequences, std::move(progress), is_long, work);
}

Numpy<double> forward(const Call &call, const HmmModel &model, Progress progress) {
    std::vector<double> found(static_cast<size_t>(call.n_sequences));
    run_sequences(call, model, std::move(progress), [&](int64_t k, SumRun &run) {
        found[static_cast<size_t>(k)] = log_likelihood(model, call.seen, call.offsets[k], call.offsets[k + 1], run);
    });
    return to_numpy(std::move(found));
}

Tuple<Numpy<double>, Numpy<double>> all_posteriors(const Call &call, const HmmModel &model, Progress progress) {
    const int64_t first = call.offsets[0], n = call.offsets[call.n_sequences] - first;
    const auto states = static_cast<size_t>(call.n_states);
    std::vector<double> found(static_cast<size_t>(call.n_sequences));
    Buffer<double> rows(static_cast<size_t>(n) * states);
    run_sequences(call, model, std::move(progress), [&](int64_t k, SumRun &run) {
        const PosteriorSink sink{[&](int64_t from, int64_t n_rows, const double *posteriors) {
            for (int64_t t = 0; t < n_rows; ++t)
                std::copy_n(posteriors + t * model.padded, states, rows.data() + (from - first + t) * call.n_states);
        }};
        const int64_t begin = call.offsets[k], end = call.offsets[k + 1];
        found[static_cast<size_t>(k)] = posteriors(model, call.seen, begin, end, &sink, nullptr, run);
        if (found[static_cast<size_t>(k)] == -INFINITY)
            std::fill_n(rows.data() + (begin - first) * call.n_states, (end - begin) * call.n_states, 0.0);
    });
    const std::array<size_t, 2> shape{static_cast<size_t>(n), states};
    return nb::make_tuple(to_numpy(std::move(rows), shape), to_numpy(std::move(found)));
}

/// Return the starts of the groups of neighbouring sequences of similar total length.
std::vector<int64_t> groups_of(const Call &call) {
    const int64_t total = call.offsets[call.n_sequences] - call.offsets[0];
    std::vector<int64_t> begins{0};
    for (int64_t k = 1; k < call.n_sequences; ++k)
        if ((call.offsets[k] - call.offsets[0]) * kMostGroups >= static_cast<int64_t>(begins.size()) * total)
            begins.push_back(k);
    begins.push_back(call.n_sequences);
    return begins;
}

Numpy<double> without_padding(const std::vector<double> &padded, int64_t n_rows, int64_t stride, int64_t n_columns) {
    std::vector<double> made;
    for (int64_t i = 0; i < n_rows; ++i)
        made.insert(made.end(), padded.begin() + i * stride, padded.begin() + i * stride + n_columns);
    const std::array<size_t, 2> shape{static_cast<size_t>(n_rows), static_cast<size_t>(n_columns)};
    return to_numpy(std::move(made), shape);
}

Tuple<Numpy<double>, Numpy<double>, Numpy<double>, Numpy<double>> counts(const Call &call, const HmmModel &model,
                                                                         Progress progress) {
    std::vector<double> found(static_cast<size_t>(call.n_sequences));
    const std::vector<int64_t> begins = groups_of(call);
    std::vector<HmmCounts> parts(begins.size() - 1, HmmCounts(model));
    // A group uses all threads if one long sequence is most of it.
    const auto is_long = [&](int64_t g) {
        const int64_t *first = call.offsets + begins[static_cast<size_t>(g)];
        const int64_t n = begins[static_cast<size_t>(g) + 1] - begins[static_cast<size_t>(g)];
        const int64_t longest = longest_of(first, n + 1, "offsets");
        return longest > long_sequence(model) && 2 * longest > first[n] - first[0];
    };
    run(call, static_cast<int64_t>(parts.size()), std::move(progress), is_long, [&](int64_t g, SumRun &run) {
        const auto group = static_cast<size_t>(g);
        for (int64_t k = begins[group]; k < begins[group + 1]; ++k)
            found[static_cast<size_t>(k)] =
                posteriors(model, call.seen, call.offsets[k], call.offsets[k + 1], nullptr, &parts[group], run);
    });
    HmmCounts all(model);
    for (const HmmCounts &part : parts) all.add(part);
    all.start.resize(static_cast<size_t>(model.n_states));
    const int64_t n = model.n_states;
    return nb::make_tuple(to_numpy(std::move(found)), to_numpy(std::move(all.start)),
                          without_padding(all.transition, n, model.padded, n),
                          without_padding(all.emission, model.n_symbols, model.padded, n));
}

/// Return the label of each position whose states' posteriors have the highest sum; of equal ones the lowest.
Tuple<Numpy<uint8_t>, Numpy<double>> labels(const Call &call, const HmmModel &model, const Codes &labels_of,
                                            Progress progress) {
    require(labels_of.size() == static_cast<size_t>(call.n_states), "labels: must have a label per state");
    std::vector<std::vector<int32_t>> states_of(256);
    for (int32_t s = 0; s < call.n_states; ++s) states_of[labels_of.data()[s]].push_back(s);
    while (states_of.back().empty()) states_of.pop_back();
    const int64_t first = call.offsets[0];
    std::vector<double> found(static_cast<size_t>(call.n_sequences));
    Buffer<uint8_t> best(static_cast<size_t>(call.offsets[call.n_sequences] - first));
    run_sequences(call, model, std::move(progress), [&](int64_t k, SumRun &run) {
        const PosteriorSink sink{[&](int64_t from, int64_t n_rows, const double *posteriors) {
            for (int64_t t = 0; t < n_rows; ++t) {
                const double *row = posteriors + t * model.padded;
                double highest = -1;
                for (size_t label = 0; label < states_of.size(); ++label) {
                    double sum = 0;
                    for (int32_t s : states_of[label]) sum += row[s];
                    if (sum > highest) {
                        highest = sum;
                        best[static_cast<size_t>(from - first + t)] = static_cast<uint8_t>(label);
                    }
                }
            }
        }};
        found[static_cast<size_t>(k)] =
            posteriors(model, call.seen, call.offsets[k], call.offsets[k + 1], &sink, nullptr, run);
    });
    return nb::make_tuple(to_numpy(std::move(best)), to_numpy(std::move(found)));
}

/// The label of each state, and segments of positions with their labels.
struct Segments {
    const uint8_t *state_labels;
    const int64_t *begins, *ends;
    const uint8_t *labels;
    int64_t count;
};

Segments segments_of(const Call &call, const Codes &state_labels, const Offsets &begins, const Offsets &ends,
                     const Codes &labels) {
    const auto count = static_cast<int64_t>(begins.size());
    require(state_labels.size() == static_cast<size_t>(call.n_states), "state_labels: must have a label per state");
    require(ends.size() == begins.size() && labels.size() == begins.size(), "segments: arrays of unequal lengths");
    int64_t last = call.offsets[0], k = 0;
    for (int64_t at = 0; at < count; ++at) {
        const int64_t begin = begins.data()[at], end = ends.data()[at];
        require(begin >= last && end > begin, "segments: empty, overlapping or not in order");
        while (k < call.n_sequences && call.offsets[k + 1] <= begin) ++k;
        require(k < call.n_sequences && end <= call.offsets[k + 1], "segments: one is not within a sequence");
        last = end;
    }
    return {state_labels.data(), begins.data(), ends.data(), labels.data(), count};
}

/// A part of a segment that lies within one stretch (posterior_stretch) of its sequence, so that one thread
/// processes it.
struct Piece {
    int64_t segment, begin, end;
    double sum;
};

std::vector<Piece> pieces_of(const Call &call, const Segments &segments, int64_t stretch) {
    std::vector<Piece> pieces;
    int64_t k = 0;
    for (int64_t at = 0; at < segments.count; ++at) {
        while (call.offsets[k + 1] <= segments.begins[at]) ++k;
        for (int64_t begin = segments.begins[at], end; begin < segments.ends[at]; begin = end) {
            const int64_t next = call.offsets[k] + ((begin - call.offsets[k]) / stretch + 1) * stretch;
            end = std::min(next, segments.ends[at]);
            pieces.push_back({at, begin, end, 0});
        }
    }
    return pieces;
}

/// Return the first piece that ends after a position.
std::vector<Piece>::iterator first_piece(std::vector<Piece> &pieces, int64_t from) {
    return std::upper_bound(pieces.begin(), pieces.end(), from,
                            [](int64_t position, const Piece &other) { return position < other.end; });
}

/// Add the posteriors of each piece's label to its sum, or reset the sums of pieces in [from, to) if `posteriors`
/// is null.
void add_support(const Segments &segments, const HmmModel &model, int64_t from, int64_t to, const double *posteriors,
                 std::vector<Piece> &pieces) {
    std::vector<double> is_label(static_cast<size_t>(model.padded));
    for (auto piece = first_piece(pieces, from); piece != pieces.end() && piece->begin < to; ++piece) {
        if (!posteriors) {
            piece->sum = 0;
            continue;
        }
        const int64_t begin = std::max(piece->begin, from), end = std::min(piece->end, to);
        for (int32_t s = 0; s < model.n_states; ++s)
            is_label[static_cast<size_t>(s)] = segments.state_labels[s] == segments.labels[piece->segment];
        piece->sum += model.kernels->sum_of(posteriors + (begin - from) * model.padded, end - begin, is_label.data(),
                                            model.padded);
    }
}

Tuple<Numpy<double>, Numpy<double>> support(const Call &call, const HmmModel &model, const Segments &segments,
                                            Progress progress) {
    std::vector<double> found(static_cast<size_t>(call.n_sequences));
    std::vector<Piece> pieces = pieces_of(call, segments, posterior_stretch(model));
    run_sequences(call, model, std::move(progress), [&](int64_t k, SumRun &run) {
        const int64_t begin = call.offsets[k], end = call.offsets[k + 1];
        const PosteriorSink sink{[&](int64_t from, int64_t n_rows, const double *rows) {
                                     add_support(segments, model, from, rows ? from + n_rows : end, rows, pieces);
                                 },
                                 [&](int64_t from, int64_t to) {
                                     const auto piece = first_piece(pieces, from);
                                     return piece != pieces.end() && piece->begin < to;
                                 }};
        found[static_cast<size_t>(k)] = posteriors(model, call.seen, begin, end, &sink, nullptr, run);
    });
    std::vector<double> sums(static_cast<size_t>(segments.count));
    for (const Piece &piece : pieces) sums[static_cast<size_t>(piece.segment)] += piece.sum;
    return nb::make_tuple(to_numpy(std::move(sums)), to_numpy(std::move(found)));
}

/// Define two functions that call compute(call, model, progress): NAME_codes for sequences of symbols, NAME_frames
/// for rows of emission scores.
template <class Compute>
void define_both(nb::module_ &m, const std::string &name, Compute compute) {
    m.def((name + "_codes").c_str(),
          [compute](Numbers start, Table transition, Table emission, Codes codes, Offsets offsets, int n_threads,
                    Progress progress) {
              Call call(start, transition, offsets, n_threads, progress);
              const HmmModel model = call.with_codes(start, transition, emission, codes);
              return compute(call, model, progress);
          },
          array("start"), array("transition"), array("emission"), array("codes"), array("offsets"), "n_threads"_a,
          "progress"_a = nb::none());
    m.def((name + "_frames").c_str(),
          [compute](Numbers start, Table transition, Table frames, Offsets offsets, int n_threads, Progress progress) {
              Call call(start, transition, offsets, n_threads, progress);
              const HmmModel model = call.with_frames(start, transition, frames);
              return compute(call, model, progress);
          },
          array("start"), array("transition"), array("frames"), array("offsets"), "n_threads"_a,
          "progress"_a = nb::none());
}

}  // namespace
}  // namespace tropalign

void bind_hmm_sums(nb::module_ &m) {
    using namespace tropalign;
    define_both(m, "hmm_forward", forward);
    define_both(m, "hmm_posteriors", all_posteriors);
    define_both(m, "hmm_counts", counts);
    m.def(
        "hmm_labels",
        [](Numbers start, Table transition, Table emission, Codes codes, Offsets offsets, Codes state_labels,
           int n_threads, Progress progress) {
            Call call(start, transition, offsets, n_threads, progress);
            const HmmModel model = call.with_codes(start, transition, emission, codes);
            return labels(call, model, state_labels, progress);
        },
        array("start"), array("transition"), array("emission"), array("codes"), array("offsets"), array("state_labels"),
        "n_threads"_a, "progress"_a = nb::none());
    m.def(
        "hmm_support",
        [](Numbers start, Table transition, Table emission, Codes codes, Offsets offsets, Codes state_labels,
           Offsets begins, Offsets ends, Codes labels_of, int n_threads, Progress progress) {
            Call call(start, transition, offsets, n_threads, progress);
            const HmmModel model = call.with_codes(start, transition, emission, codes);
            const Segments segments = segments_of(call, state_labels, begins, ends, labels_of);
            return support(call, model, segments, progress);
        },
        array("start"), array("transition"), array("emission"), array("codes"), array("offsets"), array("state_labels"),
        array("begins"), array("ends"), array("labels"), "n_threads"_a, "progress"_a = nb::none());
}
