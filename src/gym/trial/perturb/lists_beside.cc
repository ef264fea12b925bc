#include "gym/trial/perturb/lists_beside.h"

#include <ATen/ATen.h>

#include "gym/plan/analysis/whole_inputs.h"
#include "gym/trial/perturb/input_content.h"

namespace tritonsmith::gym::trial {
namespace {

using device::pattern::Whole;

// A view may join neighbouring dimensions, whose product is then a size.
void add_sizes(const std::vector<std::int64_t>& shape, Whole& whole) {
  for (std::size_t from = 0; from < shape.size(); ++from) {
    std::int64_t product = shape[from];
    whole.sizes.push_back(product);
    for (std::size_t to = from + 1; to < shape.size(); ++to) {
      product *= shape[to];
      whole.products.push_back(product);
    }
  }
}

// The largest of several lengths is a length of parts. Rising numbers are no lengths.
void add_numbers(const at::Tensor& list, Whole& whole) {
  const at::Tensor all = list.to(at::kLong).reshape({-1});
  const bool rises = all.diff().gt(0).all().item<bool>() && all.numel() > 1;
  if (rises)
    whole.beside_offsets = true;
  else
    whole.held.push_back(all.max().item<std::int64_t>());
  if (has_marks(all)) whole.beside_marks = true;
}

}  // namespace

void add_others(const ListOfTask& list, const tensors::TensorTable& tensors, Whole& whole) {
  whole.held = plan::analysis::numbers_of_python(list.task);
  for (const int other : list.inputs)
    if (other != list.input)
      add_sizes(list.task.tensors.at(static_cast<std::size_t>(other)).shape, whole);
  for (const int other : list.lists) {
    const at::Tensor& tensor = tensors.at(static_cast<std::size_t>(other));
    if (other != list.input && tensor.defined() && tensor.numel() > 0) add_numbers(tensor, whole);
  }
}

}  // namespace tritonsmith::gym::trial
