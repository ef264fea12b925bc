// The names by which a candidate's Python reaches computations of torch. Rules about torch ask here.
// A function that has the name of an ATen operator is looked up in the table of operators
// (gym/plan/operators/operator_table.h). Pure.
#pragma once

#include <string_view>

namespace tritonsmith::inspect {

// Tells whether a function of torch or a method of tensors computes, given its name, such as "relu" or
// "relu_". Allocations, views, copies and casts do not.
bool computes_in_torch(std::string_view name);

// Tells the same of a whole path. It matches torch.matmul, torch.linalg.norm and nearly everything in
// torch.nn.functional.
bool is_torch_compute(std::string_view path);

}  // namespace tritonsmith::inspect
