#include "modules/patch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tritonsmith::modules {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kKernel = "class ModelNew:\n    pass\n";

ModuleTasks block() {
  return {.tasks = {{.id = "Block", .source = "class Model(Block):\n    pass\n"}},
          .name = "Block",
          .file = "vit/block.py",
          .is_class = true,
          .arguments = "64",
          .keywords = "'bias': False",
          .parameters = {"x"},
          .calls = {"torch.randn(8, 64)", "torch.randn(2, 64)"}};
}

TEST(Patch, ReplacesAClassWithTheArgumentsOfItsConstructor) {
  const Patch patch = patch_of(block(), kKernel, "block_triton");
  EXPECT_THAT(patch.module, HasSubstr("from block_triton import replace"));
  EXPECT_THAT(patch.module, HasSubstr(kKernel));
  EXPECT_THAT(patch.module, HasSubstr("ARGUMENTS = [64]\nKEYWORDS = {'bias': False}\n"));
  EXPECT_THAT(patch.module, HasSubstr("def replacement_of(old):"));
}

TEST(Patch, ReplacesAFunctionWithItsParameters) {
  ModuleTasks made = block();
  made.is_class = false;
  made.name = "norm";
  made.parameters = {"x", "eps"};
  const Patch patch = patch_of(made, kKernel, "norm_triton");
  EXPECT_THAT(patch.module, HasSubstr("from norm_triton import replacement as norm"));
  EXPECT_THAT(patch.module, HasSubstr("def replacement(x, eps):\n    return _model(x, eps)\n"));
  EXPECT_THAT(patch.module, Not(HasSubstr("replacement_of")));
}

TEST(Patch, TestsEachCall) {
  const Patch patch = patch_of(block(), kKernel, "block_triton");
  EXPECT_THAT(patch.test, HasSubstr("import block_triton as _patch"));
  EXPECT_THAT(patch.test, HasSubstr("class Model(Block):"));
  EXPECT_THAT(patch.test, HasSubstr("def test_replacement_of_1():\n"
                                    "    _compare([torch.randn(8, 64)])\n"));
  EXPECT_THAT(patch.test, HasSubstr("def test_replacement_of_2():\n"
                                    "    _compare([torch.randn(2, 64)])\n"));
}

}  // namespace
}  // namespace tritonsmith::modules
