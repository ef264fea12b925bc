// Which layers of the jail must hold. A requirement names a layer, or several of which one must
// hold ("room|landlock"). A name that no layer has is refused where it is read, and should it come
// as far as the jail, it is a requirement that nothing meets: a list with a slip in it closes, it
// does not open. Pure.
#pragma once

#include <string>
#include <vector>

#include "gym/sandbox/jail.h"

namespace tritonsmith::gym::sandbox {

// Empty, or the one line that names what is no layer, and all that are.
std::string unknown_layer(const std::vector<std::string>& required);

// Empty, or the first requirement that none of these layers meets, and why.
std::string unmet_requirement(const std::vector<JailLayer>& layers,
                              const std::vector<std::string>& required);

}  // namespace tritonsmith::gym::sandbox
