#include "model/lora/lora.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/check.h"
#include "base/file.h"
#include "base/temp_dir.h"
#include "model/checkpoint/checkpoint.h"
#include "model/transformer/testing/tiny_model.h"

namespace tritonsmith::model {
namespace {

std::vector<at::Tensor> weights_of(const Transformer& model) {
  std::vector<at::Tensor> copies;
  for (const auto& [name, tensor] : model.parameters()) copies.push_back(tensor.detach().clone());
  return copies;
}

bool same(const std::vector<at::Tensor>& a, const std::vector<at::Tensor>& b) {
  return std::ranges::equal(a, b, [](const auto& x, const auto& y) { return at::equal(x, y); });
}

LoraAdapter adapter_of(const Transformer& model, const LoraConfig& config = {.rank = 3}) {
  auto adapter = LoraAdapter::make(model, config, 7);
  CHECK(adapter, "{}", adapter.error().message);
  return *std::move(adapter);
}

// Fills A and B with random numbers.
void stir(LoraAdapter& adapter) {
  at::manual_seed(1);
  for (const auto& each : adapter.parameters()) each.tensor.copy_(at::randn_like(each.tensor));
  adapter.merge();
}

TEST(Lora, ChangesNothingAsItBegins) {
  const Transformer model = tiny_model();
  const auto before = weights_of(model);
  LoraAdapter adapter = adapter_of(model);
  adapter.merge();
  EXPECT_TRUE(same(weights_of(model), before));
  EXPECT_EQ(adapter.parameters().size(), 2U * 7 * 2);  // A and B of seven modules in two layers
}

TEST(Lora, AddsItsScaledProductToItsTargetsAlone) {
  const Transformer model = tiny_model();
  const auto before = weights_of(model);
  LoraAdapter adapter = adapter_of(model, {.rank = 4, .alpha = 10, .targets = {"k_proj"}});
  stir(adapter);
  const at::Tensor a = adapter.parameters()[0].tensor, b = adapter.parameters()[1].tensor;
  EXPECT_EQ(adapter.parameters()[0].name,
            "base_model.model.model.layers.0.self_attn.k_proj.lora_A.weight");
  for (std::size_t i = 0; i < before.size(); ++i) {
    const auto& [name, now] = model.parameters()[i];
    if (name == "model.layers.0.self_attn.k_proj.weight") {
      EXPECT_LT((now - (before[i] + 2.5 * at::matmul(b, a))).abs().max().item<double>(), 1e-5);
    } else if (name != "model.layers.1.self_attn.k_proj.weight") {
      EXPECT_TRUE(at::equal(now, before[i])) << name;
    }
  }
}

TEST(Lora, KeepsWhatItIsAddedToExactly) {
  for (const bool rounded : {true, false}) {
    const Transformer model = tiny_model();
    const at::NoGradGuard no_grad;
    if (rounded)
      for (const auto& each : model.parameters())
        each.tensor.copy_(each.tensor.to(at::kBFloat16).to(at::kFloat));
    const auto before = weights_of(model);
    LoraAdapter adapter = adapter_of(model);
    stir(adapter);
    EXPECT_FALSE(same(weights_of(model), before));
    for (const auto& each : adapter.parameters()) each.tensor.zero_();
    adapter.merge();
    EXPECT_TRUE(same(weights_of(model), before));
  }
}

TEST(Lora, CopiesWhatItIsNow) {
  const Transformer model = tiny_model();
  LoraAdapter adapter = adapter_of(model, {.rank = 2, .targets = {"v_proj"}});
  stir(adapter);
  const at::Tensor merged = model.layers()[1].v.detach().clone();
  const LoraAdapter copy = adapter.copy();
  for (const auto& each : adapter.parameters()) each.tensor.zero_();
  adapter.merge();
  const at::Tensor again = copy.merged("model.layers.1.self_attn.v_proj.weight");
  EXPECT_LT((again - merged).abs().max().item<double>(), 1e-5);
  EXPECT_GT((model.layers()[1].v - merged).abs().max().item<double>(), 0.1);
  EXPECT_FALSE(copy.merged("model.layers.1.self_attn.q_proj.weight").defined());
}

TEST(Lora, TakesTheGradientsThatAutogradFinds) {
  const Transformer model = tiny_model();
  LoraAdapter adapter = adapter_of(model, {.rank = 2, .alpha = 6, .targets = {"down_proj"}});
  stir(adapter);
  at::Tensor a = adapter.parameters()[0].tensor, b = adapter.parameters()[1].tensor;
  for (const auto& each : adapter.parameters()) {
    at::Tensor tensor = each.tensor;
    tensor.mutable_grad() = at::zeros_like(tensor);
  }
  for (const LayerWeights& layer : model.layers()) {
    at::Tensor weight = layer.down;
    weight.mutable_grad() = at::randn_like(weight);
  }
  adapter.take_gradients();
  const at::Tensor free_a = a.detach().clone().requires_grad_(true);
  const at::Tensor free_b = b.detach().clone().requires_grad_(true);
  (model.layers()[0].down.grad() * 3 * at::matmul(free_b, free_a)).sum().backward();
  EXPECT_GT(free_a.grad().norm().item<double>(), 1.0);
  EXPECT_LT((a.grad() - free_a.grad()).abs().max().item<double>(), 1e-4);
  EXPECT_LT((b.grad() - free_b.grad()).abs().max().item<double>(), 1e-4);
}

class LoraFiles : public testing::Test {
 protected:
  void SetUp() override {
    LoraAdapter adapter = adapter_of(model_);
    stir(adapter);
    ASSERT_TRUE(adapter.save(dir_->path(), "base"));
  }
  std::filesystem::path config() const { return dir_->path() / "adapter_config.json"; }
  // Returns the error of loading with these settings changed, without the name of the file.
  std::string refusal(const Json& changed) const {
    Json json = *parse_json(*read_file(config()));
    json.merge_patch(changed);
    const auto other = dir_->path() / "changed";
    std::filesystem::create_directories(other);
    std::filesystem::copy_file(dir_->path() / "adapter_model.safetensors",
                               other / "adapter_model.safetensors",
                               std::filesystem::copy_options::overwrite_existing);
    std::ofstream(other / "adapter_config.json") << json;
    const Transformer model = tiny_model();
    const auto adapter = LoraAdapter::load(model, other);
    if (adapter) return "";
    const std::string message = adapter.error().message;
    EXPECT_EQ(message.rfind(other.string(), 0), 0U) << message;
    return message.substr(message.find(": ") + 2);
  }
  const Transformer model_ = tiny_model();
  Result<TempDir> dir_ = TempDir::make("lora");
};

TEST_F(LoraFiles, GiveTheSameMergedModelAgain) {
  const Transformer again = tiny_model();
  const auto loaded = LoraAdapter::load(again, dir_->path());
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_TRUE(same(weights_of(again), weights_of(model_)));
  EXPECT_TRUE(is_adapter(dir_->path()));
  EXPECT_FALSE(is_adapter("/no/adapter"));
}

TEST_F(LoraFiles, MayAskForTheRootOfTheRank) { EXPECT_EQ(refusal({{"use_rslora", true}}), ""); }

TEST_F(LoraFiles, AreRefusedWhereTheyAskForMoreThanTheFormula) {
  EXPECT_EQ(refusal(Json::object()), "");
  EXPECT_EQ(refusal({{"peft_type", "LOHA"}}), "peft_type 'LOHA' is not supported; LORA is");
  EXPECT_EQ(refusal({{"bias", "all"}}), "bias 'all' is not supported; none is");
  EXPECT_EQ(refusal({{"use_dora", true}}), "use_dora is not supported");
  EXPECT_EQ(refusal({{"rank_pattern", {{"q_proj", 8}}}}), "rank_pattern is not supported");
  EXPECT_EQ(refusal({{"modules_to_save", {"lm_head"}}}), "modules_to_save is not supported");
  EXPECT_EQ(refusal({{"target_modules", {"lm_head"}}}),
            "'lm_head' is no module that can be adapted; q_proj, k_proj, v_proj, o_proj, "
            "gate_proj, up_proj, down_proj are");
  EXPECT_EQ(refusal({{"target_modules", ".*proj"}}),
            "target_modules must be a list of names, or \"all-linear\"");
  EXPECT_EQ(refusal({{"r", 0}}), "a rank of at least 1 is needed, not 0");
}

TEST_F(LoraFiles, MustFitTheModel) {
  EXPECT_EQ(refusal({{"r", 5}}),
            "tensor 'base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight' has shape "
            "[3, 24], but [5, 24] is needed; name the model that the adapter was trained on");
  EXPECT_EQ(refusal({{"target_modules", {"q_proj"}}}),
            "tensor 'base_model.model.model.layers.0.mlp.down_proj.lora_A.weight' does not belong "
            "to this model; name the model that the adapter was trained on");
}

TEST_F(LoraFiles, AreMissedByTheirDirectory) {
  std::filesystem::remove(config());
  EXPECT_EQ(LoraAdapter::load(model_, dir_->path()).error().message,
            dir_->path().string() +
                " has no adapter_config.json; name a LoRA adapter in PEFT's layout, such as "
                "RUN/checkpoints/step-N/adapter");
}

}  // namespace
}  // namespace tritonsmith::model
