#include "gym/trial/found_state.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <set>

#include "gym/trial/weights/weights.h"

namespace tritonsmith::gym::trial {
namespace {

std::set<const void*> memory_made_by_forward(const plan::Plan& plan,
                                             const tensors::TensorTable& tensors) {
  std::set<const void*> made;
  for (const int index : replay::made_by_forward(plan, tensors))
    made.insert(tensors::tensor_at(tensors, index).storage().data());
  return made;
}

}  // namespace

std::vector<SavedState> save_state(const plan::Plan& plan, const tensors::TensorTable& tensors) {
  std::set<const void*> seen = memory_made_by_forward(plan, tensors);
  std::vector<SavedState> all;
  for (const at::Tensor& tensor : tensors) {
    if (!tensor.defined() || tensor.storage().nbytes() == 0) continue;
    if (!seen.insert(tensor.storage().data()).second) continue;
    at::Tensor bytes = tensors::storage_bytes(tensor);
    at::Tensor saved = bytes.clone();
    all.push_back({.bytes = std::move(bytes), .saved = std::move(saved)});
  }
  return all;
}

std::vector<OwnState> remember_own_state(Sides& sides, const std::vector<SharedTensor>& shared) {
  std::set<int> known;
  for (const SharedTensor& each : shared) known.insert(each.candidate);
  const tensors::TensorTable& tensors = sides.candidate.tensors();
  std::set<const void*> seen = memory_made_by_forward(sides.config.candidate, tensors);
  std::vector<OwnState> all;
  for (const int index : read_by_forward(sides.config.candidate)) {
    const at::Tensor& tensor = tensors::tensor_at(tensors, index);
    if (!tensor.defined() || known.contains(index) || tensor.storage().nbytes() == 0 ||
        !seen.insert(tensor.storage().data()).second)
      continue;
    at::Tensor bytes = tensors::storage_bytes(tensor);
    at::Tensor saved = sides.device.torch_device().is_cpu() ? at::Tensor() : bytes.clone();
    device::Snapshot before = sides.device.snapshots({&bytes, 1}).front();
    all.push_back({.bytes = std::move(bytes),
                   .type = tensor.scalar_type(),
                   .saved = std::move(saved),
                   .before = std::move(before)});
  }
  return all;
}

WatchedState watch_state(Sides& sides, const std::vector<SharedTensor>& shared) {
  const tensors::TensorTable &ours = sides.reference.tensors(), &theirs = sides.candidate.tensors();
  std::set<const void*> seen = memory_made_by_forward(sides.config.candidate, theirs);
  seen.merge(memory_made_by_forward(sides.config.task, ours));
  const auto skip = [&](const at::Tensor& tensor) {
    if (tensor.is_contiguous() && tensor.nbytes() == tensor.storage().nbytes())
      seen.insert(tensor.storage().data());
  };
  for (const SharedTensor& each : shared) {
    skip(tensors::tensor_at(ours, each.reference));
    skip(tensors::tensor_at(theirs, each.candidate));
  }
  WatchedState watched;
  for (const tensors::TensorTable* tensors : {&theirs, &ours})
    for (const at::Tensor& tensor : *tensors)
      if (tensor.defined() && tensor.storage().nbytes() > 0 &&
          seen.insert(tensor.storage().data()).second)
        watched.bytes.push_back(tensors::storage_bytes(tensor));
  if (!watched.bytes.empty()) watched.before = sides.device.snapshots(watched.bytes);
  return watched;
}

bool is_changed(const WatchedState& watched, device::Device& device) {
  const auto unchanged = [](bool each) { return each; };
  return !watched.bytes.empty() &&
         !std::ranges::all_of(device.each_unchanged(watched.bytes, watched.before), unchanged);
}

}  // namespace tritonsmith::gym::trial
