#include "data/speed_of_light.h"

#include <algorithm>
#include <cmath>

namespace tritonsmith {
namespace {

// Members that are no numbers are left out.
std::map<std::string, double> numbers_of(const Json& json) {
  std::map<std::string, double> numbers;
  for (const auto& [name, value] : json.items())
    if (value.is_number()) numbers[name] = value.get<double>();
  return numbers;
}

}  // namespace

SpeedOfLight speed_of_light(const UnavoidableWork& work, const Ceilings& ceilings,
                            double kernel_ms) {
  SpeedOfLight light{.bytes = work.bytes};
  double compute_ms = 0;
  for (const auto& [type, flops] : work.flops) {
    light.flops += flops;
    const auto rate = ceilings.flops_per_second.find(type);
    if (rate != ceilings.flops_per_second.end()) compute_ms += 1e3 * flops / rate->second;
  }
  const double memory_ms = 1e3 * work.bytes / ceilings.bytes_per_second;
  const double launch_ms = ceilings.launch_us / 1e3;
  light.ms = std::max({memory_ms, compute_ms, launch_ms});
  light.bound = light.ms == memory_ms    ? Bound::memory
                : light.ms == compute_ms ? Bound::compute
                                         : Bound::launch;
  if (kernel_ms > 0) light.share = light.ms / kernel_ms;
  return light;
}

std::string words_for(const SpeedOfLight& light) {
  const auto what = [&] {
    switch (light.bound) {
      case Bound::memory:
        return fmt::format("to move {:.4g} MB", light.bytes / 1e6);
      case Bound::compute:
        return fmt::format("for {:.4g} GFLOP", light.flops / 1e9);
      case Bound::launch:
        break;
    }
    return std::string("to launch one kernel");
  };
  return fmt::format("{:.0f} % of the speed of light: {:.4f} ms {}", 100 * light.share, light.ms,
                     what());
}

Json to_json(const UnavoidableWork& work) {
  return {{"bytes", work.bytes}, {"flops", Json(work.flops)}};
}

Result<UnavoidableWork> work_from_json(const Json& json) {
  JsonReader reader(json);
  UnavoidableWork work{.bytes = reader.number("bytes"),
                       .flops = numbers_of(reader.object("flops"))};
  TRY(reader.status());
  return work;
}

Json to_json(const SpeedOfLight& light) {
  return {{"ms", light.ms},
          {"bound", name_of(light.bound)},
          {"share", light.share},
          {"bytes", light.bytes},
          {"flops", light.flops}};
}

Result<SpeedOfLight> speed_of_light_from_json(const Json& json) {
  JsonReader reader(json);
  const SpeedOfLight light{.ms = reader.number("ms"),
                           .bound = reader.enumerated<Bound>("bound"),
                           .share = reader.number("share"),
                           .bytes = reader.number("bytes"),
                           .flops = reader.number("flops")};
  TRY(reader.status());
  return light;
}

Json to_json(const Ceilings& ceilings) {
  return {{"schema", 1},
          {"gpu", ceilings.gpu},
          {"date", ceilings.date},
          {"bytes_per_second", ceilings.bytes_per_second},
          {"flops_per_second", Json(ceilings.flops_per_second)},
          {"launch_us", ceilings.launch_us}};
}

Result<Ceilings> ceilings_from_json(const Json& json) {
  JsonReader reader(json);
  Ceilings ceilings{.gpu = reader.string("gpu"),
                    .date = reader.string("date"),
                    .bytes_per_second = reader.number("bytes_per_second"),
                    .flops_per_second = numbers_of(reader.object("flops_per_second")),
                    .launch_us = reader.number("launch_us")};
  TRY(reader.status());
  const auto is_rate = [](double rate) { return std::isfinite(rate) && rate > 0; };
  if (!is_rate(ceilings.bytes_per_second) || !is_rate(ceilings.launch_us) ||
      !std::ranges::all_of(ceilings.flops_per_second,
                           [&](const auto& each) { return is_rate(each.second); }))
    return fail("the rates of a GPU must be above 0");
  return ceilings;
}

}  // namespace tritonsmith
