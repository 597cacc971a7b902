// Parser of HMMER's text of models: lines of words separated by blanks; a word that starts with # ends its line, and
// lines without words are ignored. Probabilities are written as negative natural logarithms, `*` for 0.
#include "model_text.hpp"

#include <charconv>
#include <cmath>
#include <cstring>

#include "../formats/read_double.hpp"
#include "model.hpp"

namespace tropalign {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

/// Reads a text line by line, a line word by word.
class Lines {
  public:
    explicit Lines(std::string_view text) : next_(text.data()), end_(text.data() + text.size()) {}

    /// Move to the next line with a word; false at the end.
    bool next() {
        while (next_ < end_) {
            const auto *stop = static_cast<const char *>(memchr(next_, '\n', end_ - next_));
            at_ = next_, line_end_ = stop ? stop : end_, next_ = stop ? stop + 1 : end_;
            ++number_;
            skip_blanks();
            if (at_ < line_end_ && *at_ != '#') return true;
        }
        return false;
    }
    /// Return the next word of the line; empty at its end.
    std::string_view word() {
        skip_blanks();
        const char *begin = at_;
        if (at_ < line_end_ && *at_ == '#') at_ = line_end_;
        else
            while (at_ < line_end_ && !is_blank(*at_)) ++at_;
        return {begin, static_cast<size_t>(at_ - begin) * (at_ == begin || *begin != '#')};
    }
    /// Return the rest of the line.
    std::string_view rest() {
        skip_blanks();
        const char *stop = static_cast<const char *>(memchr(at_, '\r', line_end_ - at_));
        return {at_, static_cast<size_t>((stop ? stop : line_end_) - at_)};
    }
    /// Number of lines before this one.
    int64_t number() const { return number_ - 1; }

