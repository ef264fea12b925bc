#include "gym/capture/capture_pool.h"

#include <filesystem>
#include <future>

#include "base/log.h"
#include "gym/capture/capture_loop.h"
#include "gym/sandbox/required_layers.h"

namespace tritonsmith::gym::capture {
namespace {

Status check_layers(const std::vector<std::string>& required) {
  if (const std::string unknown = sandbox::unknown_layer(required); !unknown.empty())
    return fail("{}", unknown);
  for (const std::string& each : required)
    if (each.find(sandbox::kOldRootName) != std::string::npos)
      LOG("required_layers: the layer '{}' is called 'sandbox_root' now; the old name goes with "
          "the "
          "next version",
          sandbox::kOldRootName);
  return ok();
}

}  // namespace

Status check_data_folders(const std::vector<std::string>& folders) {
  for (const std::string& each : folders) {
    std::error_code code;
    const std::filesystem::path folder = std::filesystem::canonical(each, code);
    if (code || folder != each || !std::filesystem::is_directory(folder))
      return fail("{}: name a folder by its absolute path, without links", each);
    // The sandbox has folders of its own at these locations.
    for (const char* own : {"/proc", "/dev", "/sys"})
      if (std::filesystem::path(own) == folder || each.starts_with(std::string(own) + "/"))
        return fail("{}: tasks cannot be shown this folder", each);
    if (folder == "/" || folder == "/tmp")
      return fail("{}: tasks cannot be shown this folder; name one inside it", each);
  }
  return ok();
}

Fields<CaptureConfig> CaptureConfig::fields() {
  using C = CaptureConfig;
  return {
      field("slots", &C::slots, "How many guests run at a time.", between(1, 512)),
      field("compilers", &C::compilers, "How many compile workers run at a time.", between(1, 128)),
      field("spare_zygote", &C::spare_zygote,
            "Keep a second warm process. If the first dies, guests are forked from the second."),
      field("spare_zygote_after", &C::spare_zygote_after,
            "The second process starts when the first has served for this many seconds.",
            between(0, 3600)),
      field("capture_seconds", &C::capture_seconds, "The time limit of one capture.",
            between(1, 3600)),
      field("compile_seconds", &C::compile_seconds, "The time limit of one compilation.",
            between(1, 3600)),
      field("compile_budget_seconds", &C::compile_budget_seconds,
            "The compile time that all kernels of one job may take together.", between(0.0, 1e6)),
      field("compiles_per_worker", &C::compiles_per_worker,
            "After this many compilations a fresh worker takes over.", at_least(1)),
      field("memory_mib", &C::memory_mib,
            "The address space that a guest may use beyond the warm zygote's, in MiB.",
            at_least(64)),
      field("output_kib", &C::output_kib,
            "How much a guest may print on stdout, and as much on stderr, in KiB.",
            between(1, 1 << 20)),
      field("plan_mib", &C::plan_mib, "The largest launch plan, in MiB.", between(1, 1024)),
      field("tmp_mib", &C::tmp_mib, "The size of a guest's private folder, in MiB.",
            between(1, 1 << 16)),
      field("compile_cache_mib", &C::compile_cache_mib,
            "Memory for compiled kernels, in MiB. The least recently used ones leave first.",
            between(0, 1 << 20)),
      field("compile_cache_directory", &C::compile_cache_directory,
            "A folder that also keeps compiled kernels. Empty: only memory keeps them."),
      field("compile_cache_disk_mib", &C::compile_cache_disk_mib,
            "The size of that folder, in MiB. The least recently used kernels leave first.",
            between(0, 1 << 24)),
      field("bytecode_directory", &C::bytecode_directory,
            "A folder for the bytecode of Python packages that have none beside their sources. "
            "Empty: bytecode is not kept."),
      field("python", &C::python,
            "The Python interpreter of the guests. Empty: the one of the build."),
      field("data", &C::data, "Folders that guests may read, for tasks that load files.",
            check_data_folders),
      field("required_layers", &C::required_layers,
            "Sandbox layers without which no guest runs. \"a|b\" means one of the two.",
            check_layers),
  };
}

compile::CompilerLimits CaptureConfig::compiler_limits() const {
  return {.workers = compilers,
          .seconds = compile_seconds,
          .budget_seconds = compile_budget_seconds,
          .compiles_per_worker = compiles_per_worker,
          .cache_mib = compile_cache_mib,
          .cache_directory = compile_cache_directory,
          .cache_disk_mib = compile_cache_disk_mib};
}

Result<std::unique_ptr<CapturePool>> CapturePool::start(const CaptureConfig& config) {
  return CaptureLoop::start(config, sandbox::GuestModules{});
}

CaptureOutcome CapturePool::capture_now(CaptureRequest request) {
  std::promise<CaptureOutcome> promise;
  auto future = promise.get_future();
  capture(std::move(request),
          [&](CaptureOutcome outcome) { promise.set_value(std::move(outcome)); });
  return future.get();
}

compile::CompileOutcome CapturePool::compile_now(compile::CompileRequest request) {
  std::promise<compile::CompileOutcome> promise;
  auto future = promise.get_future();
  compile(std::move(request),
          [&](compile::CompileOutcome outcome) { promise.set_value(std::move(outcome)); });
  return future.get();
}

}  // namespace tritonsmith::gym::capture
