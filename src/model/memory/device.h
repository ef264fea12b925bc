// Opens the device of the model. LibTorch's CUDA half is not linked but loaded here, and only if a
// driver answers. The same program therefore runs on machines without a GPU. open_device must be
// the first use of LibTorch's CUDA state, because LibTorch decides at its first query whether it
// has CUDA, and keeps that answer.
#pragma once

#include <c10/core/Device.h>

#include <cstddef>

#include "base/enum_names.h"
#include "base/error.h"

namespace tritonsmith::model {

enum class DeviceChoice { automatic, cpu, cuda };

// automatic: the GPU if one works, else the CPU. cuda: fails with the reason if no GPU works.
Result<c10::Device> open_device(DeviceChoice choice);

// Returns the bytes of GPU memory that LibTorch could allocate beyond its highest use so far. They
// are free for work of unknown size.
std::size_t spare_bytes(c10::Device device);

}  // namespace tritonsmith::model

namespace tritonsmith {
template <>
inline constexpr auto enum_names<model::DeviceChoice> =
    names<model::DeviceChoice>({{model::DeviceChoice::automatic, "auto"},
                                {model::DeviceChoice::cpu, "cpu"},
                                {model::DeviceChoice::cuda, "cuda"}});
}  // namespace tritonsmith
