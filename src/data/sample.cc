#include "data/sample.h"

namespace tritonsmith {

Json to_json(const Sample& sample) {
  return {{"schema", 1},
          {"step", sample.step},
          {"group", sample.group},
          {"member", sample.member},
          {"turn", sample.turn},
          {"task", sample.task_id},
          {"prompt", sample.prompt},
          {"completion",
           {{"text", sample.completion.text},
            {"prompt_tokens", sample.completion.prompt},
            {"tokens", sample.completion.tokens},
            {"logprobs", sample.completion.logprobs},
            {"finish", name_of(sample.completion.finish)}}},
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
  JsonReader completion(reader.object("completion"));
  sample.completion.text = completion.string("text");
  sample.completion.finish = completion.enumerated<FinishReason>("finish");
  for (const Json& id : completion.array("prompt_tokens"))
    sample.completion.prompt.push_back(id.is_number_integer() ? id.get<TokenId>() : -1);
  for (const Json& id : completion.array("tokens"))
    sample.completion.tokens.push_back(id.is_number_integer() ? id.get<TokenId>() : -1);
  for (const Json& logprob : completion.array("logprobs"))
    sample.completion.logprobs.push_back(logprob.is_number() ? logprob.get<float>() : 0.0F);
  TRY(completion.status());
  TRY(reader.status());
  TRY_ASSIGN(sample.verdict, verdict_from_json(reader.object("verdict")));
  TRY_ASSIGN(sample.reward, reward_from_json(reader.object("reward")));
  return sample;
}

}  // namespace tritonsmith
