#include "gym/plan/operators/operator_traits.h"

#include <algorithm>
#include <array>

namespace tritonsmith::gym::plan::operators {
namespace {

// Parts of operator names that belong to layouts, storages and back ends that plans do not have.
constexpr auto kRefusedParts =
    std::to_array<std::string_view>({"sparse", "nested", "quantized", "fake_quantize", "mkldnn",
                                     "miopen", "mps_", "xnnpack", "fbgemm", "storage"});

}  // namespace

std::string_view aten_base_name(std::string_view full_name) {
  constexpr std::string_view prefix = "aten::";
  if (!full_name.starts_with(prefix)) return {};
  full_name.remove_prefix(prefix.size());
  return full_name.substr(0, full_name.find('.'));
}

// Most operators with a leading underscore are entry points of back ends and trust their arguments.
bool is_replayable(std::string_view full_name) {
  const std::string_view name = aten_base_name(full_name);
  const Traits traits = traits_of(name);
  if (name.empty() || traits.has(Trait::refused)) return false;
  if (std::ranges::any_of(kRefusedParts, [&](std::string_view part) {
        return name.find(part) != std::string_view::npos;
      }))
    return false;
  return name.front() != '_' || traits.has(Trait::internal) || traits.has(Trait::arranges) ||
         is_vendor_grade(full_name);
}

bool only_allocates(std::string_view full_name) { return is(full_name, Trait::allocates); }

bool leaves_unwritten(std::string_view full_name) { return is(full_name, Trait::unwritten); }

bool only_arranges(std::string_view full_name) {
  return is(full_name, Trait::allocates) || is(full_name, Trait::arranges);
}

bool is_vendor_grade(std::string_view full_name) {
  return is(full_name, Trait::cudnn) || is(full_name, Trait::vendor);
}

bool runs_in_cudnn(std::string_view full_name) { return is(full_name, Trait::cudnn); }

bool is_random_operator(std::string_view full_name) { return is(full_name, Trait::random); }

bool depends_on_width(std::string_view full_name) {
  return full_name == "aten::view.dtype" || aten_base_name(full_name) == "nextafter";
}

bool writes_in_place(std::string_view full_name) {
  return aten_base_name(full_name).ends_with('_');
}

std::string_view functional_name(std::string_view full_name) {
  const std::string_view name = aten_base_name(full_name);
  return name.ends_with("__") || !name.ends_with('_') ? name : name.substr(0, name.size() - 1);
}

}  // namespace tritonsmith::gym::plan::operators
