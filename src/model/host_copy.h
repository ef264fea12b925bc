// Copies of large tensors on a GPU in host memory: by way of small buffers that the GPU writes into
// at full speed, emptied by all threads. Such a buffer for the whole (pinned memory) would take
// longer to get than all else, and a plain copy waits for one thread to touch each page.
#pragma once

#include <ATen/core/Tensor.h>

namespace tritonsmith::model {

// Contiguous, in plain memory; whole when it returns. Of a tensor on the CPU a plain copy.
at::Tensor host_copy(const at::Tensor& tensor);

}  // namespace tritonsmith::model
