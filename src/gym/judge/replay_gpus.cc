#include "gym/judge/replay_gpus.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/counted.h"
#include "base/json.h"
#include "gym/compile/targets.h"
#include "gym/cuda/lease_path.h"
#include "gym/judge/local_judge.h"

namespace tritonsmith::gym::judge {
namespace {

std::string properties_of(const cuda::GpuFacts& facts) {
  Json properties = {{"name", facts.name}};
  for (const auto& [name, value] : facts.properties) properties[name] = value;
  return to_line(properties);
}

// Memory is left out, because boards of one kind reserve different amounts for their firmware.
bool are_alike(const cuda::GpuFacts& one, const cuda::GpuFacts& other) {
  const auto chip = [](const cuda::GpuFacts& facts) {
    auto properties = facts.properties;
    std::erase_if(properties, [](const auto& each) { return each.first == "total_memory"; });
    return properties;
  };
  return one.name == other.name && one.target == other.target && chip(one) == chip(other);
}

Status check_alike(std::span<const int> ordinals, std::span<const cuda::GpuFacts> here) {
  const auto facts = [&](int ordinal) -> const cuda::GpuFacts& {
    return here[static_cast<std::size_t>(ordinal)];
  };
  const auto is_as_first = [&](int each) {
    return are_alike(facts(ordinals.front()), facts(each));
  };
  const auto other = std::ranges::find_if_not(ordinals, is_as_first);
  if (other == ordinals.end()) return ok();
  std::vector<int> alike;
  std::ranges::copy_if(ordinals, std::back_inserter(alike), is_as_first);
  return fail(
      "GPU {} ({}) and GPU {} ({}) are not alike, and one judge's must be: name those of one kind, "
      "such as judge.only_gpus = [{}] (or CUDA_VISIBLE_DEVICES)",
      ordinals.front(), facts(ordinals.front()).name, *other, facts(*other).name,
      fmt::join(alike, ", "));
}

}  // namespace

Result<std::vector<ReplayGpu>> choose_gpus(const LocalJudgeConfig& config,
                                           std::span<const cuda::GpuFacts> here) {
  std::vector<std::int64_t> wanted = config.only_gpus;
  for (std::int64_t ordinal = 0; config.only_gpus.empty() && ordinal < std::ssize(here); ++ordinal)
    wanted.push_back(ordinal);
  std::erase_if(wanted, [&](std::int64_t ordinal) {
    return !config.target.empty() && ordinal >= 0 && ordinal < std::ssize(here) &&
           here[static_cast<std::size_t>(ordinal)].target != config.target;
  });
  if (config.gpus >= 0 && std::ssize(wanted) > config.gpus)
    wanted.resize(static_cast<std::size_t>(config.gpus));
  std::vector<int> ordinals;
  for (const std::int64_t ordinal : wanted) {
    if (ordinal < 0 || ordinal >= std::ssize(here))
      return fail("only_gpus: there is no GPU {} here ({} in all)", ordinal, here.size());
    ordinals.push_back(static_cast<int>(ordinal));
  }
  if (!ordinals.empty()) TRY(check_alike(ordinals, here));
  std::vector<ReplayGpu> chosen;
  for (const int ordinal : ordinals) {
    const cuda::GpuFacts& facts = here[static_cast<std::size_t>(ordinal)];
    chosen.push_back({.name = facts.name,
                      .driver = facts.driver,
                      .uuid = facts.uuid,
                      .target = facts.target,
                      .ordinal = ordinal,
                      .lease = config.lease ? cuda::lease_path(facts).string() : "",
                      .properties = properties_of(facts)});
  }
  return chosen;
}

Result<LocalJudgeConfig> without_gpus(LocalJudgeConfig config, std::span<const cuda::GpuFacts> here,
                                      std::span<const std::string> quarantined) {
  TRY_ASSIGN(const auto gpus, choose_gpus(config, here));
  std::vector<std::int64_t> left;
  std::vector<std::string> held;
  for (const ReplayGpu& gpu : gpus)
    if (std::ranges::find(quarantined, gpu.uuid) != quarantined.end())
      held.push_back(gpu.uuid);
    else
      left.push_back(gpu.ordinal);
  if (held.empty()) return config;
  if (left.empty())
    return fail(
        "no GPU of this host may judge: {} {} in quarantine (`tritonsmith gym quarantine list` "
        "says "
        "why, and `clear` ends it)",
        fmt::join(held, ", "), are_for(std::ssize(held)));
  config.only_gpus = std::move(left);
  return config;
}

std::string target_of(const LocalJudgeConfig& config, std::span<const ReplayGpu> chosen) {
  if (!chosen.empty()) return chosen.front().target;
  return config.target.empty() ? std::string(compile::kDefaultTarget) : config.target;
}

}  // namespace tritonsmith::gym::judge
