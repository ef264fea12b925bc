// OutputArchive: keeps outputs of timed rounds on the device until the reference may run on the
// same inputs. A candidate cannot read them there: each output is XORed with random numbers that
// follow from a secret, and these numbers are overwritten at once.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gym/device/cuda_device.h"

namespace tritonsmith::gym::timing {

class OutputArchive {
 public:
  OutputArchive(device::CudaDevice& device, std::string_view secret)
      : device_(device), secret_(secret) {}

  // Queues the work on the device and does not wait for it. All outputs must be contiguous.
  void keep(std::span<const at::Tensor> outputs);
  std::size_t size() const { return rounds_.size(); }
  void clear() { rounds_.clear(); }
  // Returns the outputs of the nth round as the candidate made them.
  std::vector<at::Tensor> read(std::size_t nth) const;
  // Returns the masked bytes of the nth round as they lie on the device, as int64.
  std::vector<at::Tensor> masked(std::size_t nth) const;

 private:
  struct StoredOutput {
    c10::ScalarType dtype;
    std::vector<std::int64_t> sizes;
    std::int64_t bytes = 0;
    at::Tensor masked;  // int64
  };
  // XORs the memory that keeps the kth output of a round.
  void mask(std::size_t nth, std::size_t k, const at::Tensor& words) const;

  device::CudaDevice& device_;
  std::string secret_;
  std::vector<std::vector<StoredOutput>> rounds_;
};

}  // namespace tritonsmith::gym::timing
