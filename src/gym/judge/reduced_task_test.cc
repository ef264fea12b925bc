#include "gym/judge/reduced_task.h"

#include <gtest/gtest.h>

#include "gym/plan/testing/plan_builder.h"

namespace tritonsmith::gym::judge {
namespace {

TEST(ReducedTask, DividesOnlyTheSizesThatATaskNamesAtTopLevel) {
  const std::string source =
      "import torch\n"
      "batch_size = 128\n"
      "dim = 16384  # features\n"
      "kernel_size = 3\n"
      "height, width = 512, 512\n"
      "M = 16384 * 2 * 2  # 65536\n"
      "input_shape = (32768, 3)\n"
      "steps = 2**20\n"
      "def get_inputs():\n"
      "    n = 4096\n"
      "    return [torch.rand(batch_size, dim)]\n"
      "scale = 64.5\n"
      "last = 1000";
  EXPECT_EQ(with_sizes_divided(source, 64),
            "import torch\n"
            "batch_size = 4\n"
            "dim = 256\n"
            "kernel_size = 3\n"
            "height, width = 16, 16\n"
            "M = 1024\n"
            "input_shape = (512, 3)\n"
            "steps = 2**20\n"
            "def get_inputs():\n"
            "    n = 4096\n"
            "    return [torch.rand(batch_size, dim)]\n"
            "scale = 64.5\n"
            "last = 31");
}

plan::Plan task_of(const char* op, std::int64_t n) {
  plan::PlanBuilder task(plan::PlanRole::task);
  const int x = task.tensor({n}), y = task.tensor({n});
  task.aten(plan::Phase::inputs, "aten::randn", {plan::ints({n})}, {x})
      .input(plan::t(x))
      .aten(plan::Phase::forward, op, {plan::t(x)}, {y})
      .returns(plan::t(y));
  return task.plan();
}

TEST(ReducedTask, IsTheSameTaskIfForwardCallsTheSameOperators) {
  EXPECT_TRUE(computes_alike(task_of("aten::relu", 64), task_of("aten::relu", 8)));
  EXPECT_FALSE(computes_alike(task_of("aten::relu", 64), task_of("aten::silu", 8)));
  EXPECT_EQ(elements_in(task_of("aten::relu", 64)), 128);
}

}  // namespace
}  // namespace tritonsmith::gym::judge
