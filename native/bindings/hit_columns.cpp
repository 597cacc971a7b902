#include "hit_columns.hpp"

namespace tropalign {
namespace {

using Domains = std::vector<const DomainHit *>;

/// Return a member of every item as an array.
template <class T, class Items, class Item>
nb::object column(const Items &items, T Item::*member) {
    std::vector<T> values;
    values.reserve(items.size());
    for (const auto &item : items) {
        if constexpr (std::is_pointer_v<std::remove_cvref_t<decltype(item)>>) values.push_back(item->*member);
        else values.push_back(item.*member);
    }
    return to_numpy(std::move(values));
}

void add_hits(nb::dict &out, const std::vector<TargetHit> &hits) {
    const auto add = [&](const char *name, auto member) { out[name] = column(hits, member); };
    add("target", &TargetHit::target);
    add("bits", &TargetHit::bits), add("pre_bits", &TargetHit::pre_bits), add("sum_bits", &TargetHit::sum_bits);
    add("log_p", &TargetHit::log_p), add("pre_log_p", &TargetHit::pre_log_p), add("sum_log_p", &TargetHit::sum_log_p);
    add("n_expected", &TargetHit::n_expected), add("n_regions", &TargetHit::n_regions);
    add("n_clustered", &TargetHit::n_clustered), add("n_overlaps", &TargetHit::n_overlaps);
    add("n_envelopes", &TargetHit::n_envelopes), add("best_domain", &TargetHit::best_domain);
}

void add_domains(nb::dict &out, const Domains &domains) {
    const auto add = [&](const char *name, auto member) { out[name] = column(domains, member); };
    add("domain_envelope_begin", &DomainHit::envelope_begin), add("domain_envelope_end", &DomainHit::envelope_end);
    add("domain_begin", &DomainHit::begin), add("domain_end", &DomainHit::end);
    add("domain_model_begin", &DomainHit::model_begin), add("domain_model_end", &DomainHit::model_end);
    add("domain_envelope_nats", &DomainHit::envelope_nats);
    add("domain_correction_nats", &DomainHit::correction_nats), add("domain_bias_nats", &DomainHit::bias_nats);
    add("domain_expected_accuracy", &DomainHit::expected_accuracy);
    add("domain_bits", &DomainHit::bits), add("domain_log_p", &DomainHit::log_p);
}

nb::object joined_lines(const Domains &domains, std::string DomainHit::*line) {
    std::vector<uint8_t> letters;
    for (const DomainHit *domain : domains)
        letters.insert(letters.end(), (domain->*line).begin(), (domain->*line).end());
    return to_numpy(std::move(letters));
}

}  // namespace

ArrayDict hit_columns(const std::vector<TargetHit> &hits) {
    ArrayDict out;
    add_hits(out, hits);
    Domains domains;
    std::vector<int64_t> domain_offsets{0}, line_offsets{0};
    for (const TargetHit &hit : hits) {
        for (const DomainHit &domain : hit.domains) {
            domains.push_back(&domain);
            line_offsets.push_back(line_offsets.back() + static_cast<int64_t>(domain.model_line.size()));
        }
        domain_offsets.push_back(static_cast<int64_t>(domains.size()));
    }
    add_domains(out, domains);
    out["domain_offsets"] = to_numpy(std::move(domain_offsets));
    out["line_offsets"] = to_numpy(std::move(line_offsets));
    out["model_line"] = joined_lines(domains, &DomainHit::model_line);
    out["match_line"] = joined_lines(domains, &DomainHit::match_line);
    out["target_line"] = joined_lines(domains, &DomainHit::target_line);
    out["posterior_line"] = joined_lines(domains, &DomainHit::posterior_line);
    return out;
}

}  // namespace tropalign
