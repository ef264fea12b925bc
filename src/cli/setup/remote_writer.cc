#include "cli/setup/remote_writer.h"

#include <cstdlib>
#include <filesystem>

#include "base/file.h"
#include "base/log.h"
#include "cli/setup/given_settings.h"
#include "cli/setup/hub_names.h"
#include "generate/api/api_writer.h"

namespace tritonsmith::cli {
namespace {

constexpr const char* kDefaultUrl = "https://api.openai.com/v1";

class RemoteWriter : public OpenedWriter {
 public:
  RemoteWriter(generate::ApiConfig config, std::string model, text::PromptConfig prompt,
               std::unique_ptr<generate::ApiWriter> writer)
      : config_(std::move(config)),
        model_(std::move(model)),
        prompt_(std::move(prompt)),
        writer_(std::move(writer)) {}

  eval::PromptedWriter prompted_writer() override {
    return {.writer = *writer_,
            .prompt = [this](const Task& task) { return text::prompt_for(task, prompt_); },
            .feedback = prompt_.style};
  }
  std::optional<std::int64_t> positions() const override { return writer_->context_length(); }

  double cost_of(const Usage& usage) const override {
    return generate::cost_of(usage, config_.prices);
  }
  Status account(const std::filesystem::path& directory) override {
    TRY_ASSIGN(const generate::Spending spent, writer_->spending());
    LOG("{} at {}: {}", model_, config_.base_url, spent.to_text());
    if (directory.empty()) return ok();
    Json settings = Json::object();
    for (const auto& [name, value] : settings_of(config_)) settings[name] = value;
    return write_file_atomic(directory / "api.json",
                             to_line({{"model", model_},
                                      {"requests", spent.requests},
                                      {"prompt_tokens", spent.usage.prompt_tokens},
                                      {"cached_prompt_tokens", spent.usage.cached_prompt_tokens},
                                      {"completion_tokens", spent.usage.completion_tokens},
                                      {"reasoning_tokens", spent.usage.reasoning_tokens},
                                      {"cost", spent.cost},
                                      {"settings", std::move(settings)}}) +
                                 "\n");
  }

 private:
  generate::ApiConfig config_;
  std::string model_;
  text::PromptConfig prompt_;
  std::unique_ptr<generate::ApiWriter> writer_;
};

Result<generate::ApiConfig> api_config_of(const ModelChoice& choice) {
  generate::ApiConfig config;
  TRY(apply_given(config, choice.api_config, choice.api, "--api"));
  if (!choice.base_url.empty()) config.base_url = choice.base_url;
  if (!choice.key_file.empty()) config.key_file = choice.key_file;
  return config;
}

Status check_no_api_options(const ModelChoice& choice) {
  if (choice.base_url.empty() && choice.key_file.empty() && choice.api.empty() &&
      choice.api_config.empty())
    return ok();
  return fail("--base-url and the --api options ask a server: name its model as --model {}NAME",
              kRemotePrefix);
}

}  // namespace

void add_model_options(CLI::App& command, ModelChoice& choice) {
  command.add_option("--model", choice.name, kModelHelp)->required();
  add_model_access_options(command, choice);
}

void add_model_access_options(CLI::App& command, ModelChoice& choice) {
  command.add_option("--base-url", choice.base_url,
                     "The address of that server, such as http://HOST:PORT/v1 (default: "
                     "$OPENAI_BASE_URL, else api.openai.com)");
  command.add_option("--api-key-file", choice.key_file,
                     "The first line of this file is the server's key (default: $OPENAI_API_KEY)");
  command.add_option("--api-config", choice.api_config,
                     "A TOML file that says how the server is asked (docs/models.md)");
  command.add_option("--api", choice.api,
                     "One such setting, for example requests=32 or prices.output=10 (repeatable)");
  add_placement_options(command, choice.placement);
}

Status find_model(ModelChoice& choice) {
  choice.directory = choice.name;
  if (is_remote(choice.name)) return ok();
  TRY_ASSIGN(choice.directory, model_directory(choice.name));
  std::error_code ignored;
  if (!std::filesystem::exists(choice.directory, ignored))
    return fail(
        "there is no folder {}; a model is a folder, OWNER/NAME of the Hugging Face hub, or "
        "openai:NAME behind a server",
        choice.directory);
  return ok();
}

Result<std::unique_ptr<OpenedWriter>> open_writer(const ModelChoice& choice,
                                                  const text::PromptConfig& prompt,
                                                  const std::filesystem::path& store) {
  if (!is_remote(choice.name)) {
    TRY(check_no_api_options(choice));
    TRY_ASSIGN(auto own, ModelWriter::open(choice.directory, choice.placement, prompt));
    return std::unique_ptr<OpenedWriter>(std::move(own));
  }
  TRY_ASSIGN(generate::ApiConfig config, api_config_of(choice));
  return open_remote_writer(choice.name, std::move(config), prompt, store);
}

Result<std::unique_ptr<OpenedWriter>> open_remote_writer(const std::string& model,
                                                         generate::ApiConfig config,
                                                         const text::PromptConfig& prompt,
                                                         const std::filesystem::path& store) {
  const std::string name = model.substr(kRemotePrefix.size());
  if (name.empty()) return fail("{}: the model's name is missing", kRemotePrefix);
  const char* url = std::getenv(generate::kApiUrlVariable);
  if (config.base_url.empty()) config.base_url = url != nullptr ? url : kDefaultUrl;
  const std::filesystem::path answers =
      config.store.empty() ? store : std::filesystem::path(config.store);
  TRY_ASSIGN(auto writer, generate::ApiWriter::open(config, name, answers));
  return std::unique_ptr<OpenedWriter>(
      std::make_unique<RemoteWriter>(config, name, prompt, std::move(writer)));
}

}  // namespace tritonsmith::cli
