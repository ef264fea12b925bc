// FlatParameters: all weights of a model in one fp32 buffer, and all their gradients in another. An
// optimizer step is then a few passes over contiguous memory instead of hundreds of small calls.
// The model's own tensors become views of these buffers, with the layout of model::FlatLayout.
// Vectors (norms, biases) lie after the matrices, so weight decay ends at `decayed`. If several
// ranks share the optimizer, zeros at the end fill the buffers to equal shards.
//
// Sharded parameters: a rank has the fp32 weights ("masters") of its own shard only. The model then
// computes with a complete copy, in 16 bits on a GPU and in fp32 elsewhere.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "base/enum_names.h"
#include "distributed/ranks.h"

namespace tritonsmith::train {

// The part of the masters that each of several ranks has.
enum class Masters { whole, sharded };

// A range of the buffers.
struct FlatPart {
  at::Tensor values, gradients;  // [N]
  std::int64_t decayed = 0;      // the first `decayed` elements take weight decay
};

// The copy that sharded parameters are computed with, [P] in 16 bits. It equals the rounded
// parameters when it is passed in.
struct ComputedCopy {
  at::Tensor flat;
  std::vector<at::Tensor> parts;  // views into `flat`, one for each parameter
  // Parameters that are used in fp32; every rank has all of them.
  std::vector<at::Tensor> whole;
};

class FlatParameters {
 public:
  // Takes over the parameters: their storage moves into the flat buffer, and their gradients are
  // allocated and zero. All are fp32 and on one device. A tensor with two names is listed once.
  explicit FlatParameters(const std::vector<at::Tensor>& parameters, int shards = 1);
  // Keeps the masters of the rank's own shard. Without a 16-bit copy the parameters become views of
  // an fp32 copy. With a 16-bit copy, parameters outside `whole` hold no values, and reading them
  // gives NaN.
  static FlatParameters sharded(const std::vector<at::Tensor>& parameters,
                                const distributed::Ranks& ranks, ComputedCopy copy = {});
  // Returns the buffers' length for this number of shards, which is also the length of the copy.
  static std::int64_t length_for(const std::vector<at::Tensor>& parameters, int shards);

  const at::Tensor& values() const { return values_; }        // [P]; if sharded, only the own shard
  const at::Tensor& gradients() const { return gradients_; }  // [P]
  std::int64_t total() const { return total_; }               // P
  // the first decayed() elements take weight decay
  std::int64_t decayed() const { return decayed_; }
  std::int64_t parameter_count() const { return parameter_count_; }  // without padding
  // Returns the length without the zeros for the shards. It is the saved length for any number of
  // ranks.
  std::int64_t saved_count() const { return saved_count_; }
  // if sharded, the range lies in the own shard
  FlatPart part(std::int64_t begin, std::int64_t count) const;
  FlatPart whole() const { return part(0, values_.numel()); }
  void zero_gradients() { gradients_.zero_(); }

  bool is_sharded() const { return copy_.flat.defined(); }
  // The copy that the model computes with: [P], undefined unless sharded; and its tensors, one for
  // each parameter.
  const at::Tensor& copy() const { return copy_.flat; }
  const std::vector<at::Tensor>& computed() const { return computed_; }
  // Gives every rank the copies of all others, for sharded parameters. Every rank must have updated
  // its masters and rounded them into its part of copy() first.
  Status gather(distributed::Ranks& ranks) const;
  // Writes masters of a range, as a checkpoint stores them, into every buffer of this rank that
  // holds any of them.
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
