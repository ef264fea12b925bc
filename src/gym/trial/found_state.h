// Remembers the memory that a candidate's or a reference's forward finds when it starts: weights,
// buffers and whatever the constructor made. A trial then sees whether forward changes it, and a
// timing can restore it.
#pragma once

#include <vector>

#include "gym/trial/shared_tensors.h"
#include "gym/trial/sides.h"

namespace tritonsmith::gym::trial {

// One memory that forward found: all its bytes, and a copy of what they were.
struct SavedState {
  at::Tensor bytes;  // shares the memory
  at::Tensor saved;
};

// Memory that the candidate's constructor made for itself, and that its forward touches.
struct OwnState {
  at::Tensor bytes;                              // shares the memory
  c10::ScalarType type = c10::ScalarType::Byte;  // of the numbers that it holds
  at::Tensor saved;                              // on a GPU
  device::Snapshot before;
};

// Memory of both sides that they do not share, as bytes, and what it held.
struct WatchedState {
  std::vector<at::Tensor> bytes;
  std::vector<device::Snapshot> before;
};

// Copies each memory that the side's forward finds once.
std::vector<SavedState> save_state(const plan::Plan& plan, const tensors::TensorTable& tensors);
// Remembers each memory of the candidate's own state once.
std::vector<OwnState> remember_own_state(Sides& sides, const std::vector<SharedTensor>& shared);
// Remembers the memory that the sides do not share. check_state() compares what they share anyway.
WatchedState watch_state(Sides& sides, const std::vector<SharedTensor>& shared);
bool is_changed(const WatchedState& watched, device::Device& device);

}  // namespace tritonsmith::gym::trial
