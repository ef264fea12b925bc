// Language: the interface of a language in which kernels are written. A language answers the
// judge's questions about its code, and makes the executors that run the code. triton/ implements
// it for Triton, and registry/ lists all languages.
//
// `code` is the text that a plan holds of a kernel: for Triton it is Triton IR. It comes from a
// candidate, so every function must expect hostile text. The functions are pure. If the text does
// not parse, they return empty lists.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "data/verdict.h"
#include "gym/language/kernel_executor.h"
#include "gym/plan/plan.h"

namespace tritonsmith::gym::cuda {
struct Driver;
}

namespace tritonsmith::gym::language {

// Returns how many bytes an executor may allocate beside the buffers of a launch.
using FreeBytes = std::function<std::size_t()>;

class Language {
 public:
  virtual ~Language() = default;

  // Return the arguments through which the code may store or load, by index and in order. An atomic
  // counts as both.
  virtual std::vector<int> stored_arguments(std::string_view code) const = 0;
  virtual std::vector<int> loaded_arguments(std::string_view code) const = 0;
  // Returns those of the stored arguments that have a store outside of every branch.
  virtual std::vector<int> unconditionally_stored_arguments(std::string_view code) const = 0;
  // Says whether the code may have an atomic that is atomic only within one program of a launch. If
  // the text does not parse, the answer is yes where the text mentions one.
  virtual bool has_atomics_of_one_program(std::string_view code) const = 0;
  // Says whether the code may have an atomic.
  virtual bool has_atomics(std::string_view code) const = 0;
  // Returns the numbers that are written out in the code, as text.
  virtual std::vector<std::string_view> constants(std::string_view code) const = 0;

  // Returns the code without its references to lines of the candidate's source. The compiler gets
  // this text, and equal texts share one entry of the compile cache. Fails if the text does not
  // have the form that the language's own compiler prints.
  virtual Result<std::string> without_locations(std::string_view code) const = 0;
  // Returns the line of the source where the kernel begins, or 0 if the code does not say.
  virtual int first_line(std::string_view code) const = 0;

  // Returns advice for the author of a kernel with wrong values, or an empty text.
  virtual std::string advice_for_wrong_values(const plan::PlanKernel& kernel) const = 0;

  // Checks text of the assembly into which the language's compiler translates kernels (for Triton:
  // PTX), and which somebody edited. Fails with the line of a word that the compiler never writes.
  virtual Status check_assembly(std::string_view assembly) const = 0;
  // Checks that an edit may replace the compiler's own text: it has the same kernel, with
  // the same parameters and launch bounds.
  virtual Status check_edit(std::string_view original, std::string_view edited) const = 0;

  // Says whether the compiler's error means that the kernel needs more of the chip than there is. The
  // language's autotuner skips such a config, and reports all other errors to its user.
  virtual bool does_not_fit(const VerdictError& error) const = 0;

  virtual std::unique_ptr<KernelExecutor> make_cpu_executor(FreeBytes free_bytes) const = 0;
  virtual std::unique_ptr<GpuExecutor> make_gpu_executor(const cuda::Driver& driver) const = 0;
};

}  // namespace tritonsmith::gym::language
