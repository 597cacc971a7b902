// The module _native: the bindings of all files of this folder.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <atomic>
#include <cstdlib>
#include <exception>

#include "../simd/isa.hpp"
#include "python.hpp"

void bind_pairwise(nanobind::module_ &);
void bind_best_targets(nanobind::module_ &);
void bind_adjusted(nanobind::module_ &);
void bind_normal(nanobind::module_ &);
void bind_pair_bounds(nanobind::module_ &);
void bind_shared_words(nanobind::module_ &);
void bind_pair_aligner(nanobind::module_ &);
void bind_formats(nanobind::module_ &);
void bind_sequences(nanobind::module_ &);
void bind_masks(nanobind::module_ &);
void bind_gpu_plan(nanobind::module_ &);
void bind_placement(nanobind::module_ &);
void bind_msa_posteriors(nanobind::module_ &);
void bind_msa_large(nanobind::module_ &);
void bind_msa_store(nanobind::module_ &);
void bind_msa_progressive(nanobind::module_ &);
void bind_msa_blocks(nanobind::module_ &);
void bind_msa_profiles(nanobind::module_ &);
void bind_profile_model(nanobind::module_ &);
void bind_profile_targets(nanobind::module_ &);
void bind_profile_envelopes(nanobind::module_ &);
void bind_profile_filters(nanobind::module_ &);
void bind_profile_gpu(nanobind::module_ &);
void bind_profile_floats(nanobind::module_ &);
void bind_profile_domains(nanobind::module_ &);
void bind_profile_alignment(nanobind::module_ &);
void bind_profile_search(nanobind::module_ &);
void bind_products(nanobind::module_ &);
void bind_closures(nanobind::module_ &);
void bind_triangular(nanobind::module_ &);
void bind_hmm_viterbi(nanobind::module_ &);
void bind_hmm_sums(nanobind::module_ &);
void bind_trees(nanobind::module_ &);
void bind_clustalw_profiles(nanobind::module_ &);
void bind_clustalw_pairs(nanobind::module_ &);

namespace {

std::atomic<bool> is_exiting{false};

/// Daemon threads may compute while the interpreter finalizes. Python unwinds those that then take the
/// interpreter's lock, which no destructor allows: the program would end by std::terminate, and thus by SIGABRT.
/// Make such a thread wait for the end of the process instead.
void keep_ended_threads() {
    static const std::terminate_handler before = std::get_terminate();
    std::set_terminate([] {
        if (is_exiting) tropalign::wait_for_exit();
        before();
        std::abort();
    });
    nb::module_::import_("atexit").attr("register")(nb::cpp_function([] {
        is_exiting = true;
        // Objects of daemon threads are never freed, which nanobind would report as leaks.
        const nb::object n_threads = nb::module_::import_("threading").attr("active_count")();
        if (nb::cast<int>(n_threads) > 1) nb::set_leak_warnings(false);
    }));
}

}  // namespace

NB_MODULE(_native, m) {
    tropalign::require_isa();  // before any code that is compiled for an instruction set
    keep_ended_threads();
    m.doc() = "The compiled core of tropalign. Documentation and validation are in its Python packages.";
    m.def("supported_isas", &tropalign::supported_isas,
          "Return the instruction sets that this processor has, the best first.");
    m.def("selected_isa", &tropalign::selected_isa,
          "Return the instruction set whose kernels run (by default the best one; TROPALIGN_ISA overrides it).");
    m.def_submodule("testing", "Functions of the core that only tests call.");
    bind_pairwise(m);
    bind_best_targets(m);
    bind_adjusted(m);
    bind_normal(m);
    bind_pair_bounds(m);
    bind_shared_words(m);
    bind_pair_aligner(m);
    bind_formats(m);
    bind_sequences(m);
    bind_masks(m);
    bind_gpu_plan(m);
    bind_placement(m);
    bind_msa_posteriors(m);
    bind_msa_large(m);
    bind_msa_store(m);
    bind_msa_progressive(m);
    bind_msa_blocks(m);
    bind_msa_profiles(m);
    bind_profile_model(m);
    bind_profile_targets(m);
    bind_profile_envelopes(m);
    bind_profile_filters(m);
    bind_profile_gpu(m);
    bind_profile_floats(m);
    bind_profile_domains(m);
    bind_profile_alignment(m);
    bind_profile_search(m);
    bind_products(m);
    bind_closures(m);
    bind_triangular(m);
    bind_hmm_viterbi(m);
    bind_hmm_sums(m);
    bind_trees(m);
    bind_clustalw_profiles(m);
    bind_clustalw_pairs(m);
}
