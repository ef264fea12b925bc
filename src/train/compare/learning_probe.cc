// Runs our trainer and engine for compare_learning.py:
//   learning_probe step DIR SEQUENCES SETTINGS OUT   gradients of one SFT step, then an AdamW step:
//     OUT/gradients.safetensors and the updated model in OUT. SEQUENCES is a JSON list of
//     {prompt_length, tokens}; SETTINGS a JSON object of optimizer settings.
//   learning_probe adapt DIR ADAPTER SEQUENCES SETTINGS OUT   the same for the adapter alone
//   learning_probe greedy DIR IDS COUNT                       prints the ids that follow
#include <ATen/ATen.h>

#include <cstdio>
#include <numeric>

#include "base/file.h"
#include "generate/engine/engine.h"
#include "model/weights/safetensors.h"
#include "train/gradient/sft_gradient.h"

namespace tritonsmith::train {
namespace {

using Words = std::vector<std::string>;

Result<std::vector<TrainingSequence>> read_sequences(const std::string& text) {
  TRY_ASSIGN(const Json json, parse_json(text));
  std::vector<TrainingSequence> sequences;
  for (const Json& each : json) {
    TrainingSequence sequence{.prompt_length = each.at("prompt_length").get<std::size_t>()};
    sequence.tokens = each.at("tokens").get<std::vector<TokenId>>();
    sequences.push_back(std::move(sequence));
  }
  return sequences;
}

Result<OptimizerSection> read_settings(const std::string& text) {
  TRY_ASSIGN(const Json json, parse_json(text));
  OptimizerSection section;
  Settings settings;
  for (const auto& [name, value] : json.items()) settings.emplace_back(name, value);
  TRY(apply_settings(section, settings, "settings"));
  return section;
}

Status write_gradients(const std::vector<model::NamedTensor>& parameters,
                       const std::string& directory) {
  std::vector<model::NamedTensor> gradients;
  for (const auto& [name, tensor] : parameters)
    gradients.push_back({.name = name, .tensor = tensor.grad()});
  TRY(make_directories(directory));
  return model::write_safetensors(directory + "/gradients.safetensors", gradients);
}

struct Step {
  std::string model, sequences, settings, out;
};

Status take_step(Learner& learner, const std::vector<model::NamedTensor>& parameters,
                 const Step& step) {
  TRY_ASSIGN(const auto sequences, read_sequences(step.sequences));
  TRY_ASSIGN(const auto settings, read_settings(step.settings));
  std::vector<std::size_t> members(sequences.size());
  std::iota(members.begin(), members.end(), std::size_t{0});
  set_sft_gradient(learner, sequences, members, {.budget = settings.micro_batch_tokens});
  TRY(write_gradients(parameters, step.out));
  TRY(learner.update(settings, 10));
  return learner.save(step.out, step.model);
}

Status step(const Step& step) {
  TRY_ASSIGN(Learner learner, Learner::start(step.model, c10::kCPU));
  return take_step(learner, learner.model().parameters(), step);
}

Status adapt(const std::string& adapter, const Step& step) {
  TRY_ASSIGN(Learner learner, Learner::start_from(step.model, adapter, c10::kCPU));
  return take_step(learner, learner.adapter()->parameters(), step);
}

Status greedy(const std::string& directory, const std::string& ids, int count) {
  TRY_ASSIGN(const Json prompt, parse_json(ids));
  TRY_ASSIGN(Learner learner, Learner::start(directory, c10::kCPU));
  generate::engine::Engine engine(learner.model(), {.slots = 2});
  const generate::GenerationRequest request{
      .id = 1, .prompt = prompt, .sampling = {.temperature = 0, .max_new_tokens = count}};
  TRY_ASSIGN(const auto completions, generate::generate_all(engine, std::span(&request, 1)));
  std::puts(to_line(completions.front().tokens).c_str());
  return ok();
}

Status run(const Words& words) {
  if (words.size() == 5 && words[0] == "step")
    return step({.model = words[1], .sequences = words[2], .settings = words[3], .out = words[4]});
  if (words.size() == 6 && words[0] == "adapt")
    return adapt(words[2],
                 {.model = words[1], .sequences = words[3], .settings = words[4], .out = words[5]});
  if (words.size() == 4 && words[0] == "greedy")
    return greedy(words[1], words[2], std::stoi(words[3]));
  return fail("learning_probe step|adapt|greedy ...");
}

}  // namespace
}  // namespace tritonsmith::train

int main(int argc, char** argv) {
  const auto status = tritonsmith::train::run({argv + 1, argv + argc});
  if (!status) std::fprintf(stderr, "%s\n", status.error().message.c_str());
  return status ? 0 : 1;
}
