// Ranks: the processes that train one model together, one a GPU, as each of them sees the others.
// Every rank calls the same operations in the same order with tensors of the same size; each
// returns when its result is there, or with an Error that names the rank that was lost, failed or
// did not come. `what` says for that message, and to whoever debugs, what the operation is for.
// Alone, nothing costs anything. One thread of a process uses it. join.h makes one.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace tritonsmith::distributed {

// A rank's part of a flat buffer: as long as everybody else's.
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
  // Of a buffer of so many elements, which the number of ranks must divide.
  Shard shard_of(std::int64_t elements) const;
  // The smallest such number of elements, not below the given one, that cuts into shards of whole
  // rows.
  std::int64_t padded(std::int64_t elements, std::int64_t row) const;

  // In place: every rank gets the sum, or the largest, of each element. Contiguous; float, double
  // or int64.
  virtual Status sum(const at::Tensor& values, std::string_view what) = 0;
  virtual Status largest(const at::Tensor& values, std::string_view what) = 0;
  // In place: a rank's own shard gets the sum over all ranks; what the rest then holds is not said.
  virtual Status sum_to_shards(const at::Tensor& flat, std::string_view what) = 0;
  // In place: every rank gets every other's shard.
  virtual Status gather_shards(const at::Tensor& flat, std::string_view what) = 0;
  // What each rank gives, in their order.
  virtual Result<std::vector<std::string>> gather(std::string_view bytes,
                                                  std::string_view what) = 0;
  // Tells the others that this process ends, and why; nothing may be called after it.
  virtual void end(const Status& status) = 0;

  // What rank 0 gives.
  Result<std::string> from_first(std::string_view bytes, std::string_view what);
  // Until every rank has come here.
  Status meet(std::string_view what);
  // Where an operation may fail for one rank alone: all get the first rank's error, or none.
  Status agree(const Status& mine, std::string_view what);
  // Whether any rank says so.
  Result<bool> any(bool mine, std::string_view what);

 private:
  int rank_, size_;
};

// A process of its own.
std::unique_ptr<Ranks> alone();
// One for all who are.
Ranks& nobody_else();

}  // namespace tritonsmith::distributed
