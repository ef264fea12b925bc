// Measures the parts of a decode step and of a training step at the shape of Qwen2.5-Coder-3B on a
// GPU. It prints microseconds and the bandwidth or the arithmetic rate. Every part cycles through
// the memory of many layers, so that caches do not help by chance.
//   kernel_speed [ROWS] [CONTEXT] [TOKENS]   of decoding, and of a micro-batch
#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>

#include "model/layers/cuda_attention.h"
#include "model/layers/cuda_layer.h"
#include "model/memory/device.h"

namespace tritonsmith::model {
namespace {

using cuda::Bf16;
using cuda::kPage;

constexpr std::int64_t kHidden = 2048, kInner = 11008, kHeads = 16, kKvHeads = 2, kHeadDim = 128,
                       kVocabulary = 151936;
constexpr std::int64_t kQkv = (kHeads + 2 * kKvHeads) * kHeadDim;
constexpr int kLayers = 12;

template <typename T>
T* data(const at::Tensor& tensor) {
  return static_cast<T*>(tensor.mutable_data_ptr());
}

class Bench {
 public:
  explicit Bench(c10::Device device)
      : device_(device), half_(at::TensorOptions(at::kBFloat16).device(device)) {}

  at::Tensor half(std::vector<std::int64_t> shape) const { return at::randn(shape, half_); }
  at::Tensor full(std::vector<std::int64_t> shape) const {
    return at::randn(shape, half_.dtype(at::kFloat));
  }
  at::Tensor ints(std::vector<int> values) const {
    return at::tensor(values, at::kInt).to(device_);
  }
  cuda::Stream stream() const { return current_stream(device_); }
  c10::Device device() const { return device_; }

  // Microseconds of one call, averaged over `rounds` passes through all layers.
  double microseconds(const std::function<void(int)>& call) const {
    const auto& runtime = cuda::kernels()->runtime;
    constexpr int kRounds = 4;
    void* events[2] = {};
    for (void*& event : events) runtime.make_event(&event);
    for (int layer = 0; layer < kLayers; ++layer) call(layer);
    runtime.record_event(events[0], stream());
    for (int round = 0; round < kRounds; ++round)
      for (int layer = 0; layer < kLayers; ++layer) call(layer);
    runtime.record_event(events[1], stream());
    runtime.wait_event(events[1]);
    float ms = 0;
    runtime.elapsed_ms(events[0], events[1], &ms);
    for (void* event : events) runtime.destroy_event(event);
    return 1e3 * static_cast<double>(ms) / (kRounds * kLayers);
  }
  void moved(const std::string& name, double bytes, const std::function<void(int)>& call) const {
    const double us = microseconds(call);
    fmt::print("{:<34}{:9.1f} us {:8.0f} GB/s\n", name, us, bytes / us / 1e3);
  }
  void computed(const std::string& name, double flops, const std::function<void(int)>& call) const {
    const double us = microseconds(call);
    fmt::print("{:<34}{:9.1f} us {:8.0f} TFLOP/s\n", name, us, flops / us / 1e6);
  }

