#include "data/sample.h"

namespace tritonsmith {

namespace {

Json to_json(const Completion& completion) {
  Json json = {{"text", completion.text},
               {"prompt_tokens", completion.prompt},
               {"tokens", completion.tokens},
               {"logprobs", completion.logprobs},
               {"finish", name_of(completion.finish)}};
  if (!completion.reasoning.empty()) json["reasoning"] = completion.reasoning;
  // If the record holds the tokens of both, the usage adds nothing.
  const Usage& usage = completion.usage;
  if ((completion.tokens.empty() || completion.prompt.empty()) && usage != Usage{})
    json["usage"] = {{"prompt_tokens", usage.prompt_tokens},
                     {"cached_prompt_tokens", usage.cached_prompt_tokens},
                     {"completion_tokens", usage.completion_tokens},
                     {"reasoning_tokens", usage.reasoning_tokens}};
  return json;
}

Result<Completion> completion_from_json(const Json& json) {
  JsonReader reader(json);
  Completion completion{.text = reader.string("text"),
                        .finish = reader.enumerated<FinishReason>("finish"),
                        .reasoning = reader.string("reasoning", "")};
  for (const Json& id : reader.array("prompt_tokens"))
    completion.prompt.push_back(id.is_number_integer() ? id.get<TokenId>() : -1);
  for (const Json& id : reader.array("tokens"))
    completion.tokens.push_back(id.is_number_integer() ? id.get<TokenId>() : -1);
  for (const Json& logprob : reader.array("logprobs"))
    completion.logprobs.push_back(logprob.is_number() ? logprob.get<float>() : 0.0F);
  completion.usage = {.prompt_tokens = std::ssize(completion.prompt),
                      .completion_tokens = std::ssize(completion.tokens)};
  if (json.is_object() && json.contains("usage")) {
    JsonReader usage(reader.object("usage"));
    completion.usage = {.prompt_tokens = usage.integer("prompt_tokens"),
                        .cached_prompt_tokens = usage.integer("cached_prompt_tokens", 0),
                        .completion_tokens = usage.integer("completion_tokens"),
                        .reasoning_tokens = usage.integer("reasoning_tokens", 0)};
    TRY(usage.status());
  }
  TRY(reader.status());
  return completion;
}

}  // namespace

Json to_json(const Sample& sample) {
  return {{"schema", 1},
          {"step", sample.step},
          {"group", sample.group},
          {"member", sample.member},
          {"turn", sample.turn},
          {"task", sample.task_id},
          {"prompt", sample.prompt},
          {"completion", to_json(sample.completion)},
          {"kernel", sample.kernel},
          {"verdict", to_json(sample.verdict)},
          {"reward", to_json(sample.reward)},
          {"advantage", sample.advantage}};
}

Result<Sample> sample_from_json(const Json& json) {
  JsonReader reader(json);
  Sample sample{.step = reader.integer("step"),
                .group = static_cast<int>(reader.integer("group")),
                .member = static_cast<int>(reader.integer("member")),
                .turn = static_cast<int>(reader.integer("turn", 0)),
                .task_id = reader.string("task"),
                .prompt = reader.string("prompt"),
                .completion = {},
                .kernel = reader.string("kernel"),
                .verdict = {},
                .reward = {},
                .advantage = reader.number("advantage")};
  TRY_ASSIGN(sample.completion, completion_from_json(reader.object("completion")));
  TRY(reader.status());
  TRY_ASSIGN(sample.verdict, verdict_from_json(reader.object("verdict")));
  TRY_ASSIGN(sample.reward, reward_from_json(reader.object("reward")));
  return sample;
}

}  // namespace tritonsmith
