#include "cli/setup/verifier_options.h"

#include <fmt/format.h>

#include "base/file.h"
#include "base/log.h"
#include "cli/call/output.h"
#include "cli/setup/given_settings.h"
#include "eval/kept_options.h"
#include "generate/api/api_config.h"

namespace tritonsmith::cli {
namespace {

namespace fs = std::filesystem;

// The settings of --verifier-set: the verifier's own, and under `api.` those of its server.
struct VerifierSettings {
  verifier::VerifierConfig verifier;
  generate::ApiConfig api;
  static Fields<VerifierSettings> fields() {
    using C = VerifierSettings;
    Fields<C> all;
    append_section(all, "verifier", &C::verifier);
    for (Field<C>& each : all) each.name = each.name.substr(std::string("verifier.").size());
    append_section(all, "api", &C::api);
    return all;
  }
};

// The chat template is checked with a system message, because the questions have one.
text::PromptConfig prompt_with_system() {
  text::PromptConfig prompt;
  prompt.system = "You review GPU kernels.";
  return prompt;
}

Json decides_of(const std::string& model, const verifier::VerifierConfig& config) {
  Json decides = {{"verifier", model}};
  for (const auto& [name, value] : settings_of(config)) decides["verifier." + name] = value;
  return decides;
}

}  // namespace

void add_verifier_options(CLI::App& command, VerifierChoice& choice) {
  command.add_option("--verifier", choice.model,
                     "Also ask this model whether kernels do the module's work themselves; as for "
                     "--model (docs/verifier.md)");
  command.add_option("--verifier-config", choice.file,
                     "A TOML file with the verifier's settings (docs/verifier.md)");
  command.add_option("--verifier-set", choice.settings,
                     "One such setting, for example severity=reject, votes=5 or api.base_url=URL "
                     "(repeatable)");
}

Status check_no_verifier_settings(const VerifierChoice& choice) {
  if (choice.file.empty() && choice.settings.empty()) return ok();
  return fail("--verifier-config and --verifier-set need a model: name it with --verifier");
}

Result<std::unique_ptr<OpenedVerifier>> OpenedVerifier::open(const VerifierChoice& choice,
                                                             const fs::path& folder) {
  VerifierSettings settings;
  TRY(apply_given(settings, choice.file, choice.settings, "--verifier-set"));
  ModelChoice model{.name = choice.model};
  TRY(find_model(model));
  if (!folder.empty()) TRY(make_directories(folder));
  const auto in = [&folder](const std::string& name) {
    return folder.empty() ? fs::path() : folder / (name + ".sqlite");
  };
  auto opened = std::make_unique<OpenedVerifier>();
  opened->folder_ = folder;
  if (is_remote(choice.model)) {
    TRY_ASSIGN(opened->writer_, open_remote_writer(choice.model, settings.api, {}, in("requests")));
  } else {
    TRY_ASSIGN(opened->writer_, ModelWriter::open(model.directory, {}, prompt_with_system()));
  }
  opened->what_decides_ = decides_of(model.directory, settings.verifier);
  TRY_ASSIGN(opened->verifier_,
             verifier::Verifier::open(
                 settings.verifier, {.writer = opened->writer_->prompted_writer().writer,
                                     .model = model.directory,
                                     .store = in("votes"),
                                     .cost = [writer = opened->writer_.get()](const Usage& usage) {
                                       return writer->cost_of(usage);
                                     }}));
  return opened;
}

Status OpenedVerifier::account() {
  LOG("the verifier: {}", verifier_->work().to_text());
  return folder_.empty() ? ok() : writer_->account(folder_);
}

Result<JudgeWithVerifier> JudgeWithVerifier::open(const VerifierChoice& choice,
                                                  const fs::path& folder) {
  JudgeWithVerifier made;
  const fs::path kept = folder / "verifier";
  std::error_code ignored;
  const bool has_rejected = fs::exists(kept / "options.json", ignored);
  if (choice.model.empty()) {
    if (has_rejected)
      return fail(
          "{}: began with a verifier that rejects; name it again with --verifier, or "
          "choose another directory",
          folder.string());
    TRY(check_no_verifier_settings(choice));
    return made;
  }
  TRY_ASSIGN(made.verifier_, OpenedVerifier::open(choice, kept));
  if (!made.rejects() && has_rejected)
    return fail(
        "{}: began with a verifier that rejects; give --verifier-set severity=reject "
        "again, or choose another directory",
        folder.string());
  if (made.rejects()) {
    if (!has_rejected && fs::exists(folder / "options.json", ignored))
      return fail("{}: began without a verifier that rejects; choose another directory",
                  folder.string());
    TRY(eval::keep_options(kept, made.verifier_->what_decides()));
  }
  return made;
}

gym::api::Judge& JudgeWithVerifier::before(gym::api::Judge& judge) {
  if (!rejects()) return judge;
  judge_ = std::make_unique<verifier::VerifyingJudge>(judge, verifier_->verifier());
  return *judge_;
}

Status JudgeWithVerifier::review(const fs::path& folder, std::span<const Task> tasks) {
  if (!verifier_) return ok();
  TRY_ASSIGN(const auto review,
             verifier::review_samples(folder / "samples.jsonl", tasks, verifier_->verifier()));
  TRY(verifier_->account());
  Json record = {{"kernels", review.kernels},
                 {"findings", review.findings},
                 {"agreement", to_json(review.agreement)},
                 {"settings", verifier_->what_decides()}};
  TRY(write_file_atomic(folder / "verifier.json", record.dump(2) + "\n"));
  std::string found;
  for (const auto& [rule, kernels] : review.findings)
    found += fmt::format("{} {} {}", found.empty() ? ":" : ",", rule, kernels);
  show("\nthe verifier read {} kernels{}\nverifier and rules: {}\n", review.kernels,
       found.empty() ? " and objects to none" : found, to_text(review.agreement));
  return ok();
}

}  // namespace tritonsmith::cli
