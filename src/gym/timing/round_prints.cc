#include "gym/timing/round_prints.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace tritonsmith::gym::timing {
namespace {

constexpr std::uint64_t kSalt = 0x74696d6564726f75;  // "timedrou"

}  // namespace

void RoundPrints::remember_expected() {
  const std::vector<at::Tensor> outputs = candidate_.outputs();
  begin_batch(1);
  std::uint64_t salt = kSalt;
  for (const at::Tensor& output : outputs)
    device_.kernels().add_fingerprint({output.const_data_ptr(), output.nbytes()}, salt++, 0);
  end_batch(1);
  candidate_.forget_copies(outputs);
  static_cast<void>(device_.wait(device_.patience()));
  expected_ = device_.kernels().rounds()[0];
}

void RoundPrints::begin_batch(int rounds) {
  pending_.clear();
  device_.kernels().clear_rounds(0, static_cast<std::size_t>(rounds));
}

void RoundPrints::add(std::span<const at::Tensor> outputs, int round) {
  std::uint64_t salt = kSalt;
  for (const at::Tensor& output : outputs) {
    const cuda::Bytes block{output.const_data_ptr(), output.nbytes()};
    const bool is_pending = std::ranges::find(pending_, block.at, address) != pending_.end();
    if (!is_pending && candidate_.will_poison(block))
      pending_.push_back({.block = block, .salt = salt, .round = round});
    else
      device_.kernels().add_fingerprint(block, salt, static_cast<std::size_t>(round));
    ++salt;
  }
}

bool RoundPrints::print_and_poison(const at::Tensor& buffer, tensors::Filler filler) {
  const auto print = std::ranges::find(pending_, buffer.storage().data(), address);
  if (print == pending_.end()) return false;
  device_.kernels().add_fingerprint(print->block, print->salt,
                                    static_cast<std::size_t>(print->round),
                                    static_cast<std::uint8_t>(filler));
  pending_.erase(print);
  return true;
}

void RoundPrints::end_batch(int rounds) {
  for (const Pending& each : pending_)
    device_.kernels().add_fingerprint(each.block, each.salt, static_cast<std::size_t>(each.round));
  pending_.clear();
  device_.kernels().bring_rounds(0, static_cast<std::size_t>(rounds));
}

bool RoundPrints::is_expected(int round) const {
  return device_.kernels().rounds()[static_cast<std::size_t>(round)] == expected_;
}

}  // namespace tritonsmith::gym::timing
