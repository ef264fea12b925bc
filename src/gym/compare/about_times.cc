#include "gym/compare/about_times.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>

namespace tritonsmith::gym::compare {

std::string about_times(double factor) {
  constexpr double most = 9.95e5, few = 10, group = 1000;
  if (!(factor < most)) return "about a million times or more";
  if (factor < few) return fmt::format("{:.2g} times", factor);
  const double step = std::pow(10, std::floor(std::log10(factor)) - 1);
  const auto rounded = static_cast<std::int64_t>(std::round(factor / step) * step);
  const auto thousands = rounded / static_cast<std::int64_t>(group);
  return thousands == 0 ? fmt::format("about {} times", rounded)
                        : fmt::format("about {},{:03} times", thousands,
                                      rounded % static_cast<std::int64_t>(group));
}

}  // namespace tritonsmith::gym::compare
