#include "generate/engine/cuda_engine.h"

#include <algorithm>

#include "base/log.h"
#include "model/cuda/kernels.h"

namespace tritonsmith::generate::engine {
namespace {

using model::cuda::kPage;

constexpr std::int64_t kMiB = std::int64_t{1} << 20;
// The largest number of unread launches: the one that the device computes, and the next.
constexpr std::size_t kAhead = 2;

int pages_for(std::int64_t tokens) { return static_cast<int>((tokens + kPage - 1) / kPage); }

// Returns the largest number of pages that a request can need: its prompt's own copy, and the
// sequence without the whole pages that it shares.
int most_pages(std::int64_t prompt, std::int64_t length) {
  return pages_for(prompt) + pages_for(length) - static_cast<int>(prompt / kPage);
}

struct Memory {
  std::int64_t free_bytes = 0, cache_bytes = 0;
  int pages = 0;
};

// Takes as many pages as all slots can fill, within the budget: the config's, or half of the free
// memory.
Memory size_memory(const model::ModelConfig& model, const EngineConfig& config) {
  std::size_t free_bytes = 0, total = 0;
  model::cuda::kernels()->runtime.memory(&free_bytes, &total);
  const auto free = static_cast<std::int64_t>(free_bytes);
  const std::int64_t budget =
      config.cache_mib > 0 ? std::int64_t{config.cache_mib} * kMiB : free / 2;
  // For each slot, the pages of its sequence and its prompt's own copy.
  const std::int64_t wanted = std::int64_t{config.slots} * (pages_for(config.max_length) + 1) +
                              pages_for(config.max_length);
  const std::int64_t page = CudaDecoder::page_bytes(model);
  const std::int64_t pages = std::min(wanted, budget / page);
  return {.free_bytes = free, .cache_bytes = pages * page, .pages = static_cast<int>(pages)};
}

}  // namespace

// A row of the decode step, with the request that it serves.
struct CudaEngine::Slot {
  bool busy = false;
  std::uint64_t sequence = 0;  // a number that differs for each sequence of the slot
  GenerationRequest request;
  Completion completion;   // the tokens drawn so far
  std::vector<int> pages;  // those of the sequence in order, shared ones first
  int launched = 0;        // the number of launched draws
};

// An entry of the prefix cache.
struct CudaEngine::CachedPrompt {
  std::vector<TokenId> tokens;  // empty: the entry is free
  std::vector<int> pages;
  std::uint64_t last_use = 0;
  bool is_new = false;     // not computed yet
  bool is_in_use = false;  // this round of admissions uses it
};

// The slot and the sequence that each row of a launch draws for.
struct CudaEngine::Launch {
  std::vector<int> slots;
  std::vector<std::uint64_t> sequences;
};

Result<std::unique_ptr<CudaEngine>> CudaEngine::make(const model::Transformer& model,
                                                     const EngineConfig& config) {
  EngineConfig sized = config;
  const auto limit = static_cast<int>(model.config().max_position_embeddings);
  sized.max_length = config.max_length == 0 ? limit : std::min(config.max_length, limit);
  const Memory memory = size_memory(model.config(), sized);
  CudaDecoder::Limits limits = {.slots = sized.slots,
                                .prompts = sized.slots,
                                .max_length = sized.max_length,
                                .prefill_tokens = sized.prefill_tokens,
                                .pages = memory.pages};
  const std::int64_t other = CudaDecoder::other_bytes(model, limits);
  if (memory.pages < 2 || memory.cache_bytes + other > memory.free_bytes)
    return fail(
        "the rollout engine needs {} MiB for {} slots and {} MiB of KV cache, but {} MiB of the "
        "GPU are free; lower slots, max_length or cache_mib",
        other / kMiB, sized.slots,
        std::max(memory.cache_bytes, CudaDecoder::page_bytes(model.config()) * 2) / kMiB,
        memory.free_bytes / kMiB);
  LOG("rollout engine: {} slots, KV cache of {} tokens in {} MiB, {} MiB for the rest", sized.slots,
      std::int64_t{memory.pages} * kPage, memory.cache_bytes / kMiB, other / kMiB);
  return std::unique_ptr<CudaEngine>(new CudaEngine(model, sized, limits));
}

std::int64_t CudaEngine::most_bytes() const { return most_bytes_; }

CudaEngine::CudaEngine(const model::Transformer& model, const EngineConfig& config,
                       const CudaDecoder::Limits& limits)
    : config_(config),
      vocabulary_(model.config().vocab_size),
      most_bytes_(limits.pages * CudaDecoder::page_bytes(model.config()) +
                  CudaDecoder::other_bytes(model, limits)),
      decoder_(model, limits),
      pool_(limits.pages),
      slots_(static_cast<std::size_t>(limits.slots)),
      prompts_(static_cast<std::size_t>(limits.prompts)) {}

CudaEngine::~CudaEngine() = default;

bool CudaEngine::idle() const {
  return waiting_.empty() && std::ranges::none_of(slots_, &Slot::busy);
}

Status CudaEngine::submit(GenerationRequest request) {
  TRY(check_request(request, vocabulary_, config_.max_length));
  const std::int64_t length = std::ssize(request.prompt) + request.sampling.max_new_tokens;
  if (most_pages(std::ssize(request.prompt), length) > pool_.size())
    return fail("{} tokens do not fit the KV cache of {}; raise cache_mib", length,
                std::int64_t{pool_.size()} * kPage);
  if (idle()) {
    TRY(drain());
    TRY(decoder_.refresh());
    for (CachedPrompt& prompt : prompts_) evict(prompt);
  }
  waiting_.push_back(std::move(request));
  return ok();
}

void CudaEngine::cancel(std::uint64_t id) {
  std::erase_if(waiting_, [id](const GenerationRequest& request) { return request.id == id; });
  std::erase_if(finished_, [id](const Generated& generated) { return generated.id == id; });
  for (Slot& slot : slots_)
    if (slot.busy && slot.request.id == id) vacate(slot);
}

Result<std::optional<Generated>> CudaEngine::next_by(Deadline deadline) {
  while (finished_.empty() && !idle()) {
    TRY(admit());
    TRY(launch_step());
    while (launches_.size() >= kAhead) TRY(read_draws());
    if (is_interrupted_.exchange(false) || deadline.passed()) break;
  }
  if (finished_.empty()) return std::optional<Generated>();
  Generated generated = std::move(finished_.front());
  finished_.pop_front();
  return std::optional(std::move(generated));
}

Status CudaEngine::settle() {
  while (!launches_.empty()) TRY(read_draws());
  return ok();
}

void CudaEngine::evict(CachedPrompt& prompt) {
  pool_.give_back(prompt.pages);
  prompt = {};
}

// Returns the entry to evict next. Entries that fit no waiting request come first, and among those
// the least recently used one.
CudaEngine::CachedPrompt* CudaEngine::eviction_candidate() {
  CachedPrompt* least = nullptr;
  bool is_wanted = true;
  for (CachedPrompt& prompt : prompts_) {
    if (prompt.tokens.empty() || prompt.is_in_use) continue;
    const bool wanted =
        std::ranges::find(waiting_, prompt.tokens, &GenerationRequest::prompt) != waiting_.end();
    if (least == nullptr || (is_wanted && !wanted) ||
        (is_wanted == wanted && prompt.last_use < least->last_use))
      least = &prompt, is_wanted = wanted;
  }
  return least;
}

// Evicts entries until this many pages are free. Returns false if they do not suffice.
bool CudaEngine::make_room(int pages) {
  while (pool_.free_pages() < pages) {
    CachedPrompt* prompt = eviction_candidate();
    if (prompt == nullptr) return false;
    evict(*prompt);
  }
  return true;
}

CudaEngine::CachedPrompt* CudaEngine::cache_prompt(const std::vector<TokenId>& tokens) {
  auto at = std::ranges::find(prompts_, tokens, &CachedPrompt::tokens);
  if (at == prompts_.end()) {
    at = std::ranges::find_if(prompts_, [](const auto& each) { return each.tokens.empty(); });
    if (at == prompts_.end()) {
      // There are as many entries as slots, so one is not in use.
      CachedPrompt* least = eviction_candidate();
      evict(*least);
      at = prompts_.begin() + (least - prompts_.data());
    }
    const int pages = pages_for(std::ssize(tokens));
    if (!make_room(pages)) return nullptr;
    *at = {.tokens = tokens, .pages = *pool_.take(pages), .is_new = true};
  }
  at->last_use = ++clock_;
  at->is_in_use = true;
  return &*at;
}

// Gives the slot to the first waiting request. Returns false if there are too few pages.
bool CudaEngine::occupy(Slot& slot, const CachedPrompt& prompt) {
  const GenerationRequest& request = waiting_.front();
  const std::int64_t length = std::ssize(prompt.tokens) + request.sampling.max_new_tokens;
  const auto shared = static_cast<int>(std::ssize(prompt.tokens) / kPage);
  const int own = pages_for(length) - shared;
  if (!make_room(own)) return false;
  slot.pages.assign(prompt.pages.begin(), prompt.pages.begin() + shared);
  pool_.share(slot.pages);
  const auto taken = *pool_.take(own);
  slot.pages.insert(slot.pages.end(), taken.begin(), taken.end());
  slot.request = std::move(waiting_.front());
  waiting_.pop_front();
  slot.completion = {.prompt = slot.request.prompt};
  slot.busy = true;
  slot.sequence = ++clock_;
  slot.launched = 1;
  return true;
}

// The device's work for a round of admissions.
struct CudaEngine::Admission {
  std::vector<CudaDecoder::Prompt> to_compute;
  std::vector<CudaDecoder::PageCopy> copies;
  std::vector<CudaDecoder::SlotAssignment> assignments;
  std::int64_t prefill_tokens = 0;
};

// Admits the first waiting request to a slot. Returns false if it must wait.
bool CudaEngine::admit_one(int index, Admission& admission) {
  const auto length = std::ssize(waiting_.front().prompt);
  const bool is_cached =
      std::ranges::find(prompts_, waiting_.front().prompt, &CachedPrompt::tokens) != prompts_.end();
  if (!is_cached && admission.prefill_tokens > 0 &&
      admission.prefill_tokens + length > config_.prefill_tokens)
    return false;
  CachedPrompt* prompt = cache_prompt(waiting_.front().prompt);
  if (prompt == nullptr) return false;
  Slot& slot = slots_[static_cast<std::size_t>(index)];
  if (!occupy(slot, *prompt)) {
    if (prompt->is_new) evict(*prompt);
    return false;
  }
  const auto row = static_cast<int>(prompt - prompts_.data());
  if (prompt->is_new) {
    admission.prefill_tokens += length;
    admission.to_compute.push_back({.row = row, .tokens = prompt->tokens, .pages = prompt->pages});
  }
  ++(prompt->is_new ? counts_.prompts_computed : counts_.prompts_shared);
  prompt->is_new = false;
  const auto whole = static_cast<std::size_t>(length / kPage);
  if (length % kPage != 0)
    admission.copies.push_back({.from = prompt->pages[whole], .to = slot.pages[whole]});
  admission.assignments.push_back({.slot = index,
                                   .prompt = row,
                                   .prompt_length = static_cast<int>(length),
                                   .pages = slot.pages,
                                   .seed = slot.request.seed,
                                   .sampling = slot.request.sampling});
  return true;
}

// Admits waiting requests to free slots while there are slots, pages and prefill tokens, and draws
// the first token of each.
Status CudaEngine::admit() {
  Admission admission;
  Launch launch;
  for (std::size_t i = 0; i < slots_.size() && !waiting_.empty(); ++i) {
    if (slots_[i].busy) continue;
    if (!admit_one(static_cast<int>(i), admission)) break;
    launch.slots.push_back(static_cast<int>(i));
    launch.sequences.push_back(slots_[i].sequence);
  }
  for (CachedPrompt& prompt : prompts_) prompt.is_in_use = false;
  if (launch.slots.empty()) return ok();
  if (!admission.to_compute.empty()) decoder_.prefill(admission.to_compute);
  decoder_.copy_pages(admission.copies);
  TRY(decoder_.assign(admission.assignments));
  launches_.push_back(std::move(launch));
  return ok();
}

Status CudaEngine::launch_step() {
  Launch launch;
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    Slot& slot = slots_[i];
    if (!slot.busy || slot.launched >= slot.request.sampling.max_new_tokens) continue;
    ++slot.launched;
    launch.slots.push_back(static_cast<int>(i));
    launch.sequences.push_back(slot.sequence);
  }
  if (launch.slots.empty()) return launches_.empty() ? ok() : read_draws();
  TRY(decoder_.step(launch.slots));
  launches_.push_back(std::move(launch));
  return ok();
}

