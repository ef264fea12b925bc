// Ranks: the processes that train one model together, one for each GPU. Every rank calls the same
// operations in the same order with tensors of the same size. An operation returns when its result
// is present. Otherwise its Error names the rank that was lost, failed or did not arrive. `what`
// names the purpose of the operation in that message. With one process the operations cost nothing.
// One thread of a process uses the object. join.h makes it.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace tritonsmith::distributed {

// A rank's part of a flat buffer. All parts have the same length.
struct Shard {
  std::int64_t begin = 0, count = 0;
};

class Ranks {
 public:
  Ranks(int rank, int size) : rank_(rank), size_(size) {}
  virtual ~Ranks() = default;

  int rank() const { return rank_; }
  int size() const { return size_; }
  bool is_first() const { return rank_ == 0; }
  bool is_alone() const { return size_ == 1; }
  // Returns this rank's part of a buffer. The number of ranks must divide `elements`.
  Shard shard_of(std::int64_t elements) const;
  // Returns the smallest number of elements, at least `elements`, that divides into shards of whole
  // rows.
  std::int64_t padded(std::int64_t elements, std::int64_t row) const;

  // In place: every rank gets the sum, or the largest, of each element. Tensors are contiguous and
  // of type float, double or int64.
  virtual Status sum(const at::Tensor& values, std::string_view what) = 0;
  virtual Status largest(const at::Tensor& values, std::string_view what) = 0;
  // In place: each rank's own shard gets the sum over all ranks. The content of the other shards is
  // unspecified.
  virtual Status sum_to_shards(const at::Tensor& flat, std::string_view what) = 0;
  // In place: every rank gets the shards of all others.
  virtual Status gather_shards(const at::Tensor& flat, std::string_view what) = 0;
  // Returns the bytes of each rank, in the order of the ranks.
  virtual Result<std::vector<std::string>> gather(std::string_view bytes,
                                                  std::string_view what) = 0;
  // Tells the other ranks that this process ends, and why. No call may follow.
  virtual void end(const Status& status) = 0;

  // Returns the bytes of rank 0.
  Result<std::string> from_first(std::string_view bytes, std::string_view what);
  // Waits until every rank has arrived.
  Status meet(std::string_view what);
  // For an operation that may fail on one rank alone: all ranks get the first rank's error, or
  // none.
  Status agree(const Status& mine, std::string_view what);
  // Tells whether any rank passes true.
  Result<bool> any(bool mine, std::string_view what);

 private:
  int rank_, size_;
};

// Makes Ranks of one process.
std::unique_ptr<Ranks> alone();
// A shared object for one process.
Ranks& nobody_else();

}  // namespace tritonsmith::distributed
