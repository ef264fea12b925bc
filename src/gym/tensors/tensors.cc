#include "gym/tensors/tensors.h"

#include <ATen/ATen.h>

namespace tritonsmith::gym::tensors {

at::Tensor storage_bytes(const at::Tensor& tensor) {
  const c10::Storage& storage = tensor.storage();
  at::Tensor bytes = at::empty({0}, tensor.options().dtype(at::kByte));
  bytes.set_(storage, 0, {static_cast<std::int64_t>(storage.nbytes())}, {1});
  return bytes;
}

}  // namespace tritonsmith::gym::tensors
