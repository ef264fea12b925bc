// Layers: which attributes of a module are layers of torch's that compute. Read by the rules that
// ask whether a call of `self.norm(x)` is torch's work; what cannot be told is taken for the
// candidate's own, since the launch plan knows which operators ran.
#pragma once

#include <map>
#include <string>

#include "inspect/candidate.h"

namespace tritonsmith::inspect {

// "norm" -> "torch.nn.LayerNorm" for each `self.norm = nn.LayerNorm(...)` of this class. Attributes
// that the class sets to something else as well are left out: nobody knows which of the two it is.
std::map<std::string, std::string> layers_of(const Candidate& candidate, NodeId class_definition);

}  // namespace tritonsmith::inspect
