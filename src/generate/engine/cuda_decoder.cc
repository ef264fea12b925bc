#include "generate/engine/cuda_decoder.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "generate/engine/decode_sizes.h"

namespace tritonsmith::generate::engine {
namespace {

using model::cuda::Half;
using model::cuda::kPage;

const model::cuda::Kernels& kernels() { return *model::cuda::kernels(); }

template <typename T>
T* data(const at::Tensor& tensor) {
  return tensor.defined() ? static_cast<T*>(tensor.mutable_data_ptr()) : nullptr;
}

c10::Stream new_stream(c10::Device device) {
  return c10::impl::VirtualGuardImpl(device.type()).getStreamFromGlobalPool(device);
}

}  // namespace

// Arrays on the device, indexed by slot.
struct CudaDecoder::Arrays {
  at::Tensor token, position, drawn, seed, temperature, top_p, top_k;

  Arrays(std::int64_t slots, c10::Device device) {
    const auto make = [&](at::ScalarType type) {
      return at::zeros({slots}, at::TensorOptions(type).device(device));
    };
    token = make(at::kInt), position = make(at::kInt), drawn = make(at::kInt);
    seed = make(at::kLong), temperature = make(at::kFloat), top_p = make(at::kFloat);
    top_k = make(at::kInt);
  }

  model::cuda::SlotArrays pointers() const {
    return {.token = data<int>(token),
            .position = data<int>(position),
            .drawn = data<int>(drawn),
            .seed = data<std::uint64_t>(seed),
            .temperature = data<float>(temperature),
            .top_p = data<float>(top_p),
            .top_k = data<int>(top_k)};
  }
};

// The intermediate results of a step; row r belongs to slots[r].
struct CudaDecoder::Buffers {
  at::Tensor slots, positions;                       // [rows] int32
  at::Tensor x;                                      // [rows, H] float32
  at::Tensor parts;                                  // [parts, rows, H] float32, to be added to x
  at::Tensor normed, qkv, attended, gate_up, inner;  // [rows, ...] 16 bits
  at::Tensor part_out, part_norm;                    // for attention
  at::Tensor logits;                                 // [rows, V] float32
  at::Tensor drawn;                                  // [2, rows] int32: tokens, logprobs' bits
  int* tokens() const { return data<int>(drawn); }
  float* logprobs(std::int64_t rows) const { return data<float>(drawn) + rows; }
};

// The pinned memory in which the host reads a launch's draws.
struct CudaDecoder::PinnedResult {
  void* memory = nullptr;  // pinned; tokens, then logprobs
  void* event = nullptr;
  std::size_t rows = 0, stride = 0;  // the number of tokens, and the begin of the logprobs

