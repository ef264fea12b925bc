#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/file.h"
#include "base/rng.h"
#include "base/temp_dir.h"
#include "model/checkpoint/checkpoint.h"
#include "model/config/generation_config.h"
#include "model/layers/aten_layer.h"
#include "model/layers/linear_logprob.h"
#include "model/memory/device.h"
#include "model/transformer/transformer.h"

namespace tritonsmith::model {
namespace {

ModelConfig tiny() {
  return {.vocab_size = 97,
          .hidden_size = 48,
          .intermediate_size = 80,
          .num_hidden_layers = 2,
          .num_attention_heads = 4,
          .num_key_value_heads = 2,
          .head_dim = 12,
          .max_position_embeddings = 256};
}

TEST(ModelConfig, ReadsBackWhatItWrites) {
  for (const Family family : {Family::qwen2, Family::qwen3, Family::llama}) {
    ModelConfig config = tiny();
    config.family = family;
    config.eos_token_id = 3;
    if (family == Family::llama) {
      config.rope_scaling = {.factor = 8, .original_max_position_embeddings = 64};
      config.more_eos_token_ids = {5, 6};
    }
    const auto again = model_config_from_json(to_json(config), "config.json");
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(*again, config);
  }
}

TEST(ModelConfig, RefusesWhatTheCodeDoesNotCompute) {
  const auto error_with = [](const char* key, Json value) {
    Json json = to_json(tiny());
    json[key] = std::move(value);
    const auto config = model_config_from_json(json, "dir/config.json");
    return config ? "accepted" : config.error().message;
  };
  EXPECT_EQ(error_with("architectures", {"Qwen2ForTokenClassification"}),
            "dir/config.json: architecture 'Qwen2ForTokenClassification' is not supported; for "
            "model_type "
            "'qwen2' only Qwen2ForCausalLM is");
  EXPECT_EQ(error_with("model_type", "gemma3"),
            "dir/config.json: model_type 'gemma3' is not supported; qwen2, qwen3 or llama are");
  EXPECT_NE(error_with("rope_scaling", {{"rope_type", "yarn"}}).find("yarn"), std::string::npos);
  EXPECT_NE(error_with("use_sliding_window", true).find("sliding"), std::string::npos);
  EXPECT_NE(error_with("rope_scaling", {{"rope_type", "llama3"}}).find("factor"),
            std::string::npos);
  EXPECT_NE(error_with("eos_token_id", "end").find("eos_token_id"), std::string::npos);
  EXPECT_NE(error_with("hidden_size", -4).find("hidden_size"), std::string::npos);
  EXPECT_NE(error_with("num_key_value_heads", 3).find("multiple"), std::string::npos);
  EXPECT_NE(error_with("vocab_size", "many").find("vocab_size"), std::string::npos);
}

// Trainer and engine make tables of different lengths and must rotate by the same angles.
TEST(RopeTable, ARowDoesNotDependOnTheLength) {
  ModelConfig config;
  config.head_dim = 128;
  config.rope_theta = 1e6;
  const RopeTable whole = make_rope_table(config, 5000, at::kFloat);
  for (const std::int64_t length : {1, 37, 128, 1280, 4999}) {
    const RopeTable some = make_rope_table(config, length, at::kFloat);
    EXPECT_TRUE(at::equal(some.cos, whole.cos.narrow(0, 0, length))) << length;
    EXPECT_TRUE(at::equal(some.sin, whole.sin.narrow(0, 0, length))) << length;
  }
}

TEST(ModelConfig, ReadsTheRopeBaseFromBothKeys) {
  Json json = to_json(tiny());
  json["rope_theta"] = 5e5;
  EXPECT_EQ(model_config_from_json(json, "")->rope_theta, 5e5);
  json.erase("rope_theta");
  json["rope_parameters"] = {{"rope_type", "default"}, {"rope_theta", 1e6}};
  EXPECT_EQ(model_config_from_json(json, "")->rope_theta, 1e6);
}

TEST(Transformer, SequencesOfAPackedBatchDoNotSeeEachOther) {
  const Transformer model = Transformer::random(tiny(), 1);
  const at::NoGradGuard no_grad;
  const std::vector<TokenId> first = {1, 2, 3, 4, 5}, second = {9, 8, 7};
  const auto both =
      model.forward(pack(std::vector<std::vector<TokenId>>{first, second}, c10::kCPU));
  const auto alone = model.forward(pack(std::vector<std::vector<TokenId>>{second}, c10::kCPU));
  EXPECT_LT((both.narrow(0, 5, 3) - alone).abs().max().item<double>(), 1e-6);
}

TEST(Transformer, LaterTokensDoNotChangeEarlierOnes) {
  const Transformer model = Transformer::random(tiny(), 1);
  const at::NoGradGuard no_grad;
  const auto a = model.forward(pack(std::vector<std::vector<TokenId>>{{1, 2, 3, 4}}, c10::kCPU));
  const auto b = model.forward(pack(std::vector<std::vector<TokenId>>{{1, 2, 3, 90}}, c10::kCPU));
  EXPECT_LT((a - b).narrow(0, 0, 3).abs().max().item<double>(), 1e-6);
  EXPECT_GT((a - b).narrow(0, 3, 1).abs().max().item<double>(), 1e-3);
}

TEST(Transformer, WeightsAreAFunctionOfTheSeed) {
  const auto a = Transformer::random(tiny(), 7), b = Transformer::random(tiny(), 7),
             c = Transformer::random(tiny(), 8);
  EXPECT_TRUE(at::equal(a.embedding(), b.embedding()));
  EXPECT_FALSE(at::equal(a.embedding(), c.embedding()));
  EXPECT_NEAR(a.embedding().std().item<double>(), 0.02, 0.001);
}

TEST(Transformer, LargeWeightsDoNotRepeatNorDependOnTheThreads) {
  ModelConfig config = tiny();
  config.vocab_size = (std::int64_t{1} << 23) / config.hidden_size + 1;  // drawn in three blocks
  const auto weights = [&](int threads) {
    at::set_num_threads(threads);
    return Transformer::random(config, 7).embedding().detach().view({-1});
  };
  const int before = at::get_num_threads();
  const at::Tensor alone = weights(1), together = weights(3);
  at::set_num_threads(before);
  EXPECT_TRUE(at::equal(alone, together));
  constexpr std::int64_t kBlock = std::int64_t{1} << 22;
  const at::Tensor first = alone.narrow(0, 0, kBlock), second = alone.narrow(0, kBlock, kBlock);
  EXPECT_LT((first * second).mean().abs().item<double>(), 1e-6);  // their deviation is 0.02
  EXPECT_NEAR(second.std().item<double>(), 0.02, 0.001);
  EXPECT_GT(alone.narrow(0, 2 * kBlock, alone.numel() - 2 * kBlock).abs().max().item<double>(),
            0.01);
}

TEST(Checkpoint, GivesTheSameWeightsBack) {
  const auto dir = TempDir::make("model-test");
  for (const bool tied : {true, false}) {
    ModelConfig config = tiny();
    config.tie_word_embeddings = tied;
    const auto model = Transformer::random(config, 3);
    ASSERT_TRUE(save_model(model, dir->path() / "m"));
    const auto again = load_model(dir->path() / "m");
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(again->config(), config);
    for (std::size_t i = 0; i < model.parameters().size(); ++i)
      EXPECT_TRUE(at::equal(again->parameters()[i].tensor, model.parameters()[i].tensor));
  }
}

class DamagedCheckpoint : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(save_model(Transformer::random(tiny(), 3), dir_->path()));
    bytes_ = *read_file(weights());
  }
  std::filesystem::path weights() const { return dir_->path() / "model.safetensors"; }
  std::string error_of(const std::string& bytes) {
    std::ofstream(weights(), std::ios::binary) << bytes;
    const auto model = load_model(dir_->path());
    return model ? "accepted" : model.error().message;
  }
  Result<TempDir> dir_ = TempDir::make("model-test");
  std::string bytes_;
};

