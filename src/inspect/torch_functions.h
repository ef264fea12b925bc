// Knows the names by which a candidate's Python reaches computations of torch, and the methods of
// tensors that judges call. Rules about torch and about access ask here. The table of operators
// says which functions compute (gym/plan/operators/operator_table.h). Pure.
#pragma once

#include <string_view>

namespace tritonsmith::inspect {

// Tells whether a function of torch or a method of tensors computes, given its name, such as "relu"
// or "relu_". Allocations, views, copies and casts do not.
bool computes_in_torch(std::string_view name);

// Tells the same of a whole path. It matches torch.matmul, torch.linalg.norm and nearly everything
// in torch.nn.functional.
bool is_torch_compute(std::string_view path);

// Tells whether a layer or function of torch may be a vendor's operator as a whole: a product,
// convolution, attention or recurrent cell. Policy `fused` may leave only these to torch.
bool may_be_vendor_grade(std::string_view path);

// Tells whether torch itself or a judge calls this method of a tensor to read or to compare
// results. An object that overrides it can lie.
bool judges_call(std::string_view method);

}  // namespace tritonsmith::inspect
