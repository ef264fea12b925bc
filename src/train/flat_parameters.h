// FlatParameters: all weights of a model in one fp32 buffer, and all their gradients in another, so
// that an optimizer step is a few passes over contiguous memory instead of hundreds of small calls.
// The model's own tensors become views of these buffers. They lie as model::FlatLayout says:
// vectors (norms, biases) behind the matrices, so weight decay ends at `decayed`. Where several
// ranks share the optimizer, zeros at the end make the buffers as long as equal shards need.
//
// Sharded, a rank has the fp32 weights ("masters") of its own shard alone. What the model computes
// with is then a whole copy: 16 bits on a GPU, fp32 elsewhere.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "base/enum_names.h"
#include "distributed/ranks.h"

namespace tritonsmith::train {

// What each of several ranks has of the masters.
enum class Masters { whole, sharded };

// A stretch of the buffers.
struct FlatPart {
  at::Tensor values, gradients;  // [N]
  std::int64_t decayed = 0;      // the first so many take weight decay
};

// What sharded parameters are computed with, [P] of 16 bits: true to them when it is handed over.
struct ComputedCopy {
  at::Tensor flat;
  std::vector<at::Tensor> parts;  // of each parameter, in `flat`
  std::vector<at::Tensor>
      whole;  // parameters that are computed with as they are: fp32 on each rank
};

class FlatParameters {
 public:
  // Takes the parameters over: their storage moves into the flat buffer, their gradients are
  // allocated and zero. All fp32 and on one device; a tensor shared by two names comes once.
  explicit FlatParameters(const std::vector<at::Tensor>& parameters, int shards = 1);
  // Keeps the masters of the own shard. Without a copy in 16 bits the parameters become views of an
  // fp32 one; with it those that are not whole hold nothing: whoever reads them reads NaN.
  static FlatParameters sharded(const std::vector<at::Tensor>& parameters,
                                const distributed::Ranks& ranks, ComputedCopy copy = {});
  // How long the buffers are for so many shards: what the copy's length must be.
  static std::int64_t length_for(const std::vector<at::Tensor>& parameters, int shards);

  const at::Tensor& values() const { return values_; }        // [P]; sharded, of the own shard
  const at::Tensor& gradients() const { return gradients_; }  // [P]
  std::int64_t total() const { return total_; }               // P
  std::int64_t decayed() const { return decayed_; }           // the first so many take weight decay
  std::int64_t parameter_count() const { return parameter_count_; }  // without padding
  // Without the zeros for the shards: what is saved, whatever the number of ranks.
  std::int64_t saved_count() const { return saved_count_; }
  FlatPart part(std::int64_t begin, std::int64_t count) const;  // sharded, within the own shard
  FlatPart whole() const { return part(0, values_.numel()); }
  void zero_gradients() { gradients_.zero_(); }

  bool is_sharded() const { return copy_.flat.defined(); }
  // What the model computes with: [P], undefined unless sharded; and by parameter, in their order.
  const at::Tensor& copy() const { return copy_.flat; }
  const std::vector<at::Tensor>& computed() const { return computed_; }
  // Sharded, once every rank has updated its masters and rounded them into its part of copy():
  // everybody's, to everybody.
  Status gather(distributed::Ranks& ranks) const;
  // Masters of a stretch, as a checkpoint has them: into all that holds any of them here.
  void take_masters(std::int64_t begin, const at::Tensor& masters) const;

 private:
  FlatParameters() = default;
  void add_gradients(const std::vector<at::Tensor>& parameters);

  at::Tensor values_, gradients_;
  std::vector<std::int64_t> offsets_;  // of each parameter
  std::vector<at::Tensor> computed_;
  ComputedCopy copy_;
  std::int64_t begin_ = 0;  // of values_ in the whole
  std::int64_t total_ = 0;
  std::int64_t decayed_ = 0;
  std::int64_t parameter_count_ = 0;
  std::int64_t saved_count_ = 0;
};

}  // namespace tritonsmith::train

namespace tritonsmith {
template <>
inline constexpr auto enum_names<train::Masters> =
    names<train::Masters>({{train::Masters::whole, "whole"}, {train::Masters::sharded, "sharded"}});
}  // namespace tritonsmith