TEST_F(DamagedCheckpoint, IsRefusedWithTheNameOfTheFile) {
  const std::string name = weights().string();
  for (const std::size_t kept : {0ul, 5ul, 100ul, bytes_.size() / 2, bytes_.size() - 1}) {
    const std::string error = error_of(bytes_.substr(0, kept));
    EXPECT_EQ(error.rfind(name, 0), 0u) << error;
    EXPECT_EQ(error.find('\n'), std::string::npos);
  }
  std::string huge = bytes_;
  huge[6] = 1;  // a header of 2^48 bytes
  EXPECT_NE(error_of(huge).find("claims"), std::string::npos);
}

TEST_F(DamagedCheckpoint, NeverCrashesOnFlippedHeaderBytes) {
  Rng rng(1, "flip", 0);
  const std::size_t header = std::min<std::size_t>(bytes_.size(), 2000);
  for (int i = 0; i < 300; ++i) {
    std::string bad = bytes_;
    bad[rng.below(header)] = static_cast<char>(rng.below(256));
    std::ofstream(weights(), std::ios::binary) << bad;
    const auto file = SafetensorsFile::open(weights());
    if (!file) continue;
    for (const auto& [tensor_name, entry] : file->entries()) EXPECT_TRUE(file->tensor(tensor_name));
  }
}

