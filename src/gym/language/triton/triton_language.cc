#include "gym/language/triton/triton_language.h"

#include <map>

#include "gym/language/triton/constants.h"
#include "gym/language/triton/cuda_executor.h"
#include "gym/language/triton/evaluator_executor.h"
#include "gym/language/triton/locations.h"
#include "gym/language/triton/ptx/ptx_text.h"
#include "gym/language/triton/tf32.h"
#include "gym/triton_ir/syntax/accessed_arguments.h"
#include "gym/triton_ir/syntax/atomic_scope.h"

namespace tritonsmith::gym::language::triton {
namespace {

// Returns the arguments that the code accesses. The trials of a job ask for the same few kernels
// again and again, and parsing takes a third of a millisecond. So each thread keeps the answers for
// the last kernels.
const triton_ir::AccessedArguments& accessed_arguments(std::string_view code) {
  constexpr std::size_t most = 64;
  thread_local std::map<std::string, triton_ir::AccessedArguments, std::less<>> known;
  if (const auto found = known.find(code); found != known.end()) return found->second;
  if (known.size() >= most) known.clear();
  return known.emplace(code, triton_ir::accessed_arguments(code)).first->second;
}

class TritonLanguage final : public Language {
 public:
  std::vector<int> stored_arguments(std::string_view code) const override {
    return accessed_arguments(code).stored;
  }
  std::vector<int> loaded_arguments(std::string_view code) const override {
    return accessed_arguments(code).loaded;
  }
  std::vector<int> unconditionally_stored_arguments(std::string_view code) const override {
    return accessed_arguments(code).unconditionally_stored;
  }
  bool has_atomics(std::string_view code) const override {
    return code.find("tt.atomic_") != code.npos;
  }
  bool has_atomics_of_one_program(std::string_view code) const override {
    return triton_ir::has_atomics_of_one_program(code);
  }
  std::vector<std::string_view> constants(std::string_view code) const override {
    return triton::constants(code);
  }
  Result<std::string> without_locations(std::string_view code) const override {
    return triton::without_locations(code);
  }
  int first_line(std::string_view code) const override { return triton::first_line(code); }
  std::string advice_for_wrong_values(const plan::PlanKernel& kernel) const override {
    if (!multiplies_in_tf32(kernel.code)) return {};
    return fmt::format(
        "tl.dot in {} rounds float32 to TF32, which has 10 bits: input_precision=\"ieee\" keeps "
        "all",
        kernel.name);
  }
  Status check_assembly(std::string_view assembly) const override {
    TRY(ptx::read_ptx(assembly));
    return ok();
  }
  Status check_edit(std::string_view original, std::string_view edited) const override {
    return ptx::check_edited_ptx(original, edited);
  }
  // ptxas fails where a config needs more registers or shared memory than the chip has.
  bool does_not_fit(const VerdictError& error) const override {
    return error.error_class == ErrorClass::out_of_resources || error.message.starts_with("ptxas");
  }
  std::unique_ptr<KernelExecutor> make_cpu_executor(FreeBytes free_bytes) const override {
    return make_evaluate_executor(std::move(free_bytes));
  }
  std::unique_ptr<GpuExecutor> make_gpu_executor(const cuda::Driver& driver) const override {
    return std::make_unique<CudaExecutor>(driver);
  }
};

}  // namespace

const Language& triton_language() {
  static const TritonLanguage language;
  return language;
}

}  // namespace tritonsmith::gym::language::triton
