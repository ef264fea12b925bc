// RandomOrigin: which values of a plan come from a random generator, and how. It follows from the
// plan's steps alone. The functions are pure.
#pragma once

#include <map>
#include <set>

#include "gym/plan/plan.h"

namespace tritonsmith::gym::plan::analysis {

// The origin of a task's input. `as_drawn`: its elements are a generator's values, possibly
// joined, cut or cast. `calculated`: they were also scaled and shifted by numbers. `none`:
// neither is known.
enum class RandomOrigin { none, as_drawn, calculated };
RandomOrigin random_origin_of(const Plan& task, int tensor);

int storage_of(const Plan& plan, int tensor);

// After the steps of one phase, the content of a storage follows from the content of others. This
// maps each storage to those of `roots` among them.
using Sources = std::map<int, std::set<int>>;
Sources sources_of(const Plan& plan, Phase phase, const std::set<int>& roots);

// Returns the storages whose content depends on a random generator after one phase.
std::set<int> drawn_storages(const Plan& plan, Phase phase);

}  // namespace tritonsmith::gym::plan::analysis