TEST_F(DamagedCheckpoint, NamesTensorsThatAreMissingTooManyOrOfTheWrongShape) {
  const auto model = Transformer::random(tiny(), 3);
  auto tensors = model.parameters();
  const auto error_with = [&](const std::vector<NamedTensor>& list) {
    EXPECT_TRUE(write_safetensors(weights(), list));
    return load_model(dir_->path()).error().message;
  };
  tensors.pop_back();
  EXPECT_EQ(error_with(tensors), weights().string() + ": tensor 'model.norm.weight' is missing");
  tensors.push_back({"model.norm.weight", at::zeros({49})});
  EXPECT_EQ(error_with(tensors),
            weights().string() + ": tensor 'model.norm.weight' has shape [49], but [48] is needed");
  tensors.back().tensor = at::zeros({48});
  tensors.push_back({"lm_head.bias", at::zeros({97})});
  EXPECT_EQ(error_with(tensors),
            weights().string() + ": tensor 'lm_head.bias' does not belong to this model");
  tensors.back() = {"lm_head.weight", at::zeros({97, 48})};
  EXPECT_EQ(error_with(tensors), weights().string() +
                                     ": tie_word_embeddings is true, but 'lm_head.weight' is not "
                                     "'model.embed_tokens.weight'");
}

TEST_F(DamagedCheckpoint, MayListATiedHeadAndBuffersThatFollowFromTheConfig) {
  auto tensors = Transformer::random(tiny(), 3).parameters();
  tensors.push_back({"lm_head.weight", tensors.front().tensor});
  tensors.push_back({"model.layers.0.self_attn.rotary_emb.inv_freq", at::ones({6})});
  ASSERT_TRUE(write_safetensors(weights(), tensors));
  const auto model = load_model(dir_->path());
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_TRUE(at::equal(model->head_weight(), tensors.front().tensor));
}

TEST(GenerationConfig, GivesTheTokensThatEndGeneration) {
  const auto dir = TempDir::make("model-test");
  const auto file = dir->path() / "generation_config.json";
  const auto ends = [&] { return end_tokens(dir->path(), tiny()); };
  EXPECT_EQ(ends()->size(), 0u);  // the file is optional
  std::ofstream(file) << R"({"eos_token_id": [5, 6], "temperature": 0.7})";
  EXPECT_EQ(*ends(), (std::vector<TokenId>{5, 6}));
  std::ofstream(file) << R"({"eos_token_id": 7})";
  EXPECT_EQ(*ends(), std::vector<TokenId>{7});
  std::ofstream(file) << R"({"eos_token_id": 97})";
  EXPECT_EQ(ends().error().message,
            file.string() + ": eos_token_id 97 is no token of this model; its ids are 0 to 96");
  std::ofstream(file) << "{";
  EXPECT_NE(ends().error().message.find(file.string()), std::string::npos);
}

TEST(Checkpoint, NamesTheDirectoryThatIsNotThere) {
  EXPECT_EQ(load_model("/no/model").error().message,
            "/no/model does not exist; name a model's directory, or OWNER/NAME of the hub");
}

TEST(Device, TheCpuIsAlwaysThere) {
  EXPECT_EQ(open_device(DeviceChoice::cpu), c10::Device(c10::kCPU));
  EXPECT_TRUE(open_device(DeviceChoice::automatic));
}

}  // namespace
}  // namespace tritonsmith::model
