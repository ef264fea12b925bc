#include "gym/device/copies.h"

#include <ATen/ATen.h>

#include <map>

namespace tritonsmith::gym::device {

tensors::TensorTable copy_with_storages(const tensors::TensorTable& tensors, Device& device) {
  std::map<const void*, at::Tensor> bytes_of_storage;  // one byte tensor per storage
  tensors::TensorTable copies;
  for (const at::Tensor& tensor : tensors) {
    if (!tensor.defined()) {
      copies.emplace_back();
      continue;
    }
    const c10::Storage& storage = tensor.storage();
    auto [at, is_new] = bytes_of_storage.try_emplace(storage.unsafeGetStorageImpl());
    if (is_new) {
      const at::Tensor bytes = tensors::storage_bytes(tensor);
      at->second = device.filled(at::empty_like(bytes));
      at->second.copy_(bytes);
    }
    at::Tensor copy = at::empty({0}, tensor.options());
    copy.set_(at->second.storage(), tensor.storage_offset(), tensor.sizes(), tensor.strides());
    copies.push_back(std::move(copy));
  }
  return copies;
}

}  // namespace tritonsmith::gym::device
