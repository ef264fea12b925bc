#include "modules/captured.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "base/temp_dir.h"

namespace tritonsmith::modules {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

CapturedModule block_of(std::string init, std::int64_t calls) {
  return {.name = "Block",
          .target = "net/block.py:Block",
          .init = std::move(init),
          .given = {"x"},
          .is_own = true,
          .instances = 1,
          .calls = calls,
          .inputs = {{.text = "torch.randn((4, 8))", .calls = calls}}};
}

class CapturedFile : public testing::Test {
 protected:
  void write(const std::vector<CapturedModule>& modules) {
    ASSERT_TRUE(write_capture_file(file_, modules));
  }
  Result<CapturedArguments> arguments(const std::string& suffix = "",
                                      std::string_view target = "net/block.py:Block",
                                      bool has_init = false) const {
    return captured_arguments(file_.string() + suffix, target,
                              {.most_inputs = 2, .has_init = has_init, .dtype = dtype_});
  }
  TempDir folder_ = *TempDir::make("captured");
  std::filesystem::path file_ = folder_.path() / "captured.json";
  std::string dtype_;
};

TEST(Captured, JoinsTheRecordsOfSeveralProcesses) {
  CapturedModule other = block_of("64", 3);
  other.inputs.push_back({.text = "torch.randn((8, 8))", .calls = 5});
  CapturedModule linear{.name = "Linear", .instances = 1, .calls = 100};
  const auto all = joined({linear, block_of("64", 2), other, block_of("32", 9)});
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].init, "32");
  EXPECT_EQ(all[1].init, "64");
  EXPECT_EQ(all[1].calls, 5);
  EXPECT_EQ(all[1].instances, 2);
  ASSERT_EQ(all[1].inputs.size(), 2U);
  EXPECT_EQ(all[1].inputs[0].calls, 5);
  EXPECT_EQ(all[1].inputs[1].text, "torch.randn((8, 8))");
  EXPECT_EQ(all[2].name, "Linear") << "the user's own classes come first";
}

TEST(Captured, NamesAClassByItselfOrWithItsLocation) {
  const std::vector<CapturedModule> all = {block_of("64", 2), {.name = "Linear"}};
  for (const char* name : {"Block", "net/block.py:Block", "net.block:Block"}) {
    const auto chosen = chosen_modules(all, {name});
    ASSERT_TRUE(chosen) << name;
    EXPECT_EQ(chosen->size(), 1U);
    EXPECT_EQ(chosen->front().name, "Block");
  }
  const auto none = chosen_modules(all, {"Blok"});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().message, "the command called no Blok; did you mean Block?");
}

TEST(Captured, NamesWhatAPackageHasFromAModuleOfItsOwn) {
  const std::vector<CapturedModule> all = {
      {.name = "rms_norm", .target = "kit/ops.py:rms_norm"},
      {.name = "Linear", .target = "torch.nn.modules.linear:Linear"}};
  EXPECT_EQ(chosen_modules(all, {"kit:rms_norm"})->front().name, "rms_norm");
  EXPECT_EQ(chosen_modules(all, {"torch.nn:Linear"})->front().name, "Linear");
  EXPECT_FALSE(chosen_modules(all, {"other:rms_norm"}));
}

TEST_F(CapturedFile, GivesTensorsInAutocastsTypeForWeightsOfThatType) {
  CapturedModule block = block_of("64", 2);
  block.inputs[0].autocast = "bf16";
  block.inputs[0].autocast_text = "torch.randn((4, 8)).to(torch.bfloat16)";
  write({block});
  EXPECT_THAT(arguments()->inputs, ElementsAre("torch.randn((4, 8))"));
  dtype_ = "bf16";
  EXPECT_THAT(arguments()->inputs, ElementsAre("torch.randn((4, 8)).to(torch.bfloat16)"));
  dtype_ = "torch.bfloat16";
  EXPECT_THAT(arguments()->inputs, ElementsAre("torch.randn((4, 8)).to(torch.bfloat16)"));
  dtype_ = "fp16";
  EXPECT_THAT(arguments()->inputs, ElementsAre("torch.randn((4, 8))"));
}

TEST_F(CapturedFile, GivesTheArgumentsOfAClass) {
  CapturedModule second = block_of("32, bias=False", 1);
  second.dtype = "bf16";
  write({block_of("64", 2), second});
  const auto first = arguments();
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_EQ(first->init, "64");
  EXPECT_EQ(first->dtype, "");
  EXPECT_THAT(first->inputs, ElementsAre("torch.randn((4, 8))"));
  const auto chosen = arguments(":2", "net:Block");
  ASSERT_TRUE(chosen) << chosen.error().message;
  EXPECT_EQ(chosen->init, "32, bias=False");
  EXPECT_EQ(chosen->dtype, "bf16");
  EXPECT_TRUE(arguments("", "net:Block")) << "the package may give the class another name";
}

TEST_F(CapturedFile, TakesTheMostFrequentCallsThatTextCanSay) {
  CapturedModule block = block_of("64", 2);
  block.inputs.insert(block.inputs.begin(), {.problem = "`x` is a Batch", .calls = 9});
  for (const char* text : {"a", "b", "c"}) block.inputs.push_back({.text = text, .calls = 1});
  write({block});
  const auto found = arguments();
  ASSERT_TRUE(found);
  EXPECT_THAT(found->inputs, ElementsAre("torch.randn((4, 8))", "a"));
  EXPECT_EQ(found->left_out, 2U);
}

TEST_F(CapturedFile, SaysWhatIsMissing) {
  CapturedModule block = block_of("", 2);
  block.init_problem = "`config` is a Config, which cannot be written as text";
  write({block});
  EXPECT_THAT(arguments().error().message, HasSubstr("because `config` is a Config"));
  EXPECT_TRUE(arguments("", "net/block.py:Block", true));
  EXPECT_THAT(arguments(":2").error().message, HasSubstr("holds 1 modules, none of number 2"));
  EXPECT_THAT(arguments("", "a.py:Other").error().message,
              HasSubstr("holds no call of a.py:Other"));
  EXPECT_THAT(arguments(":1", "a.py:Other").error().message,
              HasSubstr("number 1 is Block and not Other"));
  block.init_problem = "";
  block.inputs = {{.problem = "`x` is a Batch", .calls = 9}};
  write({block});
  EXPECT_THAT(arguments().error().message, HasSubstr("because `x` is a Batch; give --inputs"));
}

TEST_F(CapturedFile, ReplacesNoFileOfAnotherKind) {
  EXPECT_TRUE(check_capture_file(file_));
  write({block_of("64", 2)});
  EXPECT_TRUE(check_capture_file(file_));
  for (const char* other : {"no JSON", "{}", "[]", "{\"tritonsmith_capture\": \"1\"}"}) {
    ASSERT_TRUE(write_file_atomic(file_, other));
    EXPECT_FALSE(check_capture_file(file_)) << other;
    EXPECT_FALSE(arguments()) << other;
  }
}

}  // namespace
}  // namespace tritonsmith::modules
