#include "gym/gpu/oracle_source.h"

#include <gtest/gtest.h>

#include "gym/gpu/device_code.h"
#include "gym/gpu/testing/nvrtc.h"
#include "gym/referee/testing/plan_builder.h"

namespace tritonsmith::gym::gpu {
namespace {

// gelu(x * w - 2, approximate) over `shape`.
Plan chain(std::vector<std::int64_t> shape, const std::string& approximate = "tanh") {
  PlanBuilder task(PlanRole::task);
  const int x = task.tensor(shape), w = task.tensor(shape), product = task.tensor(shape),
            moved = task.tensor(shape), y = task.tensor(shape);
  return task.input(t(x))
      .input(t(w))
      .aten(Phase::forward, "aten::mul.Tensor", {t(x), t(w)}, {product})
      .aten(Phase::forward, "aten::sub.Tensor", {t(product), i(2)}, {moved})
      .aten(Phase::forward, "aten::gelu", {t(moved)}, {y}, {{"approximate", Value{approximate}}})
      .returns(t(y))
      .plan();
}

Plan unary(const std::string& op, std::vector<Value> more = {}) {
  PlanBuilder task(PlanRole::task);
  const int x = task.tensor({8, 4}), y = task.tensor({8, 4});
  std::vector<Value> arguments = {t(x)};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return task.input(t(x)).aten(Phase::forward, op, arguments, {y}).returns(t(y)).plan();
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
  const Value low = f(-1.5), none = Value{None{}};
  for (const Plan& task :
       {chain({8, 4}), unary("aten::softplus", {i(2), i(10)}), unary("aten::clamp", {low, none}),
        unary("aten::elu", {f(0.5)}), unary("aten::pow.Tensor_Scalar", {i(3)}),
        unary("aten::leaky_relu"), unary("aten::clamp_min", {i(0)}), unary("aten::mish"),
        unary("aten::rsub.Scalar", {i(1), i(2)})}) {
    const auto made = oracle_source(task);
    ASSERT_TRUE(made);
    const auto cubin = compile_source(std::string(kNvrtc), "sm_90", made->source);
    ASSERT_TRUE(cubin) << cubin.error().message;
    EXPECT_NE(cubin->find(kOracleKernel), std::string::npos);
  }
}

TEST(OracleSource, LeavesTheRestToLibTorch) {
  EXPECT_FALSE(oracle_source(unary("aten::cumsum", {i(0)})));
  EXPECT_FALSE(oracle_source(unary("aten::relu_")));
  EXPECT_FALSE(oracle_source(unary("aten::relu", {i(1)}))) << "more arguments than it has";
  Plan broadcast = chain({8, 4});
  broadcast.tensors[1].shape = {4};
  broadcast.tensors[1].stride = {1};
  EXPECT_FALSE(oracle_source(broadcast));
  Plan transposed = chain({8, 4});
  transposed.tensors[0].stride = {1, 8};
  EXPECT_FALSE(oracle_source(transposed));
  Plan mutating = chain({8, 4});
  mutating.mutated_inputs = {0};
  EXPECT_FALSE(oracle_source(mutating));
  Plan whole = chain({8, 4});
  whole.tensors[2].dtype = DType::int32;
  EXPECT_FALSE(oracle_source(whole));
}

}  // namespace
}  // namespace tritonsmith::gym::gpu
