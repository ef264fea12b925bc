#include "gym/judge/advice.h"

#include <gtest/gtest.h>

namespace tritonsmith::gym::judge {
namespace {

constexpr const char* kTf32 =
    "tt.func public @k() {\n"
    "  %2 = tt.dot %0, %1, %cst, inputPrecision = tf32 : tensor<16x16xf32> * tensor<16x16xf32> -> "
    "tensor<16x16xf32>\n}\n";

std::string message_after(ErrorClass error_class, const std::string& ttir,
                          Backend backend = Backend::evaluate) {
  const plan::Plan plan{.kernels = {{.name = "matmul", .code = ttir}}};
  Verdict verdict{.backend = backend, .error = VerdictError{.error_class = error_class}};
  add_advice(plan, verdict);
  return verdict.error->message;
}

TEST(Advice, NamesThePrecisionWhereFloat32IsMultipliedInTf32) {
  EXPECT_NE(message_after(ErrorClass::wrong_value, kTf32).find("tl.dot in matmul"),
            std::string::npos);
  EXPECT_NE(message_after(ErrorClass::wrong_value, kTf32).find("input_precision=\"ieee\""),
            std::string::npos);
  EXPECT_EQ(message_after(ErrorClass::out_of_bounds, kTf32), "");
}

TEST(Advice, SaysNothingOfTf32WhereNoFloat32IsMultipliedSo) {
  std::string ieee = kTf32, half = kTf32;
  ieee.replace(ieee.find(", inputPrecision = tf32"), 23, "");
  EXPECT_EQ(message_after(ErrorClass::wrong_value, ieee), "");
  for (std::size_t at = half.find("xf32> "); at != std::string::npos; at = half.find("xf32> "))
    half.replace(at, 4, "xf16");
  EXPECT_EQ(message_after(ErrorClass::wrong_value, half), "");
  EXPECT_EQ(message_after(ErrorClass::wrong_value, ""), "");
}

TEST(Advice, NamesAWeightThatPythonRead) {
  plan::Plan plan{.parameters = {{.name = "bias"}, {.name = "scale", .is_read = true}}};
  Verdict verdict{.error = VerdictError{.error_class = ErrorClass::wrong_value}};
  add_advice(plan, verdict);
  EXPECT_NE(verdict.error->message.find("Python read the value of `scale`"), std::string::npos);
  plan.parameters.back().is_read = false;
  verdict.error->message.clear();
  add_advice(plan, verdict);
  EXPECT_EQ(verdict.error->message, "");
}

TEST(Advice, SaysWhatToDoAboutWhatIsTooLarge) {
  EXPECT_NE(message_after(ErrorClass::too_large_to_evaluate, "").find("--backend replay"),
            std::string::npos);
  EXPECT_NE(
      message_after(ErrorClass::too_large_to_evaluate, "", Backend::replay).find("more memory"),
      std::string::npos);
}

}  // namespace
}  // namespace tritonsmith::gym::judge
