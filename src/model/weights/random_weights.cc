#include "model/weights/random_weights.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <vector>

#include "base/rng.h"
#include "model/cpu/parallel.h"

namespace tritonsmith::model {
namespace {

// Elements of a tensor that one thread draws at a time. Small models have one block for each
// tensor.
constexpr std::int64_t kBlock = std::int64_t{1} << 22;

bool is_norm(std::string_view name) { return name.ends_with("norm.weight"); }
bool is_bias(std::string_view name) { return name.ends_with(".bias"); }

// A range of one parameter.
struct Block {
  at::Tensor flat;  // [n]
  std::uint64_t parameter = 0, number = 0;
};

Rng rng_of(const Block& block, std::uint64_t seed) {
  if (block.number == 0) return {seed, "model.weights", block.parameter};
  return {seed, fmt::format("model.weights.{}", block.parameter), block.number};
}

template <typename T>
void draw_into(const at::Tensor& values, Rng rng, double deviation) {
  T* out = values.mutable_data_ptr<T>();
  for (std::int64_t i = 0; i < values.numel(); ++i)
    out[i] = static_cast<T>(static_cast<float>(deviation * rng.normal()));
}

void draw(const Block& block, double deviation, std::uint64_t seed) {
  at::Tensor target = block.flat;
  const Rng rng = rng_of(block, seed);
  if (target.is_cpu() && target.scalar_type() == at::kFloat)
    return draw_into<float>(target, rng, deviation);
  if (target.is_cpu() && target.scalar_type() == at::kBFloat16)
    return draw_into<at::BFloat16>(target, rng, deviation);
  const at::Tensor values = at::empty(target.sizes(), at::TensorOptions().dtype(at::kFloat));
  draw_into<float>(values, rng, deviation);
  target.copy_(values);
}

}  // namespace

void fill_random_weights(std::span<const NamedTensor> parameters, double deviation,
                         std::uint64_t seed) {
  const at::NoGradGuard no_grad;
  std::vector<Block> blocks;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    at::Tensor tensor = parameters[i].tensor;
    if (is_norm(parameters[i].name)) tensor.fill_(1.0);
    if (is_bias(parameters[i].name)) tensor.zero_();
    if (is_norm(parameters[i].name) || is_bias(parameters[i].name)) continue;
    const at::Tensor flat = tensor.detach().view({-1});
    for (std::int64_t begin = 0; begin < flat.numel(); begin += kBlock)
      blocks.push_back({.flat = flat.narrow(0, begin, std::min(kBlock, flat.numel() - begin)),
                        .parameter = i,
                        .number = static_cast<std::uint64_t>(begin / kBlock)});
  }
  // at::parallel_for runs on one thread in a build without OpenMP, so it is not used.
  cpu::set_threads(at::get_num_threads());
  cpu::parallel_for(std::ssize(blocks), std::ssize(blocks) * kBlock, [&](std::int64_t i) {
    const at::NoGradGuard none_here;  // the setting is thread-local
    draw(blocks[static_cast<std::size_t>(i)], deviation, seed);
  });
}

}  // namespace tritonsmith::model