Status CudaEngine::read_draws() {
  TRY_ASSIGN(const CudaDecoder::Draws draws, decoder_.read_oldest());
  const Launch launch = std::move(launches_.front());
  launches_.pop_front();
  for (std::size_t row = 0; row < launch.slots.size(); ++row) {
    const Slot& slot = slots_[static_cast<std::size_t>(launch.slots[row])];
    if (!slot.busy || slot.sequence != launch.sequences[row]) continue;  // it has stopped already
    if (draws.tokens[row] < 0)
      return fail(
          "the model's logits are no finite numbers; its weights are damaged, or its activations "
          "are too large for float16: set model.precision = \"bfloat16\"");
    append(launch.slots[row], draws.tokens[row], draws.logprobs[row]);
  }
  return ok();
}

// Reads and drops the draws of sequences that have stopped or failed.
Status CudaEngine::drain() {
  while (!launches_.empty()) {
    TRY(decoder_.read_oldest());
    launches_.pop_front();
  }
  return ok();
}

void CudaEngine::append(int index, TokenId token, float logprob) {
  Slot& slot = slots_[static_cast<std::size_t>(index)];
  const auto& stop_tokens = slot.request.stop_tokens;
  slot.completion.tokens.push_back(token);
  slot.completion.logprobs.push_back(logprob);
  ++counts_.tokens_decoded;
  const bool is_stop_token = std::ranges::find(stop_tokens, token) != stop_tokens.end();
  if (!is_stop_token && slot.request.on_logprob) slot.request.on_logprob(logprob);
  if (is_stop_token ||
      (slot.request.is_complete && slot.request.is_complete(slot.completion.tokens)))
    finish(index, FinishReason::stop);
  else if (std::ssize(slot.completion.tokens) >= slot.request.sampling.max_new_tokens)
    finish(index, FinishReason::length);
}

void CudaEngine::finish(int index, FinishReason reason) {
  Slot& slot = slots_[static_cast<std::size_t>(index)];
  slot.completion.finish = reason;
  finished_.push_back({.id = slot.request.id, .completion = std::move(slot.completion)});
  vacate(slot);
}

// Frees the slot. Its pages may go to another sequence at once: launches run in order, so a launch
// that still serves this sequence ends first.
void CudaEngine::vacate(Slot& slot) {
  pool_.give_back(slot.pages);
  slot.pages.clear();
  slot.busy = false;
}

}  // namespace tritonsmith::generate::engine
