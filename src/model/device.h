// Where the model computes. LibTorch's CUDA half is not linked but loaded here, and only where a
// driver answers, so the same program runs on machines without a GPU. open_device must be the first
// thing that touches LibTorch's CUDA state: LibTorch remembers for good whether its CUDA half was
// there when first asked.
#pragma once

#include <c10/core/Device.h>

#include <cstddef>

#include "base/enum_names.h"
#include "base/error.h"

namespace tritonsmith::model {

enum class DeviceChoice { automatic, cpu, cuda };

// automatic takes the GPU where one works, else the CPU; cuda fails, with the reason, where none
// does.
Result<c10::Device> open_device(DeviceChoice choice);

// How much of a GPU's memory LibTorch could hold beside the most that it has held so far: what is
// free for more than the work that is known.
std::size_t spare_bytes(c10::Device device);

}  // namespace tritonsmith::model

namespace tritonsmith {
template <>
inline constexpr auto enum_names<model::DeviceChoice> =
    names<model::DeviceChoice>({{model::DeviceChoice::automatic, "auto"},
                                {model::DeviceChoice::cpu, "cpu"},
                                {model::DeviceChoice::cuda, "cuda"}});
}  // namespace tritonsmith
