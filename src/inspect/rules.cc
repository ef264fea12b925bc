#include "inspect/rules.h"

#include <algorithm>
#include <array>

#include "inspect/imports.h"
#include "inspect/output.h"

namespace tritonsmith::inspect {
namespace {

constexpr auto kNote = Severity::note;
constexpr auto kWarn = Severity::warn;
constexpr auto kReject = Severity::reject;

//                     name                   strict   fused    open
constexpr auto kRules = std::to_array<Rule>({
    {"syntax_error", kReject, kReject, kReject, find_broken_syntax},
    {"disguised_text", kReject, kReject, kReject, find_disguised_text},
    {"no_entry_point", kReject, kReject, kReject, find_missing_entry_point},
    {"several_entry_points", kWarn, kWarn, kWarn, find_several_entry_points},
    {"no_triton_kernel", kReject, kReject, kReject, find_missing_kernel},
    {"kernel_not_launched", kWarn, kWarn, kWarn, find_missing_launch},
    {"unused_kernel", kNote, kNote, kNote, find_unused_kernels},
    {"guarded_launch", kNote, kNote, kNote, find_guarded_launches},
    {"uses_reference", kReject, kReject, kReject, find_reference_uses},
    {"uses_judge", kReject, kReject, kReject, find_judge_uses},
    {"redefines_task", kNote, kNote, kNote, find_redefined_task_functions},
    {"torch_compute", kReject, kNote, kNote, find_torch_compute},
    {"torch_fallback", kWarn, kNote, kNote, find_torch_fallbacks},
    {"torch_compiler", kReject, kReject, kReject, find_torch_compilers},
    {"compiled_function", kNote, kNote, kNote, find_compiled_functions},
    {"operator_table", kNote, kNote, kNote, find_operator_table_uses},
    {"hidden_dispatch", kReject, kReject, kReject, find_hidden_dispatch},
    {"foreign_kernels", kReject, kReject, kReject, find_foreign_kernels},
    {"inline_assembly", kReject, kReject, kReject, find_inline_assembly},
    {"native_code", kReject, kReject, kReject, find_native_code},
    {"caches_results", kWarn, kWarn, kWarn, find_result_caches},
    {"replays_results", kReject, kReject, kReject, find_replayed_results},
    {"mode_branch", kNote, kNote, kNote, find_mode_branches},
    {"hooks", kWarn, kWarn, kWarn, find_hooks},
    {"external_stream", kReject, kReject, kReject, find_external_streams},
    {"streams", kWarn, kWarn, kWarn, find_streams},
    {"global_flags", kWarn, kWarn, kWarn, find_global_flags},
    {"dynamic_code", kReject, kReject, kReject, find_dynamic_code},
    {"introspection", kReject, kReject, kReject, find_introspection},
    {"namespace_access", kWarn, kWarn, kWarn, find_namespace_access},
    {"monkeypatch", kReject, kReject, kReject, find_monkeypatches},
    {"file_access", kReject, kReject, kReject, find_file_access},
    {"process_access", kReject, kReject, kReject, find_process_access},
    {"network_access", kReject, kReject, kReject, find_network_access},
    {"threads", kReject, kReject, kReject, find_threads},
    {"environment_write", kReject, kReject, kReject, find_environment_writes},
    {"environment_read", kWarn, kWarn, kWarn, find_environment_reads},
    {"waits", kReject, kReject, kReject, find_waits},
    {"clock_read", kWarn, kWarn, kWarn, find_clock_reads},
    {"import_not_allowed", kReject, kReject, kReject, find_unlisted_imports},
});

}  // namespace

std::span<const Rule> all_rules() { return kRules; }

Severity Rule::severity(Policy policy) const {
  switch (policy) {
    case Policy::strict:
      return strict;
    case Policy::fused:
      return fused;
    case Policy::open:
      return open;
  }
  return strict;
}

void Matches::add(NodeId node, std::string message, Policy allowed_from) {
  add_line(candidate_.tree[node].line, std::move(message), allowed_from);
}

void Matches::add_line(int line, std::string message, Policy allowed_from) {
  if (std::ranges::find(matches_, line, &Match::line) == matches_.end())
    matches_.push_back({line, std::move(message), allowed_from});
}

bool is_about_the_file(std::string_view rule) {
  constexpr auto kWhole =
      std::to_array<std::string_view>({"no_entry_point", "several_entry_points", "no_triton_kernel",
                                       "kernel_not_launched", "unused_kernel", "redefines_task"});
  return std::ranges::find(kWhole, rule) != kWhole.end();
}

bool is_or_is_in(std::string_view path, std::string_view name) {
  return path.starts_with(name) && (path.size() == name.size() || path[name.size()] == '.');
}

void find_uses_of(const Candidate& candidate, Matches& matches,
                  std::span<const std::string_view> names, std::string_view why) {
  for (const Use& use : candidate.uses)
    if (use.imported &&
        std::ranges::any_of(names, [&](auto name) { return is_or_is_in(use.path, name); }) &&
        !is_idle_import(candidate, use) && !only_prints(candidate, use) &&
        !(candidate.names.imports().contains(use.node) &&
          only_prints_or_tidies(candidate, use.path)))
      matches.add(use.node, fmt::format("`{}` {}", use.path, why));
}

}  // namespace tritonsmith::inspect
