// Facts about ATen operators by name: which ones the referee replays, and which of those a policy
// allows in a candidate's forward. The tables are in operators.cc. docs/judging.md documents them
// for users.
#pragma once

#include <string>
#include <string_view>

namespace tritonsmith::gym::plan::operators {

// Returns "add" for "aten::add.Tensor", and an empty view for another namespace.
std::string_view aten_base_name(std::string_view full_name);

// Whether the operator stays inside the memory of its arguments, whatever they are. The referee
// does not replay operators that read files, reinterpret memory, skip bounds checks on request, or
// belong to layouts that plans do not have.
bool is_replayable(std::string_view full_name);

// Whether the operator only allocates, views, reshapes, copies, joins, pads, casts or makes a
// tensor contiguous. Policy `strict` leaves nothing else to torch.
bool only_arranges(std::string_view full_name);

// Whether the operator is a convolution, a matrix product, attention or a recurrent cell. Policy
// `fused` leaves these to the vendor's libraries.
bool is_vendor_grade(std::string_view full_name);

// Whether PyTorch on a GPU leaves the operator to cuDNN, as it does convolutions and recurrent
// cells. cuDNN uses TF32 unless a flag forbids it.
bool runs_in_cudnn(std::string_view full_name);

// Whether the operator allocates a tensor and writes no values to it.
bool leaves_unwritten(std::string_view full_name);

// Whether the operator only makes a tensor of fixed content, from no other tensor.
bool only_allocates(std::string_view full_name);

}  // namespace tritonsmith::gym::plan::operators
