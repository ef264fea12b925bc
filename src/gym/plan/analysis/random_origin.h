// What a plan's steps say of where values come from: from a random generator, and by which way.
#pragma once

#include <map>
#include <set>

#include "gym/plan/plan.h"

namespace tritonsmith::gym::plan::analysis {

// Of a task's input: its elements are what a generator drew, arranged (joined, cut, cast); or
// scaled and shifted by numbers since; or neither is known.
enum class RandomOrigin { none, as_drawn, calculated };
RandomOrigin random_origin_of(const Plan& task, int tensor);

int storage_of(const Plan& plan, int tensor);

// By storage: which of the storages `roots` its content follows from, as the steps of one phase
// leave it.
using Sources = std::map<int, std::set<int>>;
Sources sources_of(const Plan& plan, Phase phase, const std::set<int>& roots);

// Storages with anything of chance in them after one phase.
std::set<int> drawn_storages(const Plan& plan, Phase phase);

}  // namespace tritonsmith::gym::plan::analysis
