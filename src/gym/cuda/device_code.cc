#include "gym/cuda/device_code.h"

#include <dlfcn.h>

#include <array>
#include <filesystem>

namespace tritonsmith::gym::cuda {
namespace {

// nvrtc.h declares an opaque program, and results of which 0 is success.
using Program = void*;

struct Nvrtc {
  int (*create)(Program*, const char* source, const char* name, int header_count,
                const char* const* headers, const char* const* include_names) = nullptr;
  int (*compile)(Program, int option_count, const char* const* options) = nullptr;
  int (*cubin_size)(Program, std::size_t*) = nullptr;
  int (*cubin)(Program, char*) = nullptr;
  int (*log_size)(Program, std::size_t*) = nullptr;
  int (*log)(Program, char*) = nullptr;
  int (*destroy)(Program*) = nullptr;
};

template <typename Function>
bool find_function(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  return function != nullptr;
}

// Loads NVRTC's builtins library. NVRTC opens it by its plain name, which the loader does not
// search for in a Python environment. A library that is already loaded is found by that name.
void load_second_half(const std::filesystem::path& compiler) {
  std::error_code ignored;
  for (const auto& file : std::filesystem::directory_iterator(compiler.parent_path(), ignored))
    if (file.path().filename().string().starts_with("libnvrtc-builtins.so"))
      ::dlopen(file.path().c_str(), RTLD_NOW | RTLD_GLOBAL);
}

Result<Nvrtc> load(const std::string& path) {
  load_second_half(path);
  void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return fail("cannot load CUDA's run-time compiler: {}", ::dlerror());
  Nvrtc nvrtc;
  const bool whole = find_function(library, "nvrtcCreateProgram", nvrtc.create) &&
                     find_function(library, "nvrtcCompileProgram", nvrtc.compile) &&
                     find_function(library, "nvrtcGetCUBINSize", nvrtc.cubin_size) &&
                     find_function(library, "nvrtcGetCUBIN", nvrtc.cubin) &&
                     find_function(library, "nvrtcGetProgramLogSize", nvrtc.log_size) &&
                     find_function(library, "nvrtcGetProgramLog", nvrtc.log) &&
                     find_function(library, "nvrtcDestroyProgram", nvrtc.destroy);
  if (!whole) return fail("{} is not CUDA's run-time compiler", path);
  return nvrtc;
}

using Size = int (*)(Program, std::size_t*);
using Text = int (*)(Program, char*);
std::string text_of(Program program, Size size, Text text) {
  std::size_t bytes = 0;
  if (size(program, &bytes) != 0) return {};
  std::string all(bytes, '\0');
  return bytes > 0 && text(program, all.data()) == 0 ? all : std::string();
}

}  // namespace

Result<std::string> compile_source(const std::string& nvrtc_path, std::string_view target,
                                   const std::string& source) {
  TRY_ASSIGN(const Nvrtc nvrtc, load(nvrtc_path));
  Program program = nullptr;
  if (nvrtc.create(&program, source.c_str(), "referee.cu", 0, nullptr, nullptr) != 0)
    return fail("CUDA's run-time compiler does not start");
  const std::string architecture = fmt::format("--gpu-architecture={}", target);
  const std::array options = {architecture.c_str(), "--std=c++17", "--fmad=false"};
  const int result = nvrtc.compile(program, static_cast<int>(options.size()), options.data());
  const std::string log = result != 0 ? text_of(program, nvrtc.log_size, nvrtc.log) : "";
  std::string cubin = result == 0 ? text_of(program, nvrtc.cubin_size, nvrtc.cubin) : "";
  nvrtc.destroy(&program);
  if (cubin.empty())
    return fail("the referee's own kernels do not compile for {}: {}", target, log);
  return cubin;
}

Result<std::string> compile_device_source(const std::string& nvrtc, std::string_view target) {
  return compile_source(nvrtc, target, device_source());
}

std::string nvrtc_beside(const std::string& torch_library) {
  namespace fs = std::filesystem;
  std::error_code code;
  const fs::path wheels = fs::path(torch_library).parent_path().parent_path().parent_path();
  for (const auto& package : fs::directory_iterator(wheels / "nvidia", code))
    for (const auto& file : fs::directory_iterator(package.path() / "lib", code))
      if (file.path().filename().string().starts_with("libnvrtc.so.")) return file.path().string();
  return "libnvrtc.so";
}

}  // namespace tritonsmith::gym::cuda
