// Copies of whole tensor tables in a device's memory.
#pragma once

#include "gym/device/device.h"
#include "gym/tensors/tensors.h"

namespace tritonsmith::gym::device {

// Copies with strides, offsets and shared storages kept: tensors that shared memory share it among
// the copies.
tensors::TensorTable copy_with_storages(const tensors::TensorTable& tensors, Device& device);

}  // namespace tritonsmith::gym::device
