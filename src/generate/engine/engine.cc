#include "generate/engine/engine.h"

#include <algorithm>

#include "generate/engine/cuda_engine.h"
#include "generate/engine/sampler.h"
#include "model/cpu/parallel.h"

namespace tritonsmith::generate::engine {

Fields<EngineConfig> EngineConfig::fields() {
  using C = EngineConfig;
  return {
      field("slots", &C::slots, "How many sequences are decoded together.", between(1, 65536)),
      field("max_length", &C::max_length,
            "The longest sequence of prompt and completion, in tokens. 0: the model's own limit.",
            at_least(0)),
      field("prefill_tokens", &C::prefill_tokens, "How many prompt tokens are computed at once.",
            at_least(1)),
      field("cache_mib", &C::cache_mib,
            "The size of the KV cache on a GPU, in MiB. 0: what the slots need, up to half of the "
            "free memory.",
            at_least(0))};
}

// A row of the KV cache, with the request that it serves. After the request has finished, the row
// still holds the keys and values of its prompt.
struct Engine::Slot {
  bool busy = false;
  GenerationRequest request;
  Completion completion;
  std::vector<TokenId> cached_prompt;  // the prompt in the row's cache; empty: none
  std::vector<float> prompt_logits;    // [V], after that prompt
};

Status check_request(const GenerationRequest& request, std::int64_t vocabulary, int max_length) {
  if (request.prompt.empty()) return fail("the prompt is empty");
  for (const TokenId token : request.prompt)
    if (token < 0 || token >= vocabulary)
      return fail("the model has no token {}: its tokens are 0 to {}", token, vocabulary - 1);
  if (request.sampling.max_new_tokens < 1) return fail("at least 1 new token must be asked for");
  const auto length = std::ssize(request.prompt) + request.sampling.max_new_tokens;
  if (length > max_length)
    return fail(
        "a prompt of {} tokens and {} new ones exceed the limit of {}; ask for fewer new tokens "
        "(max_tokens)",
        request.prompt.size(), request.sampling.max_new_tokens, max_length);
  return ok();
}

Engine::Engine(const model::Transformer& model, const EngineConfig& config)
    : config_(config),
      vocabulary_(model.config().vocab_size),
      decoder_(make_decoder(model, config.slots)),
      slots_(static_cast<std::size_t>(config.slots)),
      logits_(static_cast<std::size_t>(config.slots * model.config().vocab_size)) {
  const auto limit = static_cast<int>(model.config().max_position_embeddings);
  config_.max_length = config.max_length == 0 ? limit : std::min(config.max_length, limit);
}

Engine::~Engine() = default;

bool Engine::idle() const { return waiting_.empty() && std::ranges::none_of(slots_, &Slot::busy); }

Status Engine::submit(GenerationRequest request) {
  TRY(check_request(request, vocabulary_, config_.max_length));
  if (idle()) {
    decoder_->refresh();
    for (Slot& slot : slots_) slot.cached_prompt.clear();
  }
  waiting_.push_back(std::move(request));
  return ok();
}

void Engine::cancel(std::uint64_t id) {
  std::erase_if(waiting_, [id](const GenerationRequest& request) { return request.id == id; });
  std::erase_if(finished_, [id](const Generated& generated) { return generated.id == id; });
  for (Slot& slot : slots_)
    if (slot.busy && slot.request.id == id) slot.busy = false;
}

Result<std::optional<Generated>> Engine::next_by(Deadline deadline) {
  while (finished_.empty() && !idle()) {
    TRY(admit());
    TRY(step());
    if (is_interrupted_.exchange(false) || deadline.passed()) break;
  }
  if (finished_.empty()) return std::optional<Generated>();
  Generated generated = std::move(finished_.front());
  finished_.pop_front();
  return std::optional(std::move(generated));
}

int Engine::slot_with(const std::vector<TokenId>& prompt) const {
  const auto at = std::ranges::find(slots_, prompt, &Slot::cached_prompt);
  return at == slots_.end() ? -1 : static_cast<int>(at - slots_.begin());
}

// Returns the free slots. Slots whose cached prompt fits no waiting request come first.
std::vector<int> Engine::take_free_slots() {
  std::vector<int> wanted, unwanted;
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (slots_[i].busy) continue;
    const bool awaited = !slots_[i].cached_prompt.empty() &&
                         std::ranges::find(waiting_, slots_[i].cached_prompt,
                                           &GenerationRequest::prompt) != waiting_.end();
    (awaited ? wanted : unwanted).push_back(static_cast<int>(i));
  }
  unwanted.insert(unwanted.end(), wanted.begin(), wanted.end());
  return unwanted;
}

