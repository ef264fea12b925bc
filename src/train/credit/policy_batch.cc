#include "train/credit/policy_batch.h"

#include <algorithm>

namespace tritonsmith::train {
namespace {

bool same_trajectory(const Sample& a, const Sample& b) {
  return a.group == b.group && a.member == b.member;
}

bool continues(const TrainingSequence& sequence, const Completion& completion) {
  const auto& before = sequence.tokens;
  return completion.prompt.size() >= before.size() &&
         std::equal(before.begin(), before.end(), completion.prompt.begin());
}

void append(std::vector<TokenId>& tokens, std::span<const TokenId> more) {
  tokens.insert(tokens.end(), more.begin(), more.end());
}

}  // namespace

PolicyBatch policy_batch(std::span<const JudgedSample> turns) {
  PolicyBatch batch;
  for (std::size_t i = 0; i < turns.size(); ++i) {
    const Completion& completion = turns[i].sample.completion;
    if (i > 0 && same_trajectory(turns[i - 1].sample, turns[i].sample) &&
        continues(batch.sequences.back(), completion)) {
      TrainingSequence& sequence = batch.sequences.back();
      const Span context{.begin = sequence.tokens.size(), .end = completion.prompt.size()};
      if (!context.empty()) sequence.context.push_back(context);
      append(sequence.tokens, std::span(completion.prompt).subspan(context.begin));
    } else {
      batch.sequences.push_back(
          {.tokens = completion.prompt, .prompt_length = completion.prompt.size(), .context = {}});
    }
    append(batch.sequences.back().tokens, completion.tokens);
    batch.sequence_of.push_back(batch.sequences.size() - 1);
    batch.sampler.push_back(completion.logprobs);
  }
  batch.counts.assign(turns.size(), 1);
  return batch;
}

}  // namespace tritonsmith::train
