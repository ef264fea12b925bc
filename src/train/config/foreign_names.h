// Translates names of options of TRL and verl to the settings of `rl` and `sft` that do the same.
// The error for an unknown key of a config says so. docs/from-trl-and-verl.md explains the
// differences; tests/docs_test.py compares its tables with this one.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tritonsmith::train {

struct ForeignName {
  std::string_view project;  // "TRL" or "verl"
  std::string_view name;     // as that project writes it: "actor_rollout_ref.rollout.n"
  std::string_view ours;     // a setting, or "reward" for the section; empty: there is none
  std::string_view remark;   // how the setting differs, or what replaces the option
};

// A name that means different settings in `rl` and in `sft` has a row for each.
std::span<const ForeignName> foreign_names();

// Returns "TRL's option is 'rollout.samples' here" if `wanted` is a foreign name, else an empty text.
// `known` are the settings of the command. verl's names may lack "actor_rollout_ref.". A last part of
// several words, such as `lora_rank`, may stand alone or in any section.
std::string foreign_name_hint(std::string_view wanted, const std::vector<std::string>& known);

}  // namespace tritonsmith::train