// Moves requests from the line into free slots, and draws the first token of each.
Status Engine::admit() {
  if (waiting_.empty()) return ok();
  std::vector<int> admitted, to_compute;
  // Pairs of source and target. A prompt that is cached already is copied at once, because its slot
  // may be the next one for another request.
  std::vector<std::pair<int, int>> to_copy_later;
  const auto copy = [&](int from, int to) {
    const Slot& source = slots_[static_cast<std::size_t>(from)];
    decoder_->copy(from, to, std::ssize(source.cached_prompt));
    slots_[static_cast<std::size_t>(to)].prompt_logits = source.prompt_logits;
  };
  std::int64_t tokens = 0;
  for (const int index : take_free_slots()) {
    if (waiting_.empty()) break;
    Slot& slot = slots_[static_cast<std::size_t>(index)];
    const auto& prompt = waiting_.front().prompt;
    const int source = slot.cached_prompt == prompt ? index : slot_with(prompt);
    if (source < 0) {
      if (!to_compute.empty() && tokens + std::ssize(prompt) > config_.prefill_tokens) break;
      tokens += std::ssize(prompt);
      to_compute.push_back(index);
    }
    counts_.prompts_computed += source < 0;
    counts_.prompts_shared += source >= 0;
    slot.request = std::move(waiting_.front());
    waiting_.pop_front();
    slot.completion = {.prompt = slot.request.prompt};
    slot.cached_prompt = slot.request.prompt;
    slot.busy = true;
    decoder_->reserve(index, std::ssize(slot.cached_prompt) + slot.request.sampling.max_new_tokens);
    if (source >= 0 && source != index) {
      if (std::ranges::find(admitted, source) != admitted.end())
        to_copy_later.emplace_back(source, index);
      else
        copy(source, index);
    }
    admitted.push_back(index);
  }
  if (!to_compute.empty()) prefill(to_compute);
  for (const auto& [from, to] : to_copy_later) copy(from, to);
  std::vector<const float*> logits;
  for (const int index : admitted)
    logits.push_back(slots_[static_cast<std::size_t>(index)].prompt_logits.data());
  return take_tokens(admitted, logits);
}

void Engine::prefill(const std::vector<int>& slots) {
  std::vector<Decoder::Prompt> prompts;
  for (const int index : slots)
    prompts.push_back(
        {.slot = index, .tokens = slots_[static_cast<std::size_t>(index)].cached_prompt});
  decoder_->prefill(prompts, logits_.data());
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const float* row = logits_.data() + static_cast<std::int64_t>(i) * vocabulary_;
    slots_[static_cast<std::size_t>(slots[i])].prompt_logits.assign(row, row + vocabulary_);
  }
}

// Computes one token for every slot in use.
Status Engine::step() {
  std::vector<Decoder::Step> steps;
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const Slot& slot = slots_[i];
    if (!slot.busy) continue;
    const auto& tokens = slot.completion.tokens;
    steps.push_back({.slot = static_cast<int>(i),
                     .token = tokens.back(),
                     .position = std::ssize(slot.cached_prompt) + std::ssize(tokens) - 1});
  }
  if (steps.empty()) return ok();
  decoder_->decode(steps, logits_.data());
  std::vector<int> slots;
  std::vector<const float*> logits;
  for (std::size_t row = 0; row < steps.size(); ++row) {
    slots.push_back(steps[row].slot);
    logits.push_back(logits_.data() + static_cast<std::int64_t>(row) * vocabulary_);
  }
  return take_tokens(slots, logits);
}

// Draws the next token of each slot. logits[i] belongs to slots[i].
Status Engine::take_tokens(const std::vector<int>& slots, const std::vector<const float*>& logits) {
  constexpr std::int64_t kWorkOfLogit = 16;
  std::vector<Result<SampledToken>> drawn(slots.size(), SampledToken{});
  model::cpu::parallel_for(
      std::ssize(slots), std::ssize(slots) * vocabulary_ * kWorkOfLogit, [&](std::int64_t i) {
        const auto at = static_cast<std::size_t>(i);
        const Slot& slot = slots_[static_cast<std::size_t>(slots[at])];
        drawn[at] =
            sample_token({logits[at], static_cast<std::size_t>(vocabulary_)}, slot.request.sampling,
                         slot.request.seed, slot.completion.tokens.size());
      });
  for (std::size_t i = 0; i < slots.size(); ++i) {
    TRY_ASSIGN(const SampledToken sampled, drawn[i]);
    append(slots[i], sampled);
  }
  return ok();
}

void Engine::append(int index, const SampledToken& sampled) {
  Slot& slot = slots_[static_cast<std::size_t>(index)];
  auto& tokens = slot.completion.tokens;
  tokens.push_back(sampled.token);
  slot.completion.logprobs.push_back(sampled.logprob);
  ++counts_.tokens_decoded;
  const auto& stop_tokens = slot.request.stop_tokens;
  const bool is_stop_token = std::ranges::find(stop_tokens, sampled.token) != stop_tokens.end();
  if (!is_stop_token && slot.request.on_logprob) slot.request.on_logprob(sampled.logprob);
  if (is_stop_token ||
      (slot.request.is_complete && slot.request.is_complete(slot.completion.tokens)))
    finish(index, FinishReason::stop);
  else if (std::ssize(tokens) >= slot.request.sampling.max_new_tokens)
    finish(index, FinishReason::length);
}

void Engine::finish(int index, FinishReason reason) {
  Slot& slot = slots_[static_cast<std::size_t>(index)];
  slot.completion.finish = reason;
  slot.busy = false;
  finished_.push_back({.id = slot.request.id, .completion = std::move(slot.completion)});
}

Result<std::unique_ptr<TokenEngine>> make_engine(const model::Transformer& model,
                                                 const EngineConfig& config) {
  if (model.half_weights() == nullptr) return std::make_unique<Engine>(model, config);
  return CudaEngine::make(model, config);
}

}  // namespace tritonsmith::generate::engine
