#include "modules/module_task.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>

#include "base/ask_program.h"
#include "base/check.h"
#include "base/file.h"
#include "base/printable.h"
#include "modules/helper.h"

namespace tritonsmith::modules {
namespace {

namespace fs = std::filesystem;

// Large files take a second, and example tensors need an import of torch.
constexpr auto kPatience = std::chrono::seconds(120);
constexpr const char* kStart =
    "import sys; sys.path.insert(0, sys.argv[1]); "
    "from tritonsmith_modules.main import main; main()";

// Returns what tells a task from those of other calls: " with INPUTS", if that is short.
std::string name_of_call(const std::string& inputs, std::size_t i) {
  constexpr std::size_t longest = 72, shown = 40;
  if (inputs.size() <= longest) return fmt::format(" with {}", inputs);
  return fmt::format(" with call {}, {}...", i + 1, first_bytes(inputs, shown));
}

// Returns the folders of $PYTHONPATH, where the user's packages may be.
Json python_path() {
  const char* variable = std::getenv("PYTHONPATH");
  Json folders = Json::array();
  std::string_view rest = variable == nullptr ? "" : variable;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    if (end > 0) folders.push_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return folders;
}

// Returns the helper's answer, unless it is an error.
Result<Json> ask_helper(const Json& question) {
  TRY_ASSIGN(const TempDir helper, write_helper());
  TRY_ASSIGN(Json answer,
             ask_program({gym::sandbox::guest_python(""), "-I", "-B", "-c", kStart, helper.path()},
                         question, Deadline::after(kPatience)));
  const std::string why = JsonReader(answer).string("error", "");
  if (!why.empty()) return fail("{}", why);
  return answer;
}

}  // namespace

bool is_python_name(std::string_view text) {
  const auto fits = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || (c & 0x80) != 0;
  };
  return !text.empty() && std::isdigit(static_cast<unsigned char>(text[0])) == 0 &&
         std::ranges::all_of(text, fits);
}

bool names_a_module(std::string_view name) {
  const std::size_t colon = name.rfind(':');
  std::error_code ignored;
  return colon != std::string_view::npos && colon > 0 && is_python_name(name.substr(colon + 1)) &&
         !fs::exists(name, ignored);
}

bool names_a_nested_class(std::string_view name) {
  const std::size_t colon = name.rfind(':');
  std::error_code ignored;
  if (colon == std::string_view::npos || fs::exists(name, ignored)) return false;
  const std::string_view inner = name.substr(colon + 1);
  const std::size_t dot = inner.rfind('.');
  return dot != std::string_view::npos && names_a_module(name.substr(0, colon + 1 + dot)) &&
         is_python_name(inner.substr(dot + 1));
}

namespace {

// The helper's answer about a text that lies in no folder.
Result<Json> ask_about_text(const ModuleRequest& request) {
  if (!is_python_name(request.target))
    return fail("'{}' is no name of a class or a function", request.target);
  TRY_ASSIGN(const TempDir folder, TempDir::make("module"));
  TRY(write_file_atomic(fs::path(folder.path()) / "module.py", request.source));
  return ask_helper({{"target", "module.py:" + request.target},
                     {"inputs", request.inputs},
                     {"init", request.init},
                     {"dtype", request.dtype},
                     {"folder", folder.path()},
                     {"path", Json::array()},
                     {"is_alone", true}});
}

Result<Json> ask_about_file(const ModuleRequest& request) {
  std::error_code error;
  const fs::path folder = fs::current_path(error);
  if (error) return fail("the current folder cannot be read: {}", error.message());
  return ask_helper({{"target", request.target},
                     {"inputs", request.inputs},
                     {"init", request.init},
                     {"dtype", request.dtype},
                     {"folder", folder},
                     {"path", python_path()}});
}

}  // namespace

Result<ModuleTasks> tasks_of_module(const ModuleRequest& request) {
  TRY_ASSIGN(const Json answer,
             request.source.empty() ? ask_about_file(request) : ask_about_text(request));
  JsonReader reader(answer);
  ModuleTasks made{.name = reader.string("name", ""),
                   .file = reader.string("file", ""),
                   .is_class = reader.boolean("is_class", false),
                   .arguments = reader.string("arguments", ""),
                   .keywords = reader.string("keywords", ""),
                   .parameters = reader.strings("parameters"),
                   .calls = reader.strings("calls")};
  std::vector<Task>& tasks = made.tasks;
  for (std::string& source : reader.strings("sources"))
    tasks.push_back({.id = made.name,
                     .suite = "module",
                     .source = std::move(source),
                     .scale = TaskScale::gpu});  // unknown, as that of any file
  TRY(reader.status());
  CHECK(tasks.size() == std::max<std::size_t>(request.inputs.size(), 1), "a task for each input");
  for (std::size_t i = 0; tasks.size() > 1 && i < tasks.size(); ++i)
    tasks[i].id = made.name + name_of_call(request.inputs[i], i);
  return made;
}

Result<ModuleTasks> module_of_file(Task task) {
  TRY_ASSIGN(const Json answer, ask_helper({{"source", task.source}}));
  JsonReader reader(answer);
  ModuleTasks made{.name = "Model",
                   .file = "the module",
                   .is_class = true,
                   .arguments = reader.string("arguments"),
                   .keywords = reader.string("keywords"),
                   .calls = {"*get_inputs()"}};
  TRY(reader.status());
  made.tasks.push_back(std::move(task));
  return made;
}

}  // namespace tritonsmith::modules
