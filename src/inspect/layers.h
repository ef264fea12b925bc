// Layers: the attributes of a module that are computing layers of torch. Rules use them to decide
// whether a call of `self.norm(x)` is torch's work. An undecidable attribute counts as the
// candidate's own, since the launch plan knows which operators ran.
#pragma once

#include <map>
#include <string>

#include "inspect/candidate.h"

namespace tritonsmith::inspect {

// Returns "norm" -> "torch.nn.LayerNorm" for each `self.norm = nn.LayerNorm(...)` of this class. It
// omits an attribute that the class also sets to something else, because its value is then unknown.
std::map<std::string, std::string> layers_of(const Candidate& candidate, NodeId class_definition);

}  // namespace tritonsmith::inspect