  ~PinnedResult() {
    if (event != nullptr) kernels().runtime.destroy_event(event);
    if (memory != nullptr) kernels().runtime.free_pinned(memory);
  }
};

CudaDecoder::CudaDecoder(const model::Transformer& model, const Limits& limits)
    : model_(model),
      limits_(limits),
      sums_(model.sums()),
      pages_per_slot_((limits.max_length + kPage - 1) / kPage),
      most_rows_(bucket_of(limits.slots)),
      stream_(new_stream(model.device())) {
  const at::NoGradGuard no_grad;
  const c10::StreamGuard guard(stream_);
  cublas_ = std::make_unique<model::Cublas>(model.device(), model::KernelChoice::measure, sums_);
  prefill_cublas_ =
      std::make_unique<model::Cublas>(model.device(), model::KernelChoice::guess, sums_);
  allocate(limits);
}

model::cuda::Stream CudaDecoder::native_stream() const {
  return c10::impl::VirtualGuardImpl(stream_.device_type()).getStreamNativeHandle(stream_);
}

CudaDecoder::~CudaDecoder() {
  kernels().runtime.synchronize(native_stream());
  for (const auto& [rows, graph] : graphs_) kernels().runtime.destroy_graph(graph);
}

void CudaDecoder::allocate(const Limits& limits) {
  const model::ModelConfig& c = model_.config();
  const auto options =
      at::TensorOptions(model::type_of(model_.precision())).device(model_.device());
  const auto ints = options.dtype(at::kInt), floats = options.dtype(at::kFloat);
  keys_ = at::zeros({c.num_hidden_layers, limits.pages, c.num_key_value_heads, kPage, c.head_dim},
                    options);
  values_ = at::zeros_like(keys_);
  page_table_ = at::zeros({limits.slots + limits.prompts, pages_per_slot_}, ints);
  prompt_logits_ = at::empty({limits.prompts, c.vocab_size}, floats);
  rope_ = model::make_rope_table(c, limits.max_length, floats);
  arrays_ = std::make_unique<Arrays>(limits.slots, model_.device());
  const std::int64_t rows = most_rows_, parts = attention_parts(c, rows);
  const auto rows_of = [&](std::int64_t columns) { return at::empty({rows, columns}, options); };
  buffers_ = std::make_unique<Buffers>(
      Buffers{.slots = at::full({rows}, -1, ints),
              .positions = at::zeros({rows}, ints),
              .x = at::zeros({rows, c.hidden_size}, floats),
              .parts = at::empty({parts_of_sums(model_), rows, c.hidden_size}, floats),
              .normed = rows_of(c.hidden_size),
              .qkv = rows_of(c.query_size() + 2 * c.key_value_size()),
              .attended = rows_of(c.query_size()),
              .gate_up = rows_of(2 * c.intermediate_size),
              .inner = rows_of(c.intermediate_size),
              .part_out = at::empty({parts, c.head_dim}, floats),
              .part_norm = at::empty({parts}, floats),
              .logits = at::empty({rows, c.vocab_size}, floats),
              .drawn = at::zeros({2, rows}, ints)});
}

model::cuda::PagedCache CudaDecoder::cache_of(std::size_t layer) const {
  const auto at = static_cast<std::int64_t>(layer);
  return {.keys = data<Half>(keys_) + at * keys_.stride(0),
          .values = data<Half>(values_) + at * values_.stride(0),
          .page_table = data<int>(page_table_),
          .pages_per_slot = pages_per_slot_};
}

Status CudaDecoder::check(int code, std::string_view doing) const {
  if (code == 0) return ok();
  return fail_by_fault("CUDA fails while {}: {}", doing, kernels().runtime.message(code));
}

Status CudaDecoder::refresh() {
  // The trainer's stream may still be writing the weights.
  const model::HalfWeights* half = model_.half_weights();
  CHECK(half != nullptr, "a decoder for a model that the kernels do not serve");
  TRY(check(kernels().runtime.synchronize(model::current_stream(model_.device())),
            "waiting for the weights"));
  if (half != half_)
    for (auto& [rows, graph] : std::exchange(graphs_, {})) kernels().runtime.destroy_graph(graph);
  half_ = half;
  return ok();
}

void CudaDecoder::copy_pages(std::span<const PageCopy> copies) {
  if (copies.empty()) return;
  const c10::StreamGuard guard(stream_);
  std::vector<int> pages;
  for (const PageCopy& copy : copies) pages.push_back(copy.from);
  for (const PageCopy& copy : copies) pages.push_back(copy.to);
  const at::Tensor pairs = at::tensor(pages, at::kInt).to(model_.device());
  kernels().copy_pages({.keys = data<Half>(keys_),
                        .values = data<Half>(values_),
                        .from = data<int>(pairs),
                        .to = data<int>(pairs) + copies.size(),
                        .pairs = static_cast<int>(copies.size()),
                        .layers = static_cast<int>(keys_.size(0)),
                        .pages = keys_.size(1),
                        .page_elements = keys_.stride(1)},
                       native_stream());
}

Status CudaDecoder::assign(std::span<const SlotAssignment> assignments) {
  const at::NoGradGuard no_grad;
  const c10::StreamGuard guard(stream_);
  std::vector<std::int64_t> slots, seeds;
  std::vector<int> positions, top_k, prompts, table;
  std::vector<float> temperature, top_p;
  for (const SlotAssignment& each : assignments) {
    slots.push_back(each.slot);
    seeds.push_back(static_cast<std::int64_t>(each.seed));
    // A draw increments the position, so that the first token's is the prompt's length.
    positions.push_back(each.prompt_length - 1);
    top_k.push_back(each.sampling.top_k);
    prompts.push_back(each.prompt);
    temperature.push_back(static_cast<float>(each.sampling.temperature));
    top_p.push_back(static_cast<float>(each.sampling.top_p));
    table.insert(table.end(), each.pages.begin(), each.pages.end());
    table.resize(slots.size() * static_cast<std::size_t>(pages_per_slot_), 0);
  }
  const auto on_device = [&]<typename T>(const std::vector<T>& values, at::ScalarType type) {
    return at::tensor(values, type).to(model_.device());
  };
  const at::Tensor index = on_device(slots, at::kLong);
  const auto set = [&](const at::Tensor& array, const at::Tensor& values) {
    array.index_copy_(0, index, values);
  };
  set(arrays_->position, on_device(positions, at::kInt));
  set(arrays_->drawn, at::zeros({std::ssize(slots)}, arrays_->drawn.options()));
  set(arrays_->seed, on_device(seeds, at::kLong));
  set(arrays_->temperature, on_device(temperature, at::kFloat));
  set(arrays_->top_p, on_device(top_p, at::kFloat));
  set(arrays_->top_k, on_device(top_k, at::kInt));
  set(page_table_, on_device(table, at::kInt).view({-1, pages_per_slot_}));
  const at::Tensor logits_row = on_device(prompts, at::kInt), at_slots = index.to(at::kInt);
  const std::int64_t rows = std::ssize(slots);
  kernels().sample({.logits = data<float>(prompt_logits_),
                    .logits_row = data<int>(logits_row),
                    .slots = data<int>(at_slots),
                    .arrays = arrays_->pointers(),
                    .tokens = buffers_->tokens(),
                    .logprobs = buffers_->logprobs(rows),
                    .rows = static_cast<int>(rows),
                    .vocabulary = static_cast<int>(prompt_logits_.size(1))},
                   native_stream());
  return keep_result(rows, slots.size());
}

void CudaDecoder::run_layer(std::size_t layer, std::int64_t rows) {
  const model::ModelConfig& c = model_.config();
  const model::LayerWeights& masters = model_.layers()[layer];
  const model::HalfLayer& half = half_->layers()[layer];
  const Buffers& b = *buffers_;
  const auto part = [rows](const at::Tensor& buffer) { return buffer.narrow(0, 0, rows); };
  const at::Tensor x = part(b.x), normed = part(b.normed), qkv = part(b.qkv),
                   attended = part(b.attended), gate_up = part(b.gate_up), inner = part(b.inner);
  const model::cuda::HalfType type = model::half_type_of(keys_);
  const double share = model::inner_share(keys_.scalar_type());
  const auto heads = static_cast<int>(c.num_attention_heads);
  const auto kv_heads = static_cast<int>(c.num_key_value_heads);
  const auto head_dim = static_cast<int>(c.head_dim);
  norm(x, masters.input_norm, normed);
  cublas_->linear(qkv, normed, half.qkv, half.qkv_bias);
  kernels().rope({.qkv = data<Half>(qkv),
                  .cos = data<float>(rope_.cos),
                  .sin = data<float>(rope_.sin),
                  .positions = data<int>(b.positions),
                  .q_norm = data<float>(masters.q_norm),
                  .k_norm = data<float>(masters.k_norm),
                  .slots = data<int>(b.slots),
                  .cache = cache_of(layer),
                  .tokens = rows,
                  .heads = heads,
                  .kv_heads = kv_heads,
                  .head_dim = head_dim,
                  .eps = static_cast<float>(c.rms_norm_eps),
                  .type = type},
                 native_stream());
  const auto attend = sums_ == model::Sums::equal ? kernels().decode_in_order : kernels().decode;
  attend({.qkv = data<Half>(qkv),
          .row_stride = static_cast<int>(qkv.stride(0)),
          .slots = data<int>(b.slots),
          .positions = data<int>(b.positions),
          .cache = cache_of(layer),
          .out = data<Half>(attended),
          .part_out = data<float>(b.part_out),
          .part_norm = data<float>(b.part_norm),
          .rows = static_cast<int>(rows),
          .heads = heads,
          .kv_heads = kv_heads,
          .head_dim = head_dim,
          .splits = splits_for(rows, kv_heads),
          // The trainer rounds it in the same way.
          .scale = static_cast<float>(1.0 / std::sqrt(static_cast<double>(head_dim))),
          .type = type},
         native_stream());
  const at::Tensor parts = b.parts.narrow(1, 0, rows);
  pending_parts_ = cublas_->linear_onto_in_parts(x, parts, attended, half.o);
  norm(x, masters.post_norm, normed);
  cublas_->linear(gate_up, normed, half.gate_up);
  kernels().swiglu({.gate_up = data<Half>(gate_up),
                    .out = data<Half>(inner),
                    .tokens = rows,
                    .inner = static_cast<int>(c.intermediate_size),
                    .type = type,
                    .factor = static_cast<float>(share)},
                   native_stream());
  pending_parts_ = cublas_->linear_onto_in_parts(x, parts, inner, half.down, 1 / share);
}

// Normalises x. It also adds the partial sums that the product before it has left.
void CudaDecoder::norm(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& normed) {
  kernels().norm({.x = data<float>(x),
                  .weight = data<float>(weight),
                  .out = data<Half>(normed),
                  .rows = x.size(0),
                  .hidden = static_cast<int>(x.size(1)),
                  .eps = static_cast<float>(model_.config().rms_norm_eps),
                  .type = model::half_type_of(normed),
                  .parts = data<float>(buffers_->parts),
                  .part_count = std::exchange(pending_parts_, 0),
                  .part_step = buffers_->parts.stride(0)},
                 native_stream());
}

void CudaDecoder::run_step(std::int64_t rows) {
  const Buffers& b = *buffers_;
  kernels().embed({.table = data<float>(model_.embedding()),
                   .slots = data<int>(b.slots),
                   .arrays = arrays_->pointers(),
                   .x = data<float>(b.x),
                   .positions = data<int>(b.positions),
                   .rows = rows,
                   .hidden = static_cast<int>(b.x.size(1))},
                  native_stream());
  for (std::size_t n = 0; n < model_.layers().size(); ++n) run_layer(n, rows);
  const at::Tensor normed = b.normed.narrow(0, 0, rows), logits = b.logits.narrow(0, 0, rows);
  norm(b.x.narrow(0, 0, rows), model_.final_norm(), normed);
  cublas_->linear(logits, normed, half_->head());
  kernels().sample({.logits = data<float>(logits),
                    .slots = data<int>(b.slots),
                    .arrays = arrays_->pointers(),
                    .tokens = b.tokens(),
                    .logprobs = b.logprobs(rows),
                    .rows = static_cast<int>(rows),
                    .vocabulary = static_cast<int>(logits.size(1))},
                   native_stream());
}

// A first run outside the graph lets cuBLASLt choose its kernels. None of its rows has a slot, so
// this run changes nothing.
Result<void*> CudaDecoder::graph_for(std::int64_t rows) {
  const auto found = graphs_.find(rows);
  if (found != graphs_.end()) return found->second;
  TRY(set_rows({}, most_rows_));
  run_step(rows);
  const auto& runtime = kernels().runtime;
  TRY(check(runtime.synchronize(native_stream()), "running a decode step"));
  TRY(check(runtime.last_error(), "running a decode step"));
  TRY(check(runtime.begin_capture(native_stream()), "capturing a decode step"));
  run_step(rows);
  void* graph = nullptr;
  TRY(check(runtime.end_capture(native_stream(), &graph), "capturing a decode step"));
  graphs_[rows] = graph;
  return graph;
}

Status CudaDecoder::set_rows(std::span<const int> slots, std::int64_t rows) {
  std::vector<int> wanted(slots.begin(), slots.end());
  wanted.resize(static_cast<std::size_t>(rows), -1);
  if (wanted == rows_on_device_) return ok();
  buffers_->slots.narrow(0, 0, rows).copy_(at::tensor(wanted, at::kInt));
  rows_on_device_ = std::move(wanted);
  return ok();
}

Status CudaDecoder::step(std::span<const int> slots) {
  const at::NoGradGuard no_grad;
  const c10::StreamGuard guard(stream_);
  const std::int64_t rows = bucket_of(std::ssize(slots));
  TRY_ASSIGN(void* graph, graph_for(rows));
  TRY(set_rows(slots, rows));
  TRY(check(kernels().runtime.launch_graph(graph, native_stream()), "launching a decode step"));
  return keep_result(rows, slots.size());
}

// Copies the draws of the latest launch to the host.
Status CudaDecoder::keep_result(std::int64_t rows, std::size_t used) {
  const auto& runtime = kernels().runtime;
  CHECK(unread_.size() < kMostUnread, "launches are not read");
  const auto bytes = static_cast<std::size_t>(2 * most_rows_) * sizeof(int);
  while (results_.size() < kMostUnread) {
    auto& fresh = results_.emplace_back(std::make_unique<PinnedResult>());
    TRY(check(runtime.pinned(&fresh->memory, bytes), "allocating pinned memory"));
    TRY(check(runtime.make_event(&fresh->event), "making an event"));
  }
  PinnedResult& result = *results_[next_result_++ % kMostUnread];
  result.rows = used;
  result.stride = static_cast<std::size_t>(rows);
  TRY(check(runtime.copy(result.memory, buffers_->tokens(),
                         2 * static_cast<std::size_t>(rows) * sizeof(int), native_stream()),
            "reading tokens"));
  TRY(check(runtime.record_event(result.event, native_stream()), "recording an event"));
  unread_.push_back(&result);
  return check(runtime.last_error(), "decoding");
}

Result<CudaDecoder::Draws> CudaDecoder::read_oldest() {
  CHECK(!unread_.empty(), "nothing has been launched");
  const PinnedResult& result = *unread_.front();
  unread_.pop_front();
  TRY(check(kernels().runtime.wait_event(result.event), "decoding"));
  const auto* tokens = static_cast<const int*>(result.memory);
  const auto* logprobs = static_cast<const float*>(result.memory) + result.stride;
  return Draws{.tokens = {tokens, tokens + result.rows},
               .logprobs = {logprobs, logprobs + result.rows}};
}

}  // namespace tritonsmith::generate::engine
