// Copies whole tensor tables in a device's memory.
#pragma once

#include "gym/device/device.h"
#include "gym/tensors/tensors.h"

namespace tritonsmith::gym::device {

// Copies tensors with their strides and offsets. Copies share storages as the tensors do.
tensors::TensorTable copy_with_storages(const tensors::TensorTable& tensors, Device& device);

}  // namespace tritonsmith::gym::device
