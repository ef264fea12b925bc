// Rules: one function for each fact that inspection looks for. The table of rules.cc gives each
// rule its name, and its severity under each policy. The function itself only reports places.
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/finding.h"
#include "data/verdict.h"
#include "inspect/candidate.h"

namespace tritonsmith::inspect {

// The findings of one rule: lines with messages, at most one for each line.
class Places {
 public:
  explicit Places(const Candidate& candidate) : candidate_(candidate) {}
  void add(NodeId node, std::string message);
  void add_line(int line, std::string message);

  struct Place {
    int line = 0;
    std::string message;
  };
  const std::vector<Place>& all() const { return places_; }

 private:
  const Candidate& candidate_;
  std::vector<Place> places_;
};

struct Rule {
  std::string_view name;
  Severity strict, fused, open;
  void (*find)(const Candidate&, Places&);
  Severity severity(Policy policy) const;
};

std::span<const Rule> all_rules();

// rules_kernel.cc: is there a kernel, and can it do the work?
void find_broken_syntax(const Candidate&, Places&);
void find_disguised_text(const Candidate&, Places&);
void find_missing_entry_point(const Candidate&, Places&);
void find_several_entry_points(const Candidate&, Places&);
void find_missing_kernel(const Candidate&, Places&);
void find_missing_launch(const Candidate&, Places&);
void find_unused_kernels(const Candidate&, Places&);
void find_guarded_launches(const Candidate&, Places&);
void find_reference_uses(const Candidate&, Places&);
void find_judge_uses(const Candidate&, Places&);
void find_redefined_task_functions(const Candidate&, Places&);

// rules_torch.cc: does anything other than a kernel compute?
void find_torch_compute(const Candidate&, Places&);
void find_torch_fallbacks(const Candidate&, Places&);
void find_result_caches(const Candidate&, Places&);
void find_mode_branches(const Candidate&, Places&);
void find_hooks(const Candidate&, Places&);
void find_streams(const Candidate&, Places&);
void find_global_flags(const Candidate&, Places&);

// rules_compilers.cc: do kernels come from anywhere but the file and Triton?
void find_torch_compilers(const Candidate&, Places&);
void find_compiled_functions(const Candidate&, Places&);
void find_operator_table_uses(const Candidate&, Places&);
void find_hidden_dispatch(const Candidate&, Places&);
void find_foreign_kernels(const Candidate&, Places&);
void find_inline_assembly(const Candidate&, Places&);
void find_native_code(const Candidate&, Places&);

// rules_replay.cc: does it reuse the answer of an earlier call?
void find_replayed_results(const Candidate&, Places&);
void find_external_streams(const Candidate&, Places&);
void find_waits(const Candidate&, Places&);

// rules_access.cc: does it access anything that is not its own?
void find_dynamic_code(const Candidate&, Places&);
void find_introspection(const Candidate&, Places&);
void find_namespace_access(const Candidate&, Places&);
void find_monkeypatches(const Candidate&, Places&);
void find_file_access(const Candidate&, Places&);
void find_process_access(const Candidate&, Places&);
void find_network_access(const Candidate&, Places&);
void find_threads(const Candidate&, Places&);
// Names of `threading` that start nothing: locks around a cache, and storage of one thread.
bool guards_against_threads(std::string_view path);
void find_environment_writes(const Candidate&, Places&);
void find_environment_reads(const Candidate&, Places&);
void find_clock_reads(const Candidate&, Places&);

// rules_reach.cc: does it reach for something without writing its name? These report for other
// rules: dynamic_code, introspection, disguised_text.
void find_builtins_as_values(const Candidate&, Places&);
void find_computed_kernel_texts(const Candidate&, Places&);
void find_names_in_strings(const Candidate&, Places&);
void find_inner_attributes(const Candidate&, Places&);
void find_spelled_letters(const Candidate&, Places&);
void find_unlisted_imports(const Candidate&, Places&);

// Tells whether a rule looks at a file as a whole, and not at code wherever it stands.
bool is_about_the_file(std::string_view rule);

// Reports every use whose path is one of `names`, or begins with one of them and a dot. An import
// by itself is no use.
void find_uses_of(const Candidate& candidate, Places& places,
                  std::span<const std::string_view> names, std::string_view why);
bool is_or_is_in(std::string_view path, std::string_view name);

// Does the same for names that are listed in the call.
using PathNames = std::initializer_list<std::string_view>;
inline void find_uses(const Candidate& candidate, Places& places, PathNames names,
                      std::string_view why) {
  find_uses_of(candidate, places, std::span(names.begin(), names.size()), why);
}

// Reports calls of builtins by their plain names.
inline void find_builtin_calls(const Candidate& candidate, Places& places, PathNames builtins,
                               std::string_view why) {
  for (const Use& use : candidate.uses)
    if (use.called && std::ranges::find(builtins, use.path) != builtins.end())
      places.add(use.node, fmt::format("`{}` {}", use.path, why));
}

// Returns "functional" for "torch.nn.functional".
inline std::string_view last_part(std::string_view path) {
  return path.substr(path.rfind('.') + 1);
}

}  // namespace tritonsmith::inspect