 private:
  c10::Device device_;
  at::TensorOptions half_;
};

void attention(const Bench& bench, int rows, int context) {
  const int pages = (context + kPage - 1) / kPage;
  const std::int64_t all_pages = std::int64_t{rows} * pages;
  std::vector<at::Tensor> keys, values;
  for (int layer = 0; layer < kLayers; ++layer) {
    keys.push_back(bench.half({all_pages, kKvHeads, kPage, kHeadDim}));
    values.push_back(bench.half({all_pages, kKvHeads, kPage, kHeadDim}));
  }
  const at::Tensor table = at::randperm(all_pages, at::kLong).to(at::kInt).to(bench.device());
  const at::Tensor qkv = bench.half({rows, kQkv}), out = bench.half({rows, kHeads * kHeadDim});
  const at::Tensor parts = bench.full({rows * kHeads * 32, kHeadDim});
  const at::Tensor norms = bench.full({rows * kHeads * 32});
  const at::Tensor slots = at::arange(rows, at::kInt).to(bench.device());
  const at::Tensor positions = at::full_like(slots, context - 1);
  const double bytes = 4.0 * rows * context * kKvHeads * kHeadDim;
  constexpr int kInOrder = 0;
  for (const int splits : {kInOrder, 1, 2, 3, 4, 6, 8, 12, 16}) {
    const bool in_order = splits == kInOrder;
    const auto attend = in_order ? cuda::kernels()->decode_in_order : cuda::kernels()->decode;
    const auto name = in_order ? "attention, in order" : fmt::format("attention, {} parts", splits);
    bench.moved(name, bytes, [&](int layer) {
      const auto at = static_cast<std::size_t>(layer);
      attend({.qkv = data<Bf16>(qkv),
              .row_stride = static_cast<int>(kQkv),
              .slots = data<int>(slots),
              .positions = data<int>(positions),
              .cache = {data<Bf16>(keys[at]), data<Bf16>(values[at]), data<int>(table), pages},
              .out = data<Bf16>(out),
              .part_out = data<float>(parts),
              .part_norm = data<float>(norms),
              .rows = rows,
              .heads = static_cast<int>(kHeads),
              .kv_heads = static_cast<int>(kKvHeads),
              .head_dim = static_cast<int>(kHeadDim),
              .splits = splits,
              .scale = 0.088f},
             bench.stream());
    });
  }
}

std::vector<at::Tensor> weights(const Bench& bench, std::int64_t out, std::int64_t in) {
  std::vector<at::Tensor> all;
  for (int layer = 0; layer < kLayers; ++layer) all.push_back(bench.half({out, in}));
  return all;
}

struct Projection {
  const char* name;
  std::int64_t out, in;
};
constexpr Projection kProjections[] = {{"qkv", kQkv, kHidden},
                                       {"o", kHidden, kHeads* kHeadDim},
                                       {"gate_up", 2 * kInner, kHidden},
                                       {"down", kHidden, kInner}};

struct Choice {
  const char* name;
  KernelChoice choice;
  Sums sums;
};
constexpr Choice kChoices[] = {{"guess", KernelChoice::guess, Sums::fast},
                               {"measured", KernelChoice::measure, Sums::fast},
                               {"equal", KernelChoice::measure, Sums::equal}};

void products_of_decoding(const Bench& bench, int rows) {
  for (const auto& [how, choice, sums] : kChoices) {
    Cublas cublas(bench.device(), choice, sums);
    for (const auto& [name, out, in] : kProjections) {
      const auto w = weights(bench, out, in);
      const at::Tensor x = bench.half({rows, in}), y = bench.half({rows, out});
      const at::Tensor sum = bench.full({rows, out});
      const at::Tensor parts = bench.full({kMostSumParts, rows, out});
      const bool is_added = out == kHidden;
      bench.moved(fmt::format("{}, {} rows, {}", name, rows, how),
                  2.0 * static_cast<double>(out * in), [&](int layer) {
                    const at::Tensor& weight = w[static_cast<std::size_t>(layer)];
                    if (is_added)
                      cublas.linear_onto_in_parts(sum, parts, x, weight);
                    else
                      cublas.linear(y, x, weight);
                  });
    }
    const at::Tensor head = bench.half({kVocabulary, kHidden}), x = bench.half({rows, kHidden});
    const at::Tensor logits = bench.full({rows, kVocabulary});
    bench.moved(fmt::format("head, {} rows, {}", rows, how),
                2.0 * kVocabulary * kHidden + 4.0 * rows * kVocabulary,
                [&](int) { cublas.linear(logits, x, head); });
  }
}

void rows_of_decoding(const Bench& bench, int rows) {
  const at::Tensor x = bench.full({rows, kHidden}), weight = bench.full({kHidden});
  const at::Tensor out = bench.half({rows, kHidden}), gate_up = bench.half({rows, 2 * kInner});
  const at::Tensor inner = bench.half({rows, kInner});
  const at::Tensor parts = bench.full({kMostSumParts, rows, kHidden});
  for (const int count : {0, 2, 4})
    bench.moved(count == 0 ? "norm" : fmt::format("norm, adding {} parts", count),
                (6.0 + (count > 0 ? 4.0 * (count + 1) : 0.0)) * rows * kHidden, [&](int) {
                  cuda::kernels()->norm({.x = data<float>(x),
                                         .weight = data<float>(weight),
                                         .out = data<Bf16>(out),
                                         .rows = rows,
                                         .hidden = static_cast<int>(kHidden),
                                         .eps = 1e-6f,
                                         .parts = data<float>(parts),
                                         .part_count = count,
                                         .part_step = parts.stride(0)},
                                        bench.stream());
                });
  bench.moved("swiglu", 6.0 * rows * kInner, [&](int) {
    cuda::kernels()->swiglu(
        {data<Bf16>(gate_up), data<Bf16>(inner), rows, static_cast<int>(kInner)}, bench.stream());
  });
  const auto array = [&](double value, at::ScalarType type) {
    return at::full({rows}, value, at::TensorOptions(type).device(bench.device()));
  };
  const at::Tensor slots = at::arange(rows, at::kInt).to(bench.device());
  const at::Tensor token = array(0, at::kInt), position = array(0, at::kInt),
                   drawn = array(0, at::kInt), seed = array(7, at::kLong), k = array(0, at::kInt),
                   temperature = array(1, at::kFloat), tokens = array(0, at::kInt),
                   logprobs = array(0, at::kFloat);
  const at::Tensor logits = bench.full({rows, kVocabulary});
  for (const double share : {1.0, 0.95}) {
    const at::Tensor p = array(share, at::kFloat);
    bench.moved(fmt::format("sample, top_p {}", share), 4.0 * rows * kVocabulary, [&](int) {
      cuda::kernels()->sample({.logits = data<float>(logits),
                               .slots = data<int>(slots),
                               .arrays = {data<int>(token), data<int>(position), data<int>(drawn),
                                          data<std::uint64_t>(seed), data<float>(temperature),
                                          data<float>(p), data<int>(k)},
                               .tokens = data<int>(tokens),
                               .logprobs = data<float>(logprobs),
                               .rows = rows,
                               .vocabulary = static_cast<int>(kVocabulary)},
                              bench.stream());
    });
  }
}

void products_of_training(const Bench& bench, std::int64_t tokens) {
  for (const auto& [how, choice, sums] : kChoices) {
    Cublas cublas(bench.device(), choice, sums);
    for (const auto& [name, out, in] : kProjections) {
      const auto w = weights(bench, out, in);
      const at::Tensor x = bench.half({tokens, in}), y = bench.half({tokens, out});
      const at::Tensor sum = out == kHidden ? bench.full({tokens, out}) : at::Tensor();
      const at::Tensor d_w = bench.full({out, in});
      const double flops = 2.0 * static_cast<double>(tokens * out * in);
      const auto of = [&](int layer) -> const at::Tensor& {
        return w[static_cast<std::size_t>(layer)];
      };
      bench.computed(fmt::format("{} forward, {}", name, how), flops, [&](int layer) {
        sum.defined() ? cublas.linear_onto(sum, sum, x, of(layer)) : cublas.linear(y, x, of(layer));
      });
      bench.computed(fmt::format("{} d_input, {}", name, how), flops,
                     [&](int layer) { cublas.input_gradient(x, y, of(layer)); });
      bench.computed(fmt::format("{} d_weight, {}", name, how), flops,
                     [&](int) { cublas.add_weight_gradient(d_w, y, x); });
    }
  }
}

void rows_of_training(const Bench& bench, std::int64_t tokens) {
  const auto rows = static_cast<double>(tokens);
  const at::Tensor gate_up = bench.half({tokens, 2 * kInner}), inner = bench.half({tokens, kInner});
  bench.moved("swiglu backward", 12.0 * rows * kInner, [&](int) {
    cuda::kernels()->swiglu_backward(
        {data<Bf16>(gate_up), data<Bf16>(inner), tokens, static_cast<int>(kInner)}, bench.stream());
  });
  const at::Tensor x = bench.full({tokens, kHidden}), d = bench.half({tokens, kHidden}),
                   weight = bench.full({kHidden}), d_x = bench.full({tokens, kHidden}),
                   half = bench.half({tokens, kHidden}), d_weight = bench.full({kHidden}),
                   partials = bench.full({cuda::kNormParts, kHidden});
  bench.moved("norm backward", 16.0 * rows * kHidden, [&](int) {
    cuda::kernels()->norm_backward(
        {data<float>(x), data<float>(weight), data<Bf16>(d), data<float>(d_x), data<float>(d_x),
         data<Bf16>(half), data<float>(partials), data<float>(d_weight), tokens,
         static_cast<int>(kHidden), 1e-6f},
        bench.stream());
  });
  constexpr std::int64_t kLength = 2048;
  const at::Tensor qkv = bench.half({tokens, kHeads + 2 * kKvHeads, kHeadDim});
  std::vector<int> offsets;
  for (std::int64_t at = 0; at <= tokens; at += kLength) offsets.push_back(static_cast<int>(at));
  const at::Tensor ends = bench.ints(offsets);
  const auto part = [&](std::int64_t begin, std::int64_t count) {
    return qkv.narrow(1, begin, count);
  };
  const at::Tensor q = part(0, kHeads), k = part(kHeads, kKvHeads), v = part(kHeads + 2, kKvHeads);
  const double flops = 2.0 * rows * kLength * kHeads * kHeadDim;  // causal
  // Frequent batches of sequences with one length use cuDNN, if it works.
  for (const auto& [name, is_even, sums] :
       {std::tuple{"any sequences", false, Sums::fast},
        std::tuple{"even sequences", true, Sums::fast}, std::tuple{"in order", false, Sums::equal},
        std::tuple{"in order, even", true, Sums::equal}}) {
    const AttentionBatch attention = {ends, kLength, is_even, 0.088, sums};
    for (int i = 0; is_even && i < 300; ++i) cuda_attend({q, k, v}, attention);
    const Attended kept = cuda_attend({q, k, v}, attention);
    bench.computed(fmt::format("attention forward, {}", name), flops, [&](int) {
      cuda_attend({q, k, v}, attention);
    });
    bench.computed(fmt::format("attention backward, {}", name), 2.5 * flops, [&](int) {
      cuda_attend_backward({q, k, v}, kept, kept.out, attention);
    });
  }
}

Status run(int argc, char** argv) {
  const auto number = [&](int i, int fallback) { return argc > i ? std::atoi(argv[i]) : fallback; };
  TRY_ASSIGN(const c10::Device device, open_device(DeviceChoice::cuda));
  if (cuda::kernels() == nullptr) return fail("this build has no CUDA kernels");
  const at::NoGradGuard no_grad;
  const Bench bench(device);
  const int rows = number(1, 64);
  attention(bench, rows, number(2, 2048));
  products_of_decoding(bench, rows);
  rows_of_decoding(bench, rows);
  products_of_training(bench, number(3, 8192));
  rows_of_training(bench, number(3, 8192));
  return ok();
}

}  // namespace
}  // namespace tritonsmith::model

int main(int argc, char** argv) {
  const auto status = tritonsmith::model::run(argc, argv);
  if (!status) fmt::print(stderr, "kernel_speed: {}\n", status.error().message);
  return status ? 0 : 1;
}