  private:
    void skip_blanks() {
        while (at_ < line_end_ && is_blank(*at_)) ++at_;
    }
    const char *next_, *end_, *at_ = nullptr, *line_end_ = nullptr;
    int64_t number_ = 0;
};

/// Parse a whole word as a number; false if it is not one. Digits with a point, the usual format in files, are an
/// integer divided by a power of ten: both exact, so that the quotient is the nearest double, as strtod's is.
bool number_of(std::string_view word, double &value) {
    constexpr std::array<double, 16> powers{1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                            1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
    int64_t digits = 0;
    size_t point = word.size(), k = 0;
    for (; k < word.size() && word.size() <= 16; ++k) {
        if (word[k] == '.' && point == word.size()) point = k;
        else if (word[k] >= '0' && word[k] <= '9') digits = digits * 10 + (word[k] - '0');
        else break;
    }
    if (k == word.size() && point + 1 < word.size() && point <= 15) {
        value = static_cast<double>(digits) / powers[word.size() - point - 1];
        return true;
    }
    if (!word.empty() && word[0] == '+') word.remove_prefix(1);
    return read_double(word, value);
}

class Reader {
  public:
    Reader(std::string_view text, bool with_nucleotides)
        : lines_(text), size_(text.size()), with_nucleotides_(with_nucleotides) {}

    ModelText read() {
        read_format();
        read_header();
        if (is_of_nucleotides()) model_.n_residues = kBases;
        if (model_.alphabet != "amino" && !(with_nucleotides_ && is_of_nucleotides())) return std::move(model_);
        read_begin();
        for (int32_t k = 1; k <= model_.M; ++k) read_node(k);
        read_end();
        return std::move(model_);
    }

  private:
    bool is_of_nucleotides() const { return model_.alphabet == "dna" || model_.alphabet == "rna"; }
    [[noreturn]] void fail(const std::string &what) const { throw BadModel(lines_.number(), what, model_.name); }
    void next(const char *where) {
        if (!lines_.next()) fail(std::string("the model ends ") + where);
    }
    std::string quoted(std::string_view word) const { return "'" + std::string(word) + "'"; }
    std::string_view word(const char *what) {
        const std::string_view found = lines_.word();
        if (found.empty()) fail(std::string("the line holds no ") + what);
        return found;
    }
    float number(const char *what) {
        std::string_view found = word(what);
        if (found.ends_with(';')) found.remove_suffix(1);  // as Pfam writes cutoffs
        double value = 0;
        if (!number_of(found, value) || !std::isfinite(static_cast<float>(value)))
            fail(quoted(found) + " is not a " + what);
        return static_cast<float>(value);
    }
    float probability() {
        const std::string_view found = word("further probability, but one is expected");
        if (found[0] == '*') return 0;
        double value = 0;
        if (!number_of(found, value) || value < -1)
            fail(quoted(found) + " is not a negative logarithm of a probability");
        return expf(static_cast<float>(-1.0 * value));
    }
    void probabilities(float *out, int count) {
        for (int k = 0; k < count; ++k) out[k] = probability();
    }

    void read_format() {
        next("before it begins");
        const std::string_view tag = lines_.word();
        if (tag.size() != 8 || tag.substr(0, 7) != "HMMER3/" || tag[7] < 'a' || tag[7] > 'f')
            fail(quoted(tag) + " was found at the start of a model: expected HMMER3/f or an earlier format");
        format_ = tag[7];
    }

    void read_header() {
        for (;;) {
            next("within its header");
            const std::string_view tag = lines_.word();
            if (tag == "HMM") break;
            read_header_line(tag);
        }
        if (n_stats_ != 0 && n_stats_ != 7) fail("the model lacks some of its three STATS lines");
        model_.is_calibrated = n_stats_ == 7;
        if (model_.name.empty()) fail("the model has no line NAME");
        if (model_.alphabet.empty()) fail("the model has no line ALPH");
        if (model_.M == 0) fail("the model has no line LENG");
    }

    void read_header_line(std::string_view tag) {
        if (tag == "NAME") model_.name = word("name");
        else if (tag == "ACC") model_.accession = word("accession");
        else if (tag == "DESC") model_.description = lines_.rest();
        else if (tag == "ALPH") read_alphabet();
        else if (tag == "LENG") read_length();
        else if (tag == "RF") model_.reference = read_flag();
        else if (tag == "MM") model_.mask = read_flag();
        else if (tag == "CONS") model_.consensus = read_flag();
        else if (tag == "CS") model_.structure = read_flag();
        else if (tag == "MAP") has_columns_ = !read_flag().empty();
        else if (tag == "CKSUM") read_checksum();
        else if (tag == "STATS") read_statistics();
        else if (tag == "GA") read_cutoff(0);
        else if (tag == "TC") read_cutoff(1);
        else if (tag == "NC") read_cutoff(2);
    }

    void read_alphabet() {
        model_.alphabet.clear();
        for (const char c : word("alphabet"))
            model_.alphabet += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    }

    void read_checksum() {
        const std::string_view found = word("checksum");
        const auto [stop, error] = std::from_chars(found.data(), found.data() + found.size(), model_.checksum);
        model_.has_checksum = error == std::errc() && stop == found.data() + found.size();
    }

    void read_length() {
        const std::string_view found = word("number of nodes");
        const auto [stop, error] = std::from_chars(found.data(), found.data() + found.size(), model_.M);
        if (error != std::errc() || stop != found.data() + found.size() || model_.M < 1)
            fail(quoted(found) + " is not a number of nodes");
        // A node takes three lines of 20, 20 and 7 numbers (4, 4 and 7 of nucleotides): allocate no memory for
        // more nodes than the text can hold.
        const size_t least = model_.alphabet == "amino" ? 94 : 30;
        if (static_cast<size_t>(model_.M) > size_ / least)
            fail("the model holds fewer than the " + std::string(found) + " nodes of its line LENG");
    }

    /// Return the initial text of an annotation: nonempty if the flag is set.
    std::string read_flag() {
        const std::string_view found = word("yes or no");
        const auto is = [&](const char *other) {
            return found.size() == strlen(other) && strncasecmp(found.data(), other, found.size()) == 0;
        };
        if (!is("yes") && !is("no")) fail(quoted(found) + " is neither yes nor no");
        return is("yes") ? "+" : "";
    }

    void read_statistics() {
        const std::string_view where = word("LOCAL");
        if (where != "LOCAL" && where != "local") fail("statistics of " + quoted(where) + ", where LOCAL is expected");
        const std::string_view which = word("kind of score");
        auto &e = model_.evalue;
        const float value = number("number");
        if (format_ == 'a') {
            if (which == "VLAMBDA") e[1] = e[3] = e[5] = value, n_stats_ |= 1;
            else if (which == "VMU") e[0] = e[2] = value, n_stats_ |= 2;
            else if (which == "FTAU") e[4] = value, n_stats_ |= 4;
            else fail(quoted(which) + " is not a kind of score: expected VLAMBDA, VMU or FTAU");
            return;
        }
        const int kind = which == "MSV" ? 0 : which == "VITERBI" ? 1 : which == "FORWARD" ? 2 : -1;
        if (kind < 0) fail(quoted(which) + " is not a kind of score: expected MSV, VITERBI or FORWARD");
        e[2 * kind] = value, e[2 * kind + 1] = number("number");
        n_stats_ |= 1 << kind;
    }

    void read_cutoff(int which) {
        model_.cutoffs[which][0] = number("cutoff");
        if (is_of_nucleotides()) return;
        model_.cutoffs[which][1] = number("second cutoff, that of domains");
        model_.has_cutoff[which] = true;
    }

    /// Read the composition, and the transitions from the begin state.
    void read_begin() {
        next("before its nodes");  // names of transitions
        next("before its nodes");
        const size_t places = static_cast<size_t>(model_.M) + 1;
        model_.match.assign(places * residues(), 0);
        model_.match[0] = 1;  // row 0 is not a node; HMMER's models have this value
        model_.transitions.assign(places * 7, 0);
        has_consensus_ = !model_.consensus.empty() && format_ >= 'e';
        for (std::string *line : {&model_.consensus, &model_.reference, &model_.mask, &model_.structure})
            if (!line->empty()) line->assign(model_.M, '-');
        if (format_ < 'f') model_.mask.clear();
        model_.consensus.assign(model_.M, '-');
        Lines first = lines_;
        if (first.word() == "COMPO") {
            lines_ = first;
            probabilities(model_.composition.data(), model_.n_residues);
            next("before its nodes");
        }
        skip_inserts();
        next("before its nodes");
        probabilities(model_.transitions.data(), 7);
    }

    void skip_inserts() {
        for (int x = 0; x < model_.n_residues; ++x) word("further probability, but one is expected");
    }

    void read_node(int32_t k) {
        next("within its nodes");
        const std::string_view number = lines_.word();
        int32_t found = 0;
        std::from_chars(number.data(), number.data() + number.size(), found);
        if (found != k)
            fail(quoted(number) + " was found where node " + std::to_string(k) + " of " + std::to_string(model_.M) +
                 " is expected");
        float *match = &model_.match[static_cast<size_t>(k) * residues()];
        probabilities(match, model_.n_residues);
        read_column();
        const auto letter = [&](std::string &line, bool is_there) {
            const char found_letter = word("letter of an annotation, but one is expected")[0];
            if (is_there) line[k - 1] = found_letter;
        };
        if (format_ >= 'e') letter(model_.consensus, has_consensus_);
        if (!has_consensus_) model_.consensus[k - 1] = consensus_of(match);
        letter(model_.reference, !model_.reference.empty());
        if (format_ >= 'f') letter(model_.mask, !model_.mask.empty());
        letter(model_.structure, !model_.structure.empty());
        next("within its nodes");
        skip_inserts();
        next("within its nodes");
        probabilities(&model_.transitions[static_cast<size_t>(k) * 7], 7);
    }

    /// Read the column of a node in the alignment; drop all columns if one is missing.
    void read_column() {
        const std::string_view found = word("column of the alignment");
        int32_t column = 0;
        const auto [stop, error] = std::from_chars(found.data(), found.data() + found.size(), column);
        has_columns_ &= error == std::errc() && stop == found.data() + found.size() &&
                        column > (model_.columns.empty() ? 0 : model_.columns.back());
        if (!has_columns_) model_.columns.clear();
        else model_.columns.push_back(column);
    }

    size_t residues() const { return static_cast<size_t>(model_.n_residues); }

    /// Return the most probable residue, the first at a tie; in upper case if it is more probable than all others
    /// together.
    char consensus_of(const float *match) const {
        int best = 0;
        for (int x = 1; x < model_.n_residues; ++x)
            if (match[x] > match[best]) best = x;
        if (model_.n_residues == kBases) return match[best] >= 0.9 ? "ACGT"[best] : "acgt"[best];
        return match[best] >= 0.5 ? "ACDEFGHIKLMNPQRSTVWY"[best] : "acdefghiklmnpqrstvwy"[best];
    }

    void read_end() {
        next("before its line //");
        const std::string_view found = lines_.word();
        if (found != "//") fail(quoted(found) + " was found instead of the line // that ends the model");
    }

    Lines lines_;
    size_t size_;
    ModelText model_;
    char format_ = 'f';
    int n_stats_ = 0;  // a bit per kind
    bool has_consensus_ = false, has_columns_ = false;
    const bool with_nucleotides_;
};

}  // namespace

ModelText read_model_text(std::string_view text, bool with_nucleotides) {
    return Reader(text, with_nucleotides).read();
}

}  // namespace tropalign
