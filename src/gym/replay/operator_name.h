// Parses the name of an operator as LibTorch's dispatcher writes it.
#pragma once

#include <ATen/core/operator_name.h>

#include <string_view>

namespace tritonsmith::gym::replay {

// "aten::add.Tensor" is "aten::add" with the overload "Tensor".
c10::OperatorName operator_name(std::string_view full_name);

}  // namespace tritonsmith::gym::replay
