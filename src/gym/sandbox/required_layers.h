// Checks which layers of the jail must hold. A requirement names a layer, or several layers of
// which one must hold ("sandbox_root|landlock"). The parser refuses an unknown name. If one still reaches
// the jail, no layer meets it, so a misspelt list closes the jail instead of opening it. Pure.
#pragma once

#include <string>
#include <vector>

#include "gym/sandbox/jail.h"

namespace tritonsmith::gym::sandbox {

// The name that the layer "sandbox_root" had in the previous version. It is still understood.
constexpr const char* kOldRootName = "room";

// Empty, or one line that names the unknown layer and lists all known ones.
std::string unknown_layer(const std::vector<std::string>& required);

// Empty, or the first requirement that none of these layers meets, with the reason.
std::string unmet_requirement(const std::vector<JailLayer>& layers,
                              const std::vector<std::string>& required);

}  // namespace tritonsmith::gym::sandbox
