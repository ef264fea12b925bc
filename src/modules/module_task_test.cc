#include "modules/module_task.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "base/temp_dir.h"

namespace tritonsmith::modules {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(ModuleTask, IsNamedByAFileOrAModuleWithAName) {
  EXPECT_TRUE(names_a_module("vit/block.py:Block"));
  EXPECT_TRUE(names_a_module("timm.layers:Mlp"));
  EXPECT_FALSE(names_a_module("vit/block.py"));
  EXPECT_FALSE(names_a_module("vit/block.py:"));
  EXPECT_FALSE(names_a_module(":Block"));
  EXPECT_TRUE(names_a_nested_class("vit/block.py:Outer.Inner"));
  EXPECT_FALSE(names_a_nested_class("vit/block.py:Block"));
  EXPECT_FALSE(names_a_module("openai:gpt-5"));
}

TEST(ModuleTask, ReadsAFileWhoseNameHoldsAColonAsAFile) {
  auto folder = TempDir::make("module");
  ASSERT_TRUE(folder);
  const std::string file = (folder->path() / "a:b").string();
  ASSERT_TRUE(names_a_module(file));
  ASSERT_TRUE(write_file_atomic(file, "x"));
  EXPECT_FALSE(names_a_module(file));
}

TEST(ModuleTask, JoinsTheFilesOfAPackage) {
  auto folder = TempDir::make("module");
  ASSERT_TRUE(folder);
  ASSERT_TRUE(write_file_atomic(folder->path() / "ops.py", "def twice(x):\n    return x * 2\n"));
  ASSERT_TRUE(write_file_atomic(folder->path() / "m.py",
                                "from ops import twice\nraise SystemExit('nothing runs this')\n"
                                "def f(x):\n    return twice(x)\n"));
  const std::string file = (folder->path() / "m.py").string();
  const auto tasks = tasks_of_module({.target = file + ":f", .inputs = {"randn(4, bf16)"}});
  ASSERT_TRUE(tasks) << tasks.error().message;
  ASSERT_EQ(tasks->tasks.size(), 1U);
  const Task& task = tasks->tasks.front();
  EXPECT_EQ(task.id, "f");
  EXPECT_THAT(task.source, HasSubstr("def twice(x):"));
  EXPECT_THAT(task.source, HasSubstr("return [torch.randn(4, torch.bfloat16)]"));
  EXPECT_THAT(task.source, Not(HasSubstr("SystemExit")));
  const auto two = tasks_of_module({.target = file + ":f", .inputs = {"randn(4)", "randn(8)"}});
  ASSERT_TRUE(two) << two.error().message;
  ASSERT_EQ(two->tasks.size(), 2U);
  EXPECT_EQ(two->tasks[1].id, "f with randn(8)");
  EXPECT_THAT(two->tasks[1].source, HasSubstr("return [torch.randn(8)]"));
}

TEST(ModuleTask, ReadsTheConstructorsArgumentsOfAFile) {
  const auto made =
      module_of_file({.source = "import torch\nSIZE = 2 * 32\ndef get_init_inputs():\n"
                                "    return [[SIZE, torch.float16], {'bias': False}]\n"});
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->arguments, "2 * 32, torch.float16");
  EXPECT_EQ(made->keywords, "'bias': False");
  EXPECT_EQ(module_of_file({.source = "x = 1\n"})->arguments, "");
  for (const char* source : {"def get_init_inputs():\n    return [len('abc')]\n",
                             "def get_init_inputs():\n    return [SIZE]\n",
                             "SIZE = SIZE\ndef get_init_inputs():\n    return [SIZE]\n",
                             "def get_init_inputs():\n    return 4\n", "def get_init_inputs(:\n"})
    EXPECT_FALSE(module_of_file({.source = source})) << source;
}

TEST(ModuleTask, ATextLiesInNoFolder) {
  constexpr const char* source =
      "import torch\nclass Model(torch.nn.Module):\n"
      "    def __init__(self, size, bias=True):\n        super().__init__()\n"
      "    def forward(self, x, scale=1.0):\n        return x * scale\n"
      "def get_inputs():\n    return [torch.randn(3)]\n"
      "def get_init_inputs():\n    return [[64], {'bias': False}]\n";
  const auto made = tasks_of_module({.target = "Model",
                                     .inputs = {"randn(8), scale=2.0", "randn(9), scale=2.0"},
                                     .source = source});
  ASSERT_TRUE(made) << made.error().message;
  ASSERT_EQ(made->tasks.size(), 2U);
  EXPECT_EQ(made->tasks[1].id, "Model with randn(9), scale=2.0");
  EXPECT_THAT(made->tasks[0].source, HasSubstr("return [[64], {'bias': False}]"));
  EXPECT_THAT(made->tasks[0].source, HasSubstr("return [torch.randn(8), 2.0]"));
  EXPECT_THAT(made->tasks[0].source, HasSubstr("It is also called with torch.randn(9), 2.0"));
  const auto refusal = [](ModuleRequest request) {
    const auto answer = tasks_of_module(request);
    return answer ? "made" : answer.error().message;
  };
  EXPECT_THAT(refusal({.target = "Model", .inputs = {"/etc/examples.pt"}, .source = source}),
              HasSubstr("no file can be named here"));
  EXPECT_THAT(refusal({.target = "f",
                       .inputs = {"randn(8)"},
                       .source = "from .module import f as key\ndef f(x):\n    return key(x)\n"}),
              HasSubstr("module.py line 1"));
  EXPECT_THAT(refusal({.target = "x y", .source = source}), HasSubstr("no name of a class"));
}

TEST(ModuleTask, SaysInOneLineWhyThereIsNone) {
  const auto tasks = tasks_of_module({.target = "no_such_package.m:f", .inputs = {"randn(4)"}});
  ASSERT_FALSE(tasks);
  EXPECT_THAT(tasks.error().message, HasSubstr("no_such_package.m: no module of this name"));
  EXPECT_THAT(tasks.error().message, Not(HasSubstr("\n")));
}

}  // namespace
}  // namespace tritonsmith::modules
