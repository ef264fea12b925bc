// Funnel: how many answers, of how many tasks, are left after each step of a curation, and how many
// tokens of their writers these took. As a table and as a picture.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tritonsmith::curate {

struct FunnelStep {
  std::string name;
  std::size_t answers = 0, tasks = 0;
  std::int64_t tokens = 0;
};

using Funnel = std::vector<FunnelStep>;

// A table in Markdown. `cost` is that of all tokens of the first step; 0: unknown.
std::string funnel_table(const Funnel& funnel, double cost);
std::string funnel_picture(const Funnel& funnel);  // SVG

}  // namespace tritonsmith::curate
