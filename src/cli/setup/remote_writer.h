// Opens the model of `eval` and `write`. It is a directory, a name on the Hugging Face hub, or
// openai:NAME for a model behind a server of OpenAI's protocol. Options say how the server is
// asked.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/setup/prompted_writer.h"
#include "generate/api/api_config.h"

namespace tritonsmith::cli {

inline constexpr std::string_view kRemotePrefix = "openai:";
inline bool is_remote(std::string_view model) { return model.starts_with(kRemotePrefix); }

struct ModelChoice {
  std::string name;       // as the user gave it
  std::string directory;  // of the files; of a remote model openai:NAME again (find_model)
  Placement placement;
  std::string base_url, key_file, api_config;
  std::vector<std::string> api;  // settings of generate::ApiConfig, as KEY=VALUE
};

// --model, and the options below.
void add_model_options(CLI::App& command, ModelChoice& choice);
// --device and --precision; --base-url, --api-key-file, --api-config and --api.
void add_model_access_options(CLI::App& command, ModelChoice& choice);
inline constexpr const char* kModelHelp =
    "A model directory, OWNER/NAME on the Hugging Face hub, or openai:NAME for a model behind a "
    "server of OpenAI's protocol";

// Sets the directory. A model of the hub is fetched first, unless the cache has it.
Status find_model(ModelChoice& choice);

// Opens the model, which find_model has found. `store` is the file of a remote model's answers, unless
// the settings name one. It may be empty. Fails in one line that names the option, file or server at
// fault.
Result<std::unique_ptr<OpenedWriter>> open_writer(const ModelChoice& choice,
                                                  const text::PromptConfig& prompt,
                                                  const std::filesystem::path& store);
// The same for openai:NAME alone, with these settings in place of the choice's.
Result<std::unique_ptr<OpenedWriter>> open_remote_writer(const std::string& model,
                                                         generate::ApiConfig config,
                                                         const text::PromptConfig& prompt,
                                                         const std::filesystem::path& store);

}  // namespace tritonsmith::cli
