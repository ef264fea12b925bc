// SpeedOfLight: the shortest time that a GPU needs for a task, by the rates that GPUs of its name
// reached when `doctor` measured one, and how near a kernel comes to it. Pure. Reading ceilings fails
// if one of them is not above 0.
#pragma once

#include <map>
#include <string>

#include "base/json.h"

namespace tritonsmith {

// Bound names the part that takes the longest: moving bytes, products, or the launch of one kernel.
enum class Bound { memory, compute, launch };
template <>
inline constexpr auto enum_names<Bound> = names<Bound>({{Bound::memory, "memory"},
                                                        {Bound::compute, "compute"},
                                                        {Bound::launch, "launch"}});

// The rates of a GPU, as measured. All are above 0.
struct Ceilings {
  std::string gpu, date;                           // its name; when it was measured, in UTC
  double bytes_per_second = 0;                     // read and written by a copy, together
  std::map<std::string, double> flops_per_second;  // of matrix products, by type: "bfloat16"
  double launch_us = 0;                            // of a kernel that does next to nothing
  bool operator==(const Ceilings&) const = default;
};

// The work that no kernel can avoid.
struct UnavoidableWork {
  double bytes = 0;
  std::map<std::string, double> flops;  // by type; a product and a sum count as two
  bool operator==(const UnavoidableWork&) const = default;
};

struct SpeedOfLight {
  double ms = 0;
  Bound bound = Bound::memory;
  double share = 0;  // ms, divided by the kernel's time
  double bytes = 0, flops = 0;
  bool operator==(const SpeedOfLight&) const = default;
};

// Takes the slowest of three parts, as if the other two ran at the same time: the bytes, the products,
// and one launch. Products of types whose rate was not measured count as no work, so the time is a
// lower bound all the same.
SpeedOfLight speed_of_light(const UnavoidableWork& work, const Ceilings& ceilings,
                            double kernel_ms);
// Returns "61 % of the speed of light: 0.0121 ms to move 33.6 MB".
std::string words_for(const SpeedOfLight& light);

Json to_json(const UnavoidableWork& work);
Result<UnavoidableWork> work_from_json(const Json& json);
Json to_json(const SpeedOfLight& light);
Result<SpeedOfLight> speed_of_light_from_json(const Json& json);
Json to_json(const Ceilings& ceilings);
Result<Ceilings> ceilings_from_json(const Json& json);

}  // namespace tritonsmith
