#include "pairs/pair_writer.h"

#include <sys/stat.h>

#include <algorithm>

#include "base/file.h"
#include "base/json.h"
#include "gym/capture/capture_loop.h"

namespace tritonsmith::pairs {
namespace {

namespace fs = std::filesystem;
using gym::capture::CaptureOutcome;

// Guests run as other users, who must reach the files.
Status open_to_others(const fs::path& path, mode_t mode) {
  if (::chmod(path.c_str(), mode) != 0)
    return fail_errno(fmt::format("cannot open {}", path.string()));
  return ok();
}

Result<TempDir> write_files() {
  TRY_ASSIGN(TempDir root, TempDir::make("tritonsmith-pairs"));
  const fs::path package = root.path() / "tritonsmith_pairs";
  TRY(make_directories(package));
  TRY(open_to_others(root.path(), 0755));
  TRY(open_to_others(package, 0755));
  for (const gym::sandbox::EmbeddedFile& file : embedded_pair_files()) {
    TRY(write_file_atomic(package / file.name, file.bytes));
    TRY(open_to_others(package / file.name, 0444));
  }
  return root;
}

WrittenPair pair_of(const CaptureOutcome& outcome) {
  if (const auto* fault = std::get_if<gym::sandbox::InfrastructureFault>(&outcome.result))
    return {.kernel = {}, .reason = "fault", .message = fault->message, .is_fault = true};
  if (const auto* failure = std::get_if<gym::sandbox::CandidateFailure>(&outcome.result))
    return {.kernel = {}, .reason = class_name(failure->error), .message = failure->error.message};
  // The guest ran foreign code: its answer is hostile.
  const auto json = parse_json(std::get<gym::capture::CapturedPlan>(outcome.result).json);
  if (!json) return {.kernel = {}, .reason = "false_answer", .message = json.error().message};
  JsonReader reader(*json);
  WrittenPair pair{.kernel = reader.string("code", ""),
                   .reason = reader.string("reason", ""),
                   .message = reader.string("message", "")};
  if (!reader.status() || pair.kernel.empty() == pair.reason.empty())
    return {.kernel = {}, .reason = "false_answer", .message = "the guest's answer is no answer"};
  return pair;
}

}  // namespace

WrittenPair plain_or_given(WrittenPair plain, std::string given) {
  if (plain.is_fault) return plain;
  if (plain.kernel.empty())
    return {.kernel = std::move(given),
            .reason = {},
            .message = {},
            .kept_because = std::move(plain.reason)};
  plain.given = std::move(given);
  return plain;
}

Result<std::unique_ptr<PairWriter>> PairWriter::start(gym::capture::CaptureConfig config,
                                                      Policy policy, ModuleOrigin origin) {
  const char* module =
      policy == Policy::strict ? "tritonsmith_pairs.strict_pair" : "tritonsmith_pairs.pair";
  return start_with(std::move(config), module, origin == ModuleOrigin::own);
}

Result<std::unique_ptr<PairWriter>> PairWriter::start_rewriter(gym::capture::CaptureConfig config) {
  return start_with(std::move(config), "tritonsmith_pairs.given_pair", false);
}

Result<std::unique_ptr<PairWriter>> PairWriter::start_with(gym::capture::CaptureConfig config,
                                                           const char* module, bool shares_guests) {
  TRY_ASSIGN(TempDir files, write_files());
  // A guest gets faster with each module that it has written, so there are no more than can run.
  if (shares_guests) config.slots = std::min(config.slots, usable_cores() + 1);
  config.compilers = 1;  // none is asked
  config.spare_zygote = false;
  gym::sandbox::GuestModules modules;
  modules.packages = {files.path().string()};
  modules.warm = modules.capture = module;
  TRY_ASSIGN(auto pool, gym::capture::CaptureLoop::start(config, modules));
  return std::unique_ptr<PairWriter>(
      new PairWriter(std::move(files), std::move(pool), shares_guests));
}

void PairWriter::rewrite(std::string given, Done done) {
  write_in(false, given, [given, done = std::move(done)](WrittenPair plain) mutable {
    done(plain_or_given(std::move(plain), std::move(given)));
  });
}

void PairWriter::write(std::string source, Done done) {
  if (!shares_guests_) return write_in(false, std::move(source), std::move(done));
  // A module without a solution gets a second try in a guest of its own, so no other module of its
  // first guest is to blame.
  write_in(true, source, [this, source, done = std::move(done)](WrittenPair pair) mutable {
    const bool again = pair.kernel.empty() && !pair.is_fault;
    if (again)
      write_in(false, std::move(source), std::move(done));
    else
      done(std::move(pair));
  });
}

void PairWriter::write_in(bool shared_guest, std::string source, Done done) {
  pool_->capture({.role = gym::capture::CaptureRole::task,
                  .source = std::move(source),
                  .path = "task.py",
                  .shares_guest = shared_guest},
                 [done = std::move(done)](CaptureOutcome outcome) { done(pair_of(outcome)); });
}

}  // namespace tritonsmith::pairs
