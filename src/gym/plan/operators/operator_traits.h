// What the referee knows about ATen operators by name: which it replays at all, and which of those
// a policy lets a candidate's forward use. The tables are in operators.cc and documented for users
// in docs/judging.md.
#pragma once

#include <string>
#include <string_view>

namespace tritonsmith::gym::plan::operators {

// "aten::add.Tensor" -> "add"; empty for another namespace.
std::string_view aten_base_name(std::string_view full_name);

// Operators that stay inside the memory of their arguments whatever those are. Refused are those
// that read files, reinterpret memory, skip bounds checks on request, or belong to layouts that
// plans do not have.
bool is_replayable(std::string_view full_name);

// Allocates, views, reshapes, copies, joins, pads, casts or makes contiguous: all that policy
// `strict` leaves to torch.
bool only_arranges(std::string_view full_name);

// Convolution, matrix product, attention, recurrent cells: what policy `fused` leaves to the
// vendor's libraries.
bool is_vendor_grade(std::string_view full_name);

// Convolution and recurrent cells, which PyTorch on a GPU leaves to cuDNN, in TF32 unless told
// otherwise.
bool runs_in_cudnn(std::string_view full_name);

// Allocates a tensor and gives it no values.
bool leaves_unwritten(std::string_view full_name);

// Only makes a tensor of fixed content, from no other tensor.
bool only_allocates(std::string_view full_name);

}  // namespace tritonsmith::gym::plan::operators
