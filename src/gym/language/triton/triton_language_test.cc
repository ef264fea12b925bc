#include "gym/language/triton/triton_language.h"

#include <gtest/gtest.h>

namespace tritonsmith::gym::language::triton {
namespace {

TEST(TritonLanguage, AConfigDoesNotFitWhereTritonsAutotunerSkipsIt) {
  const auto does_not_fit = [](ErrorClass error_class, std::string message) {
    return triton_language().does_not_fit(
        {.error_class = error_class, .message = std::move(message)});
  };
  EXPECT_TRUE(does_not_fit(ErrorClass::out_of_resources, "shared memory: 300 KiB needed"));
  EXPECT_TRUE(does_not_fit(ErrorClass::compile_error, "ptxas: too many registers"));
  EXPECT_FALSE(does_not_fit(ErrorClass::compile_error, "RuntimeError: PassManager::run failed"));
  EXPECT_FALSE(does_not_fit(ErrorClass::compile_timeout, "the compiler took too long"));
}

}  // namespace
}  // namespace tritonsmith::gym::language::triton
