#include "gym/cuda/oracle_source.h"

#include <gtest/gtest.h>

#include "gym/cuda/device_code.h"
#include "gym/cuda/testing/nvrtc.h"
#include "gym/plan/testing/plan_builder.h"

namespace tritonsmith::gym::cuda {
namespace {

// gelu(x * w - 2, approximate) over `shape`.
plan::Plan chain(std::vector<std::int64_t> shape, const std::string& approximate = "tanh") {
  plan::PlanBuilder task(plan::PlanRole::task);
  const int x = task.tensor(shape), w = task.tensor(shape), product = task.tensor(shape),
            moved = task.tensor(shape), y = task.tensor(shape);
  return task.input(plan::t(x))
      .input(plan::t(w))
      .aten(plan::Phase::forward, "aten::mul.Tensor", {plan::t(x), plan::t(w)}, {product})
      .aten(plan::Phase::forward, "aten::sub.Tensor", {plan::t(product), plan::i(2)}, {moved})
      .aten(plan::Phase::forward, "aten::gelu", {plan::t(moved)}, {y},
            {{"approximate", plan::Value{approximate}}})
      .returns(plan::t(y))
      .plan();
}

plan::Plan unary(const std::string& op, std::vector<plan::Value> more = {}) {
  plan::PlanBuilder task(plan::PlanRole::task);
  const int x = task.tensor({8, 4}), y = task.tensor({8, 4});
  std::vector<plan::Value> arguments = {plan::t(x)};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return task.input(plan::t(x))
      .aten(plan::Phase::forward, op, arguments, {y})
      .returns(plan::t(y))
      .plan();
}

TEST(OracleSource, ComputesAChainOfElementwiseOperatorsInRegisters) {
  const auto made = oracle_source(chain({8, 4}));
  ASSERT_TRUE(made);
  EXPECT_EQ(made->leaves, (std::vector<int>{0, 1}));
  for (const char* part : {"mul_(wide(v.v0), wide(v.v1))", "sub_(t1, ", "gelu_tanh_(t2)"})
    EXPECT_NE(made->source.find(part), std::string::npos) << part;
}

TEST(OracleSource, IsOneForAllShapes) {
  EXPECT_EQ(oracle_source(chain({8, 4}))->source, oracle_source(chain({2048}))->source);
  EXPECT_NE(oracle_source(chain({8}))->source, oracle_source(chain({8}, "none"))->source);
}

TEST(OracleSource, CompilesForEveryOperatorItKnows) {
  if (kNvrtc.empty()) GTEST_SKIP() << "the pinned environment has no NVRTC";
  const plan::Value low = plan::f(-1.5), none = plan::Value{plan::None{}};
  for (const plan::Plan& task :
       {chain({8, 4}), unary("aten::softplus", {plan::i(2), plan::i(10)}),
        unary("aten::clamp", {low, none}), unary("aten::elu", {plan::f(0.5)}),
        unary("aten::pow.Tensor_Scalar", {plan::i(3)}), unary("aten::leaky_relu"),
        unary("aten::clamp_min", {plan::i(0)}), unary("aten::mish"),
        unary("aten::rsub.Scalar", {plan::i(1), plan::i(2)})}) {
    const auto made = oracle_source(task);
    ASSERT_TRUE(made);
    const auto cubin = compile_source(std::string(kNvrtc), "sm_90", made->source);
    ASSERT_TRUE(cubin) << cubin.error().message;
    EXPECT_NE(cubin->find(kOracleKernel), std::string::npos);
  }
}

TEST(OracleSource, LeavesTheRestToLibTorch) {
  EXPECT_FALSE(oracle_source(unary("aten::cumsum", {plan::i(0)})));
  EXPECT_FALSE(oracle_source(unary("aten::relu_")));
  EXPECT_FALSE(oracle_source(unary("aten::relu", {plan::i(1)}))) << "more arguments than it has";
  plan::Plan broadcast = chain({8, 4});
  broadcast.tensors[1].shape = {4};
  broadcast.tensors[1].stride = {1};
  EXPECT_FALSE(oracle_source(broadcast));
  plan::Plan transposed = chain({8, 4});
  transposed.tensors[0].stride = {1, 8};
  EXPECT_FALSE(oracle_source(transposed));
  plan::Plan mutating = chain({8, 4});
  mutating.mutated_inputs = {0};
  EXPECT_FALSE(oracle_source(mutating));
  plan::Plan whole = chain({8, 4});
  whole.tensors[2].dtype = plan::DType::int32;
  EXPECT_FALSE(oracle_source(whole));
}

}  // namespace
}  // namespace tritonsmith::gym::cuda
