// Rules: one function for each fact that inspection looks for. The table of rules.cc gives each
// rule its name, and its severity under each policy. The function itself only reports matches.
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
class Matches {
 public:
  explicit Matches(const Candidate& candidate) : candidate_(candidate) {}
  // `allowed_from` is the strictest policy that may allow the match, if its rule allows any.
  void add(NodeId node, std::string message, Policy allowed_from = Policy::fused);
  void add_line(int line, std::string message, Policy allowed_from = Policy::fused);

  struct Match {
    int line = 0;
    std::string message;
    Policy allowed_from = Policy::fused;
  };
  const std::vector<Match>& all() const { return matches_; }

 private:
  const Candidate& candidate_;
  std::vector<Match> matches_;
};

struct Rule {
  std::string_view name;
  Severity strict, fused, open;
  void (*find)(const Candidate&, Matches&);
  Severity severity(Policy policy) const;
};

std::span<const Rule> all_rules();

// rules_kernel.cc: is there a kernel, and can it do the work?
void find_broken_syntax(const Candidate&, Matches&);
void find_disguised_text(const Candidate&, Matches&);
void find_missing_entry_point(const Candidate&, Matches&);
void find_several_entry_points(const Candidate&, Matches&);
void find_missing_kernel(const Candidate&, Matches&);
void find_missing_launch(const Candidate&, Matches&);
void find_unused_kernels(const Candidate&, Matches&);
void find_guarded_launches(const Candidate&, Matches&);
void find_reference_uses(const Candidate&, Matches&);
void find_judge_uses(const Candidate&, Matches&);
void find_redefined_task_functions(const Candidate&, Matches&);

// rules_torch.cc: does anything other than a kernel compute?
void find_torch_compute(const Candidate&, Matches&);
void find_torch_fallbacks(const Candidate&, Matches&);
void find_result_caches(const Candidate&, Matches&);
void find_mode_branches(const Candidate&, Matches&);
void find_hooks(const Candidate&, Matches&);
void find_streams(const Candidate&, Matches&);
void find_global_flags(const Candidate&, Matches&);

// rules_compilers.cc: do kernels come from anywhere but the file and Triton?
void find_torch_compilers(const Candidate&, Matches&);
void find_compiled_functions(const Candidate&, Matches&);
void find_operator_table_uses(const Candidate&, Matches&);
void find_hidden_dispatch(const Candidate&, Matches&);
void find_foreign_kernels(const Candidate&, Matches&);
void find_inline_assembly(const Candidate&, Matches&);
void find_native_code(const Candidate&, Matches&);

// rules_replay.cc: does it reuse the answer of an earlier call?
void find_replayed_results(const Candidate&, Matches&);
void find_external_streams(const Candidate&, Matches&);
void find_waits(const Candidate&, Matches&);

// rules_access.cc: does it access anything that is not its own?
void find_dynamic_code(const Candidate&, Matches&);
void find_introspection(const Candidate&, Matches&);
void find_namespace_access(const Candidate&, Matches&);
void find_monkeypatches(const Candidate&, Matches&);
void find_file_access(const Candidate&, Matches&);
void find_process_access(const Candidate&, Matches&);
void find_network_access(const Candidate&, Matches&);
void find_threads(const Candidate&, Matches&);
// Names of `threading` that start nothing: locks around a cache, and storage of one thread.
bool guards_against_threads(std::string_view path);
void find_environment_writes(const Candidate&, Matches&);
void find_environment_reads(const Candidate&, Matches&);
void find_clock_reads(const Candidate&, Matches&);

// rules_reach.cc: does it reach for something without writing its name? These report for other
// rules: dynamic_code, introspection, disguised_text.
void find_builtins_as_values(const Candidate&, Matches&);
void find_computed_kernel_texts(const Candidate&, Matches&);
void find_names_in_strings(const Candidate&, Matches&);
void find_inner_attributes(const Candidate&, Matches&);
void find_spelled_letters(const Candidate&, Matches&);
void find_unlisted_imports(const Candidate&, Matches&);

// Tells whether a rule looks at a file as a whole, and not at code wherever it stands.
bool is_about_the_file(std::string_view rule);

// Reports every use whose path is one of `names`, or begins with one of them and a dot. An import
// by itself is no use.
void find_uses_of(const Candidate& candidate, Matches& matches,
                  std::span<const std::string_view> names, std::string_view why);
bool is_or_is_in(std::string_view path, std::string_view name);

// Does the same for names that are listed in the call.
using PathNames = std::initializer_list<std::string_view>;
inline void find_uses(const Candidate& candidate, Matches& matches, PathNames names,
                      std::string_view why) {
  find_uses_of(candidate, matches, std::span(names.begin(), names.size()), why);
}

// Reports calls of builtins by their plain names.
inline void find_builtin_calls(const Candidate& candidate, Matches& matches, PathNames builtins,
                               std::string_view why) {
  for (const Use& use : candidate.uses)
    if (use.called && std::ranges::find(builtins, use.path) != builtins.end())
      matches.add(use.node, fmt::format("`{}` {}", use.path, why));
}

// Returns "functional" for "torch.nn.functional".
inline std::string_view last_part(std::string_view path) {
  return path.substr(path.rfind('.') + 1);
}

}  // namespace tritonsmith::inspect
