// Finds copies of a weight among a candidate's tensors. A candidate that lacks one of its task's
// weights may have made the same values itself, to pack or to fold them. If its constructor shows
// them, they are copies of the weight and change with it.
#pragma once

#include <optional>
#include <set>
#include <vector>

#include "gym/plan/analysis/random_origin.h"
#include "gym/trial/weights/weights.h"

namespace tritonsmith::gym::trial {

// A tensor of the candidate, or its elements from `first` on.
struct WeightCopy {
  int tensor = 0;
  std::int64_t first = 0;
};

bool is_constant(const at::Tensor& tensor);  // true for a floating tensor of one value

// Returns those of `storages` whose content follows from `tensors` by the steps of the constructor.
std::set<int> folded_into(const plan::Plan& plan, const std::vector<int>& tensors,
                          const std::set<int>& storages);

// Looks for copies among the tensors that the constructor made and from which the candidate's own
// tensors follow. Storages that are `known` are left out. No tensor is a copy of two weights. A
// tensor that follows from a copy is no copy itself, since the constructor is replayed.
class WeightCopies {
 public:
  WeightCopies(const ModuleSide& candidate, const std::vector<int>& own,
               const std::set<int>& known);

  // Takes one copy, or none: a tensor with the weight's values, or else a part of a tensor.
  std::optional<WeightCopy> take(const at::Tensor& weight);
  // Takes the tensor from which the candidate copied `held`, its tensor for the weight.
  std::optional<WeightCopy> take_origin(const at::Tensor& weight, int held);

 private:
  // A range of memory, from the first byte to past the last.
  struct ByteRange {
    const std::byte *begin = nullptr, *end = nullptr;
  };
  const at::Tensor& tensor_of(int index) const {
    return tensors::tensor_at(candidate_.tensors, index);
  }
  ByteRange bytes_of(const WeightCopy& copy, std::int64_t count) const;
  bool is_free(const ByteRange& range) const;
  bool follows_a_copy(int tensor) const;
  bool takes(const WeightCopy& copy, std::int64_t count);
  bool equals(int tensor, const at::Tensor& weight) const;
  std::vector<std::int64_t> parts_that_equal(int tensor, const at::Tensor& weight) const;

  const ModuleSide& candidate_;
  std::vector<int> made_;  // tensors that follow from no other come first
  plan::analysis::Sources sources_;
  std::vector<ByteRange> taken_;
  std::set<int> taken_storages_;
};

}  // namespace tritonsmith::gym::trial
