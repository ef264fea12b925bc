#include "gym/plan/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <limits>

#include "base/base64.h"
#include "base/rng.h"

namespace tritonsmith::gym::plan {
namespace {

using testing::HasSubstr;

// A candidate that computes y = relu(x + w). It has one parameter, one constant, one temporary, and
// a launch with two choices.
Json small_plan() {
  return Json::parse(R"({
    "format": 1, "role": "candidate", "target": "sm_90",
    "tensors": [
      {"dtype": "float32", "shape": [4, 8], "stride": [8, 1], "offset": 0, "storage": 0, "storage_bytes": 128},
      {"dtype": "float32", "shape": [8], "stride": [1], "offset": 0, "storage": 1, "storage_bytes": 32},
      {"dtype": "float32", "shape": [4, 8], "stride": [8, 1], "offset": 0, "storage": 2, "storage_bytes": 128},
      {"dtype": "int64", "shape": [2], "stride": [1], "offset": 0, "storage": 3, "storage_bytes": 16}],
    "init_args": [{"i": 8}, {"list": [{"none": true}, {"dtype": "float16"}]}],
    "inputs": [{"tensor": 0}, {"value": {"f": "inf"}}],
    "parameters": [{"name": "weight", "tensor": 1, "kind": "parameter", "read": true}],
    "kernels": [{"name": "relu", "ttir": "module {}", "num_warps": 4, "num_stages": 3, "num_ctas": 1,
                 "enable_fp_fusion": false, "arguments": ["*fp32", "*fp32", "i32", "fp32"], "line": 7}],
    "steps": [
      {"phase": "init", "aten": "aten::empty.memory_format", "args": [{"list": [{"i": 8}]}],
       "kwargs": {"device": {"device": "cpu"}}, "outputs": [1], "line": 3},
      {"phase": "init", "aten": "aten::uniform_", "args": [{"t": 1}, {"f": -0.5}, {"f": 0.5}], "kwargs": {}, "outputs": [1]},
      {"phase": "forward", "constant": "AQAAAAAAAAACAAAAAAAAAA==", "outputs": [3]},
      {"phase": "forward", "aten": "aten::add.Tensor", "args": [{"t": 0}, {"t": 1}], "kwargs": {}, "outputs": [2], "line": 9},
      {"phase": "forward", "tuned": true, "line": 10, "launch": [
        {"kernel": 0, "grid": [4, 1, 1], "arguments": [{"t": 2}, {"t": 2}, {"i": 32}, {"f": 1.5}]},
        {"kernel": 0, "grid": [2, 1, 1], "arguments": [{"t": 2}, {"t": 2}, {"i": 32}, {"f": 1.5}], "config": "BLOCK: 64"}]}],
    "outputs": {"dict": [["y", {"t": 2}], ["n", {"complex": [1, "nan"]}]]},
    "mutated_inputs": [0]})");
}

// Replaces one member of the document, named by a JSON pointer, and returns parse_plan's error.
std::string refusal(const std::string& pointer, Json value) {
  Json json = small_plan();
  json[Json::json_pointer(pointer)] = std::move(value);
  const auto plan = parse_plan(to_line(json));
  return plan ? "accepted" : plan.error().message;
}

TEST(Plan, OfATaskMayLackItsForwardAndSayWhy) {
  Json json = small_plan();
  json["role"] = "task";
  json["unplanned"] = "line 9: data_dependent: .item()";
  EXPECT_FALSE(parse_plan(to_line(json))) << "it has steps of forward";
  Json draw = json["steps"][0];
  draw.update({{"phase", "inputs"}, {"outputs", {0}}});
  json["steps"] = {json["steps"][0], json["steps"][1], draw};
  json["kernels"] = Json::array();
  EXPECT_FALSE(parse_plan(to_line(json))) << "it has outputs";
  json.erase("outputs");
  const auto plan = parse_plan(to_line(json));
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(to_json(*plan)["unplanned"], json["unplanned"]);
  EXPECT_FALSE(to_json(*plan).contains("first_call_only"));
  json["role"] = "candidate";
  EXPECT_FALSE(parse_plan(to_line(json)));
}

TEST(Plan, IsReadAndWrittenWithoutLoss) {
  const auto plan = parse_plan(to_line(small_plan()));
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(plan->kernels[0].arguments.size(), 4u);
  EXPECT_FALSE(plan->kernels[0].enable_fp_fusion);
  EXPECT_EQ(std::get<LaunchStep>(plan->steps[4].action).choices[1].grid[0], 2);
  EXPECT_EQ(std::get<ConstantStep>(plan->steps[2].action).bytes.size(), 16u);
  const Json written = to_json(*plan);
  const auto again = parse_plan(to_line(written));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(to_json(*again), written);
}

TEST(Plan, NamesItsInputsByPlainIdentifiers) {
  Json json = small_plan();
  json["input_names"] = {"x", ""};
  const auto plan = parse_plan(to_line(json));
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(to_json(*plan)["input_names"], json["input_names"]);
  EXPECT_THAT(refusal("/input_names", {"x", "y", "z"}), HasSubstr("more names than inputs"));
  EXPECT_THAT(refusal("/input_names", {"x`, which is right"}), HasSubstr("must be an identifier"));
  EXPECT_THAT(refusal("/input_names", {7}), HasSubstr("a name is no string"));
  EXPECT_THAT(refusal("/input_names", {std::string(300, 'x')}), HasSubstr("too long"));
}

TEST(Plan, RefusesTensorsThatLeaveTheirStorage) {
  EXPECT_THAT(refusal("/tensors/0/shape/0", 5),
              HasSubstr("it ends at byte 160 of a storage of 128"));
  EXPECT_THAT(refusal("/tensors/0/offset", 1), HasSubstr("it ends at byte"));
  EXPECT_THAT(refusal("/tensors/0/stride/0", 9), HasSubstr("it ends at byte"));
  EXPECT_THAT(refusal("/tensors/0/stride", Json::array({1})),
              HasSubstr("2 dimensions but 1 strides"));
  EXPECT_THAT(refusal("/tensors/1/storage", 0), HasSubstr("two sizes"));
  EXPECT_THAT(refusal("/tensors/0/shape/0", -1), HasSubstr("between"));
  EXPECT_THAT(refusal("/tensors/0/dtype", "float99"), HasSubstr("float99"));
}

TEST(Plan, RefusesSizesThatOverflow) {
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  for (const std::int64_t huge : {most, most / 8, std::int64_t{1} << 32, std::int64_t{1} << 61}) {
    EXPECT_THAT(refusal("/tensors/0/shape", Json::array({huge, huge})), HasSubstr("out of range"));
    EXPECT_NE(refusal("/tensors/0/stride/0", huge), "accepted");
    EXPECT_NE(refusal("/tensors/0/offset", huge), "accepted");
  }
  EXPECT_THAT(refusal("/tensors/0/offset", Json(std::numeric_limits<std::uint64_t>::max())),
              HasSubstr("64 bits"));
}

TEST(Plan, RefusesTensorsReadBeforeTheyAreMade) {
  EXPECT_THAT(refusal("/steps/3/args/1", {{"t", 2}}),
              HasSubstr("tensor 2 is read before it is made"));
  EXPECT_THAT(refusal("/steps/3/args/1", {{"t", 99}}), HasSubstr("tensor 99 does not exist"));
  EXPECT_THAT(refusal("/steps/3/args/1", {{"t", -1}}), HasSubstr("out of range"));
  EXPECT_THAT(refusal("/outputs", {{"tuple", {{{"t", 7}}}}}), HasSubstr("outputs: tensor 7"));
  EXPECT_THAT(refusal("/parameters/0/tensor", 9), HasSubstr("weight: tensor 9"));
}

TEST(Plan, RefusesLaunchesThatDoNotFitTheirKernel) {
  EXPECT_THAT(refusal("/steps/4/launch/0/kernel", 1), HasSubstr("kernel 1 does not exist"));
  EXPECT_THAT(refusal("/steps/4/launch/0/arguments/2", {{"t", 2}}),
              HasSubstr("argument 2 is no i32"));
  EXPECT_THAT(refusal("/steps/4/launch/0/arguments/0", {{"i", 4096}}),
              HasSubstr("argument 0 is no *fp32"));
  EXPECT_THAT(refusal("/steps/4/launch/0/arguments/0", {{"t", 0}}), HasSubstr("different tensors"));
  EXPECT_THAT(refusal("/steps/4/launch/0/arguments", Json::array()),
              HasSubstr("0 arguments for a kernel that has 4"));
  EXPECT_THAT(refusal("/steps/4/launch/0/grid/1", 70000), HasSubstr("65535"));
  EXPECT_THAT(refusal("/steps/4/launch/0/grid/0", 0), HasSubstr("between 1"));
  EXPECT_THAT(refusal("/steps/4/launch", Json::array()), HasSubstr("1 to 512 choices"));
}

TEST(Plan, AStepOfSomeChoicesMakesNothingAndPrecedesTheirLaunch) {
  const auto with = [](int choice, int output) {
    Json json = small_plan();
    Json zeroed = {{"phase", "forward"},
                   {"aten", "aten::zero_"},
                   {"args", Json::array({{{"t", 2}}})},
                   {"kwargs", Json::object()},
                   {"outputs", Json::array({output})},
                   {"choices", Json::array({choice})}};
    json["steps"].insert(json["steps"].begin() + 4, zeroed);
    return json;
  };
  const auto plan = parse_plan(to_line(with(1, 2)));
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(plan->steps[4].choices, std::vector{1});
  EXPECT_EQ(to_json(*plan)["steps"][4]["choices"], Json::array({1}));
  EXPECT_EQ(next_launch(*plan, 4), 5U);
  EXPECT_THAT(parse_plan(to_line(with(2, 2))).error().message, HasSubstr("has no choice 2"));
  EXPECT_THAT(parse_plan(to_line(with(-1, 2))).error().message, HasSubstr("choice"));
  EXPECT_FALSE(parse_plan(to_line(with(1, 4)))) << "it makes a tensor";
  Json last = with(1, 2);
  std::swap(last["steps"][4], last["steps"][5]);
  EXPECT_THAT(parse_plan(to_line(last)).error().message, HasSubstr("no launch follows"));
}

TEST(Plan, RefusesPhasesOutOfOrderAndInputsOfACandidate) {
  EXPECT_THAT(refusal("/steps/0/phase", "forward"), HasSubstr("phase init comes after forward"));
  EXPECT_THAT(refusal("/steps/1/phase", "inputs"), HasSubstr("a candidate makes no inputs"));
}

TEST(Plan, RefusesConstantsOfAnotherSize) {
  EXPECT_THAT(refusal("/steps/2/constant", "AQAAAAAAAAA="),
              HasSubstr("8 bytes for a constant of 16"));
  EXPECT_THAT(refusal("/steps/2/constant", "!"), HasSubstr("base64"));
}

TEST(Plan, RefusesNamesThatAreNone) {
  EXPECT_THAT(refusal("/steps/3/aten", "prims::add"), HasSubstr("no operator of ATen"));
  EXPECT_THAT(refusal("/steps/3/aten", "aten::a b"), HasSubstr("no operator of ATen"));
  EXPECT_THAT(refusal("/kernels/0/name", "a;b"), HasSubstr("identifier"));
  EXPECT_THAT(refusal("/kernels/0/name", ""), HasSubstr("1 to 256"));
  EXPECT_THAT(refusal("/format", 2), HasSubstr("plan format 2"));
  EXPECT_THAT(refusal("/outputs", {{"pickle", "x"}}), HasSubstr("no value has the form 'pickle'"));
}

TEST(Plan, RefusesWhatIsTooLarge) {
  EXPECT_THAT(refusal("/kernels/0/ttir", std::string((4u << 20) + 1, 'x')),
              HasSubstr("'ttir' exceeds"));
  EXPECT_FALSE(parse_plan(std::string((16u << 20) + 1, ' ')));
  Json deep = {{"i", 1}};
  for (int i = 0; i < 33; ++i) deep = {{"list", {deep}}};
  EXPECT_NE(refusal("/outputs", deep), "accepted");
  EXPECT_THAT(refusal("/steps", Json::array()), HasSubstr("weight: tensor 1 is read before"));
}

// Replaces each number, string and list of a good plan by something odd. parse_plan must not crash,
// and a plan that it accepts can be written and read again.
TEST(Plan, SurvivesAnyMemberBeingReplaced) {
  const Json plan = small_plan();
  const Json flat = plan.flatten();
  const std::vector<Json> oddities = {nullptr,
                                      -1,
                                      0,
                                      1,
                                      1e300,
                                      "",
                                      "nan",
                                      true,
                                      Json::array(),
                                      Json::object(),
                                      std::numeric_limits<std::int64_t>::min(),
                                      16384,
                                      Json::array({1, 2, 3})};
  for (const auto& [pointer, value] : flat.items())
    for (const Json& oddity : oddities) {
      Json changed = plan;
      changed[Json::json_pointer(pointer)] = oddity;
      const auto parsed = parse_plan(to_line(changed));
      if (!parsed) continue;
      ASSERT_TRUE(parse_plan(to_line(to_json(*parsed)))) << pointer << " " << oddity;
    }
}

TEST(Plan, SurvivesRandomDamage) {
  const std::string text = to_line(small_plan());
  rc::check("bytes overwritten, cut and doubled", [&](std::uint64_t seed) {
    Rng rng(seed, "plan", 0);
    std::string damaged = text;
    for (int i = 0; i < 4; ++i)
      damaged[rng.below(damaged.size())] = static_cast<char>(rng.below(256));
    if (rng.below(4) == 0) damaged.resize(rng.below(damaged.size()));
    (void)parse_plan(damaged);
  });
}

TEST(Base64, RoundTripsAnyBytes) {
  rc::check(
      [](const std::string& bytes) { RC_ASSERT(*base64_decode(base64_encode(bytes)) == bytes); });
  EXPECT_EQ(base64_encode("foob"), "Zm9vYg==");
  EXPECT_FALSE(base64_decode("Zm9vYg="));
  EXPECT_FALSE(base64_decode("Zm9vYh=="));
  EXPECT_FALSE(base64_decode("===="));
}

}  // namespace
}  // namespace tritonsmith::gym::plan
