// Finds from a plan's steps which values come from a random generator, and how. Pure.
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

// Maps each storage to the storages among `roots` from which its content follows, after the
// steps of one phase.
using Sources = std::map<int, std::set<int>>;
Sources sources_of(const Plan& plan, Phase phase, const std::set<int>& roots);

// Storages whose content depends on a random generator after one phase.
std::set<int> drawn_storages(const Plan& plan, Phase phase);

}  // namespace tritonsmith::gym::plan::analysis
