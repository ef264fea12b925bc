// Opens the verifier of `eval`, `write` and `judge`: any model that --model may name. Settings say
// how it is asked.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/setup/remote_writer.h"
#include "gym/api/judge.h"
#include "verifier/review_samples.h"
#include "verifier/verifying_judge.h"

namespace tritonsmith::cli {

struct VerifierChoice {
  std::string model;  // empty: there is no verifier
  std::string file;   // a TOML file of settings
  std::vector<std::string> settings;
};

// --verifier, --verifier-config and --verifier-set.
void add_verifier_options(CLI::App& command, VerifierChoice& choice);

// Fails if a choice without a model has settings.
Status check_no_verifier_settings(const VerifierChoice& choice);

class OpenedVerifier {
 public:
  // Answers are kept in `folder`, which is made; with an empty one they are kept in memory. Fails
  // in one line that names the option, file or server at fault.
  static Result<std::unique_ptr<OpenedVerifier>> open(const VerifierChoice& choice,
                                                      const std::filesystem::path& folder);

  verifier::Verifier& verifier() { return *verifier_; }
  bool rejects() const { return verifier_->config().severity == verifier::Effect::reject; }
  // The settings that decide what it says.
  const Json& what_decides() const { return what_decides_; }
  // Says what was asked and what it cost; also what the folder's answers cost altogether.
  Status account();

 private:
  std::filesystem::path folder_;
  Json what_decides_;
  std::unique_ptr<OpenedWriter> writer_;
  std::unique_ptr<verifier::Verifier> verifier_;
};

// A judge of records in a folder. If the verifier rejects, each verdict waits for it.
class JudgeWithVerifier {
 public:
  // `folder` is that of the records. A folder goes on with the verifier it began with: a verifier
  // that rejects decides what the records hold. Without a choice there is no verifier.
  static Result<JudgeWithVerifier> open(const VerifierChoice& choice,
                                        const std::filesystem::path& folder);

  // Puts the verifier before the judge, which must outlive the result.
  gym::api::Judge& before(gym::api::Judge& judge);
  OpenedVerifier* verifier() { return verifier_.get(); }
  bool rejects() const { return verifier_ && verifier_->rejects(); }
  // Asks about the folder's samples; writes verifier.json, and prints what the verifier found and
  // how far it agrees with the rules.
  Status review(const std::filesystem::path& folder, std::span<const Task> tasks);

 private:
  std::unique_ptr<OpenedVerifier> verifier_;
  std::unique_ptr<verifier::VerifyingJudge> judge_;
};

}  // namespace tritonsmith::cli
