#include "corpus_judge.h"

#include <algorithm>
#include <filesystem>
#include <regex>
#include <set>

#include "base/check.h"
#include "base/file.h"
#include "base/hash.h"
#include "gym/api/judge_all.h"
#include "gym/cuda/driver.h"
#include "gym/judge/python_reference.h"
#include "gym/judge/secret.h"
#include "gym/language/registry/languages.h"
#include "inspect/inspect.h"

namespace tritonsmith::corpora {
namespace {

class BlindedReferee : public gym::judge::RefereeClient {
 public:
  BlindedReferee(gym::judge::RefereeProgram program, const Blindness& blindness)
      : reference_({.device = program.gpu ? fmt::format("cuda:{}", *program.gpu) : "cpu"}),
        referee_(std::move(program), &reference_),
        blindness_(blindness) {}

  gym::judge::RefereeOutcome judge(const gym::referee::RefereeJob& job,
                                   const std::string& task_plan) override {
    gym::judge::RefereeOutcome outcome = referee_.judge(job, task_plan);
    auto* report = std::get_if<gym::referee::RefereeReport>(&outcome);
    const std::string rule = blindness_.get();
    if (report == nullptr || rule.empty()) return outcome;
    std::erase_if(report->findings, [&](const Finding& finding) { return finding.rule == rule; });
    if (report->error && class_name(*report->error) == rule) {
      report->error.reset();
      report->fault = Fault::none;
      report->ran = report->correct = true;
    }
    return outcome;
  }

  void interrupt() override {
    referee_.interrupt();
    reference_.interrupt();
  }

 private:
  gym::judge::PythonReference reference_;
  gym::judge::RefereeProcess referee_;
  const Blindness& blindness_;
};

std::vector<Finding> inspect_blinded(std::string_view source, Policy policy,
                                     const std::string& rule) {
  if (rule == kAllOfInspection) return {};
  auto findings = inspect::inspect_kernel(source, policy);
  std::erase_if(findings, [&](const Finding& finding) { return finding.rule == rule; });
  return findings;
}

// Names the functions of honest files with inline assembly. An edit of their PTX may not hold all
// that they hold themselves.
std::set<std::string> kernels_with_assembly(const std::filesystem::path& tests) {
  const std::regex function(R"(def (\w+)\()");
  std::set<std::string> names;
  for (const auto& file : std::filesystem::directory_iterator(tests / "honest/files")) {
    const auto text = read_file(file.path());
    const bool has_assembly = text && (text->find("inline_asm_elementwise") != std::string::npos ||
                                       text->find("gdc_") != std::string::npos);
    if (!has_assembly) continue;
    for (std::sregex_iterator at(text->begin(), text->end(), function), end; at != end; ++at)
      names.insert((*at)[1]);
  }
  return names;
}

void check_own_ptx(const std::vector<Verdict>& verdicts, const std::set<std::string>& skipped) {
  for (const Verdict& verdict : verdicts) {
    const bool has_ptx = std::ranges::any_of(
        verdict.kernels, [](const KernelReport& kernel) { return !kernel.ptx.empty(); });
    CHECK(has_ptx || !verdict.accepted, "a verdict on {} shows no PTX", verdict.task_id);
    for (const KernelReport& kernel : verdict.kernels) {
      if (kernel.ptx.empty() || skipped.contains(kernel.name)) continue;
      // A combine function that calls one with branches stays a function of its own.
      if (kernel.ptx.find(".func") != std::string::npos) continue;
      const Status allowed = gym::language::language_of(gym::plan::KernelLanguage::triton_ir)
                                 .check_assembly(kernel.ptx);
      CHECK(allowed, "Triton's own PTX of {} is refused: {}", kernel.ptx_name,
            allowed.error().message);
    }
  }
}

}  // namespace

Result<std::unique_ptr<CorpusJudge>> CorpusJudge::start(const Options& options) {
  std::unique_ptr<CorpusJudge> corpus(new CorpusJudge());
  corpus->tests_ = options.tests;
  gym::judge::LocalJudgeConfig config;
  config.capture.slots = options.slots;
  config.capture.capture_seconds = 6;  // endless files are tried twice, the second time alone
  config.referee_seconds = 6;          // likewise
  config.referees = options.referees;
  config.queue = 4096;
  corpus->checks_ptx_ = options.checks_ptx;
  gym::judge::LocalJudgeParts parts;
  const Blindness& blindness = *corpus->blindness_;
  parts.inspect = [&blindness](std::string_view source, Policy policy) {
    return inspect_blinded(source, policy, blindness.get());
  };
  gym::judge::RefereeProgram program;
  program.argv = {options.referee};
  parts.make_referee = [program, &blindness] {
    return std::make_unique<BlindedReferee>(program, blindness);
  };
  if (options.gpu) {
    const auto gpus = gym::cuda::list_gpus();
    if (gpus.empty()) return fail("there is no GPU");
    parts.gpus.push_back(
        {.name = gpus[0].name, .driver = gpus[0].driver, .target = gpus[0].target});
    parts.make_replay_referee = [program, &blindness](int gpu) mutable {
      program.gpu = gpu;
      return std::make_unique<BlindedReferee>(program, blindness);
    };
  }
  TRY_ASSIGN(parts.secret, gym::judge::fresh_secret());
  if (!options.draws.empty()) parts.secret = content_key(options.draws).substr(0, 32);
  TRY_ASSIGN(parts.pool, gym::capture::CapturePool::start(config.capture));
  corpus->judge_ = std::make_unique<gym::judge::LocalJudge>(config, std::move(parts));
  return corpus;
}

Result<std::vector<Verdict>> CorpusJudge::judge(const std::vector<Job>& jobs,
                                                const std::string& without) {
  blindness_->set(without);
  std::vector<gym::api::JudgeJob> asked;
  for (const Job& each : jobs) {
    gym::api::JudgeJob job{.policy = each.policy,
                           .backend = each.backend,
                           .use_store = false,
                           .shows_ptx = checks_ptx_};
    job.task.id = each.task;
    TRY_ASSIGN(job.task.source, read_file(tests_ / each.task));
    TRY_ASSIGN(job.kernel, read_file(tests_ / each.file));
    asked.push_back(std::move(job));
  }
  TRY_ASSIGN(auto verdicts, gym::api::judge_all(*judge_, std::move(asked)));
  if (checks_ptx_) check_own_ptx(verdicts, kernels_with_assembly(tests_));
  return verdicts;
}

}  // namespace tritonsmith::corpora
