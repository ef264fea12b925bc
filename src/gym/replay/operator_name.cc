#include "gym/replay/operator_name.h"

#include <string>

namespace tritonsmith::gym::replay {

c10::OperatorName operator_name(std::string_view full_name) {
  const auto dot = full_name.find('.');
  if (dot == std::string_view::npos) return {std::string(full_name), ""};
  std::string overload(full_name.substr(dot + 1));
  if (overload == "default") overload.clear();
  return {std::string(full_name.substr(0, dot)), overload};
}

}  // namespace tritonsmith::gym::replay
