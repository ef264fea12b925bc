#include "gym/tensors/tensors.h"

#include <ATen/ATen.h>

namespace tritonsmith::gym::tensors {

at::Tensor storage_bytes(const at::Tensor& tensor) {
  const c10::Storage& storage = tensor.storage();
  at::Tensor bytes = at::empty({0}, tensor.options().dtype(at::kByte));
  bytes.set_(storage, 0, {static_cast<std::int64_t>(storage.nbytes())}, {1});
  return bytes;
}

at::Tensor computable(const at::Tensor& tensor) {
  return tensor.is_floating_point() && tensor.element_size() == 1 ? tensor.to(at::kFloat) : tensor;
}

}  // namespace tritonsmith::gym::tensors
