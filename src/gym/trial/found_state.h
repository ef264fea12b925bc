// The memory that a candidate's or a reference's forward finds when it starts: weights, buffers and
// whatever the constructor made. These functions remember it, so that a trial sees whether forward
// changes it, and a timing can put it back.
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
  at::Tensor bytes;  // shares the memory
  at::Tensor saved;  // on a GPU
  device::Snapshot before;
};

// Memory of both sides that they do not share, as bytes, and what it held.
struct WatchedState {
  std::vector<at::Tensor> bytes;
  std::vector<device::Snapshot> before;
};

// Copies every memory of one side that its forward finds, each once.
std::vector<SavedState> save_state(const plan::Plan& plan, const tensors::TensorTable& tensors);
// Remembers the candidate's own state, each memory once.
std::vector<OwnState> remember_own_state(Sides& sides, const std::vector<SharedTensor>& shared);
// Remembers what the sides do not share. check_state() looks at what they share anyway.
WatchedState watch_state(Sides& sides, const std::vector<SharedTensor>& shared);
bool is_changed(const WatchedState& watched, device::Device& device);

}  // namespace tritonsmith::gym::trial
