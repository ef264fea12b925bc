// `tritonsmith capture -- COMMAND`: runs the user's own command once, and writes the arguments with
// which it constructs and calls modules to a file. It prints them, and the commands that use them.
#include "modules/capture.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <memory>

#include "base/counted.h"
#include "base/file.h"
#include "base/log.h"
#include "base/printable.h"
#include "cli/call/command.h"
#include "cli/call/help.h"
#include "cli/call/output.h"

namespace tritonsmith::cli {
namespace {

using modules::CapturedCall;
using modules::CapturedModule;

constexpr std::size_t kListed = 24;  // modules in the list of a whole script
constexpr std::size_t kShownCalls = 6;
constexpr std::size_t kWidth = 100;

struct CaptureOptions {
  modules::CaptureRequest request;
  std::vector<std::string> names;
  std::string out = "captured.json";
  int seconds = 0;
};

// Shortens torch.randn(...) to randn(...).
std::string without_torch(std::string text) {
  constexpr std::string_view kPrefix = "torch.";
  const auto is_in_name = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
  };
  for (std::size_t at = text.find(kPrefix); at != std::string::npos; at = text.find(kPrefix, at)) {
    if (at > 0 && is_in_name(text[at - 1]))
      ++at;
    else
      text.erase(at, kPrefix.size());
  }
  return text;
}

std::string clipped(std::string text, std::size_t most) {
  if (text.size() <= most) return text;
  return std::string(first_bytes(text, most - 3)) + "...";
}

std::string times(std::int64_t count) {
  return count == 1 ? "once" : fmt::format("{} times", count);
}

std::string shown_call(const CapturedCall& call) {
  return call.problem.empty() ? without_torch(call.text) : "(" + call.problem + ")";
}

void show_module(std::size_t number, const CapturedModule& module) {
  const bool is_function = module.instances == 0;
  show("{:>3}  {}: {}{}\n", number, module.target.empty() ? module.name : module.target,
       is_function ? "" : counted(module.instances, "instance") + ", ",
       counted(module.calls, "call"));
  if (!module.why_no_task.empty()) show("     no task, because {}\n", module.why_no_task);
  if (!module.init_problem.empty())
    show("     its constructor's arguments do not fit in text: {}; give --init\n",
         module.init_problem);
  else if (!module.init.empty())
    show("     constructed with {}\n", without_torch(module.init));
  if (!module.dtype.empty()) show("     weights in {}\n", module.dtype);
  for (std::size_t i = 0; i < std::min(module.inputs.size(), kShownCalls); ++i) {
    const CapturedCall& call = module.inputs[i];
    show("     called {} with {}{}\n", times(call.calls), shown_call(call),
         call.note.empty() ? "" : ", " + call.note);
  }
  if (module.inputs.size() > kShownCalls || module.more > 0)
    show("     and in other ways, which the file {}\n", module.more > 0 ? "only counts" : "holds");
  const auto cast = std::ranges::find_if(
      module.inputs, [](const CapturedCall& call) { return !call.autocast.empty(); });
  if (cast != module.inputs.end() && module.instances > 0)
    show("     under autocast: --dtype {} gives weights and inputs that type\n", cast->autocast);
}

// `is_one_of_several` says that the list holds this class with other arguments, too.
void show_line(std::size_t number, const CapturedModule& module, bool is_one_of_several) {
  std::string called = module.inputs.empty() ? "" : shown_call(module.inputs.front());
  if (is_one_of_several && !module.init.empty())
    called += ", constructed with " + without_torch(module.init);
  const std::string others =
      module.inputs.size() > 1 ? fmt::format(" and {} more", module.inputs.size() - 1) : "";
  const std::string head =
      fmt::format("{:>3}  {:<34} {:>6}  ", number,
                  module.target.empty() ? module.name : module.target, module.calls);
  show("{}{}{}\n", head,
       clipped(called, kWidth - std::min(kWidth - 30, head.size() + others.size())), others);
}

// Returns a word as a shell takes it.
std::string quoted(const std::string& word) {
  constexpr std::string_view kPlain = "_-./:=+,%@";
  const bool is_plain = std::ranges::all_of(word, [&](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           kPlain.find(c) != std::string_view::npos;
  });
  if (is_plain && !word.empty()) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

// Returns FILE, or FILE:NUMBER for all but the first module of a class.
std::string location_of(const std::vector<CapturedModule>& all, std::size_t i,
                        const std::string& file) {
  const auto first = std::ranges::find(all, all[i].target, &CapturedModule::target);
  return first == all.begin() + static_cast<std::ptrdiff_t>(i) ? file
                                                               : fmt::format("{}:{}", file, i + 1);
}

bool can_be_task(const CapturedModule& module) {
  return !module.target.empty() && module.init_problem.empty() &&
         std::ranges::any_of(module.inputs, [](const auto& call) { return call.problem.empty(); });
}

void show_next(const std::vector<CapturedModule>& all, const std::string& file) {
  const auto chosen = std::ranges::find_if(all, can_be_task);
  if (chosen == all.end()) return;
  const std::string location =
      location_of(all, static_cast<std::size_t>(chosen - all.begin()), file);
  const std::string call =
      fmt::format("{} --captured {}", quoted(chosen->target), quoted(location));
  show("\nNext:\n  tritonsmith tasks from-module {}\n", call);
  show("  tritonsmith judge --task {} --kernel KERNEL.py\n", call);
  show("  tritonsmith write {} --model MODEL\n", call);
}

void show_capture(const std::vector<CapturedModule>& all, const CaptureOptions& options) {
  if (!options.names.empty()) {
    for (std::size_t i = 0; i < all.size(); ++i) show_module(i + 1, all[i]);
  } else {
    show("     {:<34} {:>6}  called with\n", "class", "calls");
    const std::size_t listed = std::min(all.size(), kListed);
    for (std::size_t i = 0; i < listed; ++i)
      show_line(i + 1, all[i], std::ranges::count(all, all[i].target, &CapturedModule::target) > 1);
    if (listed < all.size()) show("     {} more are in {}\n", all.size() - listed, options.out);
  }
  show_next(all, options.out);
}

// Returns the options that the command gets, and that capture has, too. An option with which capture
// was also called is certainly the command's own.
std::vector<std::string> shared_options(const CLI::App& app,
                                        const std::vector<std::string>& command) {
  std::vector<std::string> names;
  for (const std::string name : {"--module", "--out", "--seconds"}) {
    const bool has_it = std::ranges::any_of(command, [&](const std::string& word) {
      return word == name || word.starts_with(name + "=");
    });
    if (has_it && app.count(name) == 0) names.push_back(name);
  }
  return names;
}

Status capture(CaptureOptions options) {
  TRY(modules::check_capture_file(options.out));
  TRY(prepare_output_file(options.out));
  options.request.names = options.names;
  if (options.seconds > 0) options.request.limit = std::chrono::seconds(options.seconds);
  TRY_ASSIGN(const auto captured, modules::capture(options.request));
  if (!captured.ending.empty())
    LOG("the command {}; what it called before is recorded", captured.ending);
  TRY_ASSIGN(const auto all, modules::chosen_modules(captured.modules, options.names));
  TRY(modules::write_capture_file(options.out, all));
  show_capture(all, options);
  return ok();
}

void add_capture_command(CLI::App& app, Run& run) {
  CLI::App* command = app.add_subcommand(
      "capture", "Run your script once, and record how it calls its modules, for judge and write");
  const auto options = std::make_shared<CaptureOptions>();
  command
      ->add_option("--module", options->names,
                   "Record this class or function alone: Block, or net/block.py:Block. Repeatable "
                   "(default: every class that is called, and no function)")
      ->allow_extra_args(false);
  command->add_option("--out", options->out, "The file for the recorded arguments");
  command
      ->add_option("--seconds", options->seconds,
                   "Stop the command after this time, as Ctrl-C does (default: when it ends)")
      ->check(CLI::Range(1, 1 << 30));
  command
      ->add_option("COMMAND", options->request.command,
                   "After --: the command that starts your script, in your own Python. It runs "
                   "with your rights and outside the sandbox")
      ->required();
  add_example(*command, "capture --module Block -- python train.py --steps 2");
  add_example(*command, "capture --module kit.ops:rms_norm -- python bench.py");
  add_example(*command, "capture --seconds 60 -- python -m vit.train");
  add_example(*command, "capture --out test.json -- pytest tests/test_block.py");
  command->callback([options, command, &run] {
    for (const std::string& name : shared_options(*command, options->request.command))
      LOG("your script gets {0}, because it stands after --; if you mean capture's {0}, put "
          "it before --",
          name);
    run = [options] { return finish(capture(*options)); };
  });
}

const Command capture_command(CommandGroup::tasks, "capture", add_capture_command);

}  // namespace
}  // namespace tritonsmith::cli
