// Language: what the judge asks of a language in which kernels are written. A language reads its
// code for the judge, and makes the executors that run it. It is the seam behind which all of
// Triton's facts stand (triton/); registry/ holds the languages there are.
//
// The code comes from a candidate, so every function that takes it must expect hostile text. The
// functions are pure. If the text does not parse, the lists are empty.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "gym/language/kernel_executor.h"
#include "gym/plan/plan.h"

namespace tritonsmith::gym::cuda {
struct Driver;
}

namespace tritonsmith::gym::language {

// Returns how many bytes an executor may allocate beside the buffers of a launch.
using RoomBytes = std::function<std::size_t()>;

class Language {
 public:
  virtual ~Language() = default;

  // The arguments through which the code may store or load, by index and in order. Atomics do both.
  virtual std::vector<int> stored_arguments(std::string_view code) const = 0;
  virtual std::vector<int> loaded_arguments(std::string_view code) const = 0;
  // Those of the stored arguments with a store that no branch leaves out.
  virtual std::vector<int> unconditionally_stored_arguments(std::string_view code) const = 0;
  // Says whether the code has an atomic that is none between the programs of a launch. It also says
  // so of a text that may have one and does not parse.
  virtual bool has_atomics_of_one_program(std::string_view code) const = 0;
  // The numbers that are written out in the code, as text.
  virtual std::vector<std::string_view> constants(std::string_view code) const = 0;

  // Returns the code without the places in the candidate's source. The compiler gets this text, and
  // equal texts share one entry of the compile cache. Fails for a text that is not as the
  // language's own compiler prints it.
  virtual Result<std::string> without_locations(std::string_view code) const = 0;
  // Returns the line of the source where the kernel begins, or 0 if the code does not say.
  virtual int first_line(std::string_view code) const = 0;

  // Returns what the author can do if the kernel's values are wrong, or nothing.
  virtual std::string advice_for_wrong_values(const plan::PlanKernel& kernel) const = 0;

  virtual std::unique_ptr<KernelExecutor> make_cpu_executor(RoomBytes room) const = 0;
  virtual std::unique_ptr<GpuExecutor> make_gpu_executor(const cuda::Driver& driver) const = 0;
};

}  // namespace tritonsmith::gym::language
