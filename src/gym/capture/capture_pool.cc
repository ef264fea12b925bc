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

// The sandbox has folders of its own at these places.
Status check_data_folders(const std::vector<std::string>& folders) {
  for (const std::string& each : folders) {
    std::error_code code;
    const std::filesystem::path folder = std::filesystem::canonical(each, code);
    if (code || folder != each || !std::filesystem::is_directory(folder))
      return fail("{}: name a folder by its absolute path, without links", each);
    for (const char* own : {"/proc", "/dev", "/sys"})
      if (std::filesystem::path(own) == folder || each.starts_with(std::string(own) + "/"))
        return fail("{}: tasks cannot be shown this folder", each);
    if (folder == "/" || folder == "/tmp")
      return fail("{}: tasks cannot be shown this folder; name one inside it", each);
  }
  return ok();
}

}  // namespace

Fields<CaptureConfig> CaptureConfig::fields() {
  using C = CaptureConfig;
  return {
      field("slots", &C::slots, "guests at a time", between(1, 512)),
      field("compilers", &C::compilers, "compile workers at a time", between(1, 128)),
      field("spare_zygote", &C::spare_zygote,
            "a second warm process stands by, from which guests are forked when the first dies"),
      field("spare_zygote_after", &C::spare_zygote_after,
            "seconds that the first has served before its spare is started", between(0, 3600)),
      field("capture_seconds", &C::capture_seconds, "wall clock of one capture", between(1, 3600)),
      field("compile_seconds", &C::compile_seconds, "wall clock of one compilation",
            between(1, 3600)),
      field("compile_budget_seconds", &C::compile_budget_seconds,
            "compile time of one job's kernels together", between(0.0, 1e6)),
      field("compiles_per_worker", &C::compiles_per_worker, "then a fresh worker takes over",
            at_least(1)),
      field("memory_mib", &C::memory_mib, "address space of a guest beyond the warm zygote's",
            at_least(64)),
      field("output_kib", &C::output_kib, "what a guest may print, stdout and stderr each",
            between(1, 1 << 20)),
      field("plan_mib", &C::plan_mib, "largest launch plan", between(1, 1024)),
      field("tmp_mib", &C::tmp_mib, "a guest's private folder", between(1, 1 << 16)),
      field("compile_cache_mib", &C::compile_cache_mib,
            "compiled kernels in memory; those used last stay", between(0, 1 << 20)),
      field("compile_cache_directory", &C::compile_cache_directory,
            "and here; empty: nowhere else"),
      field("compile_cache_disk_mib", &C::compile_cache_disk_mib,
            "compiled kernels in that folder; those used last stay", between(0, 1 << 24)),
      field("bytecode_directory", &C::bytecode_directory,
            "of Python's packages where they have none beside them; empty: it is not kept"),
      field("python", &C::python, "interpreter of the guests; empty: the one of the build"),
      field("data", &C::data, "folders that guests may read, for tasks that load files",
            check_data_folders),
      field("required_layers", &C::required_layers,
            "jail layers without which nothing runs; \"a|b\": one of the two", check_layers),
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
