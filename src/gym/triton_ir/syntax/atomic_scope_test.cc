#include "gym/triton_ir/syntax/atomic_scope.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace tritonsmith::gym::triton_ir {
namespace {

bool has_narrow(std::string_view scope, std::string_view name = "%old") {
  return has_atomics_of_one_program(fmt::format(R"(module {{
  tt.func public @k(%x: !tt.ptr<f32>) {{
    %one = arith.constant 1.0 : f32
    %true = arith.constant true
    scf.if %true {{
      {} = tt.atomic_rmw fadd, acq_rel, {}, %x, %one, %true : (!tt.ptr<f32>, f32, i1) -> f32
    }}
    tt.return
  }}
}}
)",
                                                name, scope));
}

TEST(AtomicScope, IsReadFromAtomicsAlone) {
  EXPECT_TRUE(has_narrow("cta"));
  EXPECT_FALSE(has_narrow("gpu"));
  EXPECT_FALSE(has_narrow("sys"));
  EXPECT_FALSE(has_narrow("gpu", "%cta"));
  EXPECT_TRUE(has_atomics_of_one_program("no module with a cta"));
  EXPECT_FALSE(has_atomics_of_one_program("no module"));
}

}  // namespace
}  // namespace tritonsmith::gym::triton_ir
