#include "inspect/torch_functions.h"

#include <algorithm>
#include <array>

#include "gym/plan/operators/operator_table.h"
#include "gym/plan/operators/operator_traits.h"
#include "inspect/rules.h"

namespace tritonsmith::inspect {

bool computes_in_torch(std::string_view name) {
  using gym::plan::operators::Trait;
  // In-place forms, such as add_ and relu_, count too.
  if (name.ends_with('_') && !name.ends_with("__")) name.remove_suffix(1);
  return gym::plan::operators::has_trait(name, Trait::called_to_compute);
}

bool is_torch_compute(std::string_view path) {
  constexpr auto kWhole =
      std::to_array<std::string_view>({"torch.nn.functional", "torch.linalg", "torch.fft",
                                       "torch.special", "torch.sparse", "torch.nn.init"});
  if (path == "torch.nn.functional.pad") return false;
  for (const std::string_view whole : kWhole)
    if (is_or_is_in(path, whole)) return path != whole;
  for (const std::string_view prefix : {"torch.", "torch.Tensor."})
    if (path.starts_with(prefix) && computes_in_torch(path.substr(prefix.size()))) return true;
  return false;
}

bool may_be_vendor_grade(std::string_view path) {
  // Layers, and functions that PyTorch runs as several operators of the vendor.
  constexpr auto kOthers = std::to_array<std::string_view>(
      {"Linear", "Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d",
       "ConvTranspose3d", "RNN", "LSTM", "GRU", "RNNCell", "LSTMCell", "GRUCell",
       "MultiheadAttention", "tensordot", "inner", "chain_matmul", "multi_dot",
       "multi_head_attention_forward"});
  std::string_view name = last_part(path);
  if (name.starts_with("Lazy")) name.remove_prefix(4);  // nn.LazyLinear
  return std::ranges::find(kOthers, name) != kOthers.end() ||
         gym::plan::operators::is_vendor_grade(fmt::format("aten::{}", name));
}

bool judges_call(std::string_view method) {
  constexpr auto kMethods = std::to_array<std::string_view>(
      {"cpu",   "cuda",   "to",       "sum",    "mean",     "max",        "min",
       "abs",   "sub",    "allclose", "eq",     "item",     "all",        "any",
       "ne",    "numpy",  "clone",    "size",   "data_ptr", "contiguous", "isclose",
       "equal", "tolist", "float",    "double", "detach",   "stride",     "is_contiguous"});
  return std::ranges::find(kMethods, method) != kMethods.end();
}

}  // namespace tritonsmith::inspect
