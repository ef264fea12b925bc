#include "train/config/foreign_names.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "train/rl/rl_config.h"
#include "train/sft/sft.h"

namespace tritonsmith::train {
namespace {

template <typename Config>
std::vector<std::string> setting_names() {
  std::vector<std::string> all;
  for (const auto& field : Config::fields()) all.push_back(field.name);
  return all;
}

template <typename Config>
std::string refusal_of(const std::string& key) {
  Config config;
  return apply_settings(config, {{key, 1}}, "c.toml").error().message;
}

TEST(ForeignNames, NameSettingsThatExist) {
  const std::vector<std::string> rl = setting_names<RlConfig>(), sft = setting_names<SftConfig>();
  for (const ForeignName& foreign : foreign_names()) {
    if (foreign.ours.empty()) {
      EXPECT_FALSE(foreign.remark.empty()) << foreign.name << " has nothing in its place";
      continue;
    }
    const bool is_setting =
        std::ranges::count(rl, foreign.ours) + std::ranges::count(sft, foreign.ours) > 0;
    EXPECT_TRUE(is_setting || foreign.ours == "reward") << foreign.ours;
  }
}

TEST(ForeignNames, AreNoSettingsOfOurs) {
  const std::vector<std::string> rl = setting_names<RlConfig>();
  for (const ForeignName& foreign : foreign_names())
    EXPECT_EQ(std::ranges::count(rl, foreign.name), 0) << foreign.name;
}

TEST(ForeignNames, AreTranslatedInTheErrorForAnUnknownKey) {
  EXPECT_EQ(refusal_of<RlConfig>("num_generations"),
            "c.toml: unknown key 'num_generations'; TRL's option is 'rollout.samples' here");
  EXPECT_EQ(refusal_of<RlConfig>("actor_rollout_ref.rollout.n"),
            "c.toml: unknown key 'actor_rollout_ref.rollout.n'; "
            "verl's option is 'rollout.samples' here");
  EXPECT_EQ(refusal_of<RlConfig>("per_device_train_batch_size"),
            "c.toml: unknown key 'per_device_train_batch_size'; "
            "TRL's option is 'optimizer.micro_batch_tokens' here, which counts tokens");
  EXPECT_EQ(refusal_of<RlConfig>("report_to"),
            "c.toml: unknown key 'report_to'; TRL's option has no counterpart here: "
            "a run always writes JSONL and TensorBoard");
}

TEST(ForeignNames, AreFoundInAnySectionAndWithoutTheirLongPrefix) {
  const std::vector<std::string> rl = setting_names<RlConfig>();
  EXPECT_EQ(foreign_name_hint("optimizer.adam_beta2", rl),
            "TRL's option is 'optimizer.beta2' here");
  EXPECT_EQ(foreign_name_hint("actor.clip_ratio_c", rl),
            "verl's option is 'algorithm.dual_clip' here");
  EXPECT_EQ(foreign_name_hint("lora_rank", rl), "verl's option is 'lora.rank' here");
  EXPECT_EQ(foreign_name_hint("kl_coef", rl), "verl's option is 'algorithm.kl_beta' here");
  EXPECT_EQ(foreign_name_hint("algorithm.kl_loss_coef", rl),
            "verl's option is 'algorithm.kl_beta' here");
  EXPECT_EQ(foreign_name_hint("beta", rl), "TRL's option is 'algorithm.kl_beta' here");
  EXPECT_EQ(foreign_name_hint("optimizer.beta", rl), "") << "rather beta1 of our own";
  EXPECT_EQ(foreign_name_hint("optimizer.lr", rl), "");
}

TEST(ForeignNames, MeanTheSettingOfTheCommandThatRuns) {
  const std::vector<std::string> rl = setting_names<RlConfig>(), sft = setting_names<SftConfig>();
  EXPECT_EQ(foreign_name_hint("eval_steps", sft), "TRL's option is 'data.heldout_every' here");
  EXPECT_EQ(foreign_name_hint("eval_steps", rl),
            "TRL's option has no counterpart here: `tritonsmith eval` measures a checkpoint");
  EXPECT_EQ(foreign_name_hint("num_generations", sft),
            "TRL's option is 'rollout.samples' of `tritonsmith rl`");
  EXPECT_EQ(foreign_name_hint("eval_dataset", rl),
            "TRL's option is 'data.heldout' of `tritonsmith sft`");
}

TEST(ForeignNames, LeaveAKeyOfAnExistingSectionToTheNamesOfThatSection) {
  EXPECT_EQ(refusal_of<SftConfig>("data.path"),
            "c.toml: unknown key 'data.path'; did you mean one of data.examples, data.heldout, "
            "data.heldout_every, data.step_tokens, data.max_tokens, or 'model.path'?");
}

}  // namespace
}  // namespace tritonsmith::train
