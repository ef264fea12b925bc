#include "cli/call/help.h"

#include <fmt/format.h>

#include <map>
#include <memory>

#include "base/check.h"

namespace tritonsmith::cli {
namespace {

// CLI11's formatter, but with defaults and types in words: "auto, evaluate or replay" instead of
// "TEXT:{auto,evaluate,replay}=auto".
class PlainFormatter : public CLI::Formatter {
 public:
  std::string make_option_opts(const CLI::Option* option) const override {
    if (option->get_type_size() == 0) return "";
    std::string text = " " + argument_of(*option);
    if (option->get_expected_max() == CLI::detail::expected_max_vector_size) text += " ...";
    return option->get_required() ? text + " (required)" : text;
  }

  std::string make_option_desc(const CLI::Option* option) const override {
    std::string text = option->get_description();
    const std::string given = option->get_default_str();
    const bool has_default = option->get_type_size() != 0 && !given.empty() && given != "\"\"" &&
                             given != "[]" && given != "{}";
    if (!has_default || text.find("default") != std::string::npos) return text;
    return text + fmt::format("{}(default {})", text.empty() ? "" : " ", given);
  }

 private:
  static std::string argument_of(const CLI::Option& option) {
    const std::string type = option.get_type_name();
    const std::size_t colon = type.find(':');
    return colon == std::string::npos ? type : type.substr(colon + 1);
  }
};

std::map<const CLI::App*, std::string>& all_examples() {
  static std::map<const CLI::App*, std::string> examples;
  return examples;
}

// Completes the help of a command. If the footer has a callback, it lists the config's settings
// above this text.
void complete(CLI::App& app, const std::shared_ptr<PlainFormatter>& formatter) {
  app.formatter(formatter);
  // A group of options is a subcommand without a name.
  const auto inner = app.get_subcommands([](CLI::App* each) { return !each->get_name().empty(); });
  const auto found = all_examples().find(&app);
  const bool is_hidden = app.get_group().empty();
  CHECK(found != all_examples().end() || is_hidden, "{} has no example", app.get_name());
  const std::string examples =
      found == all_examples().end() ? "" : "Examples:\n" + found->second + "\n";
  app.footer(examples + std::string(kExitCodes));
  for (CLI::App* command : inner) complete(*command, formatter);
}

void add_help_command(CLI::App& app, Run& run) {
  CLI::App* command = app.add_subcommand("help", "Say what a command does and takes");
  command->add_option("COMMAND", "As in `tritonsmith help tasks make`")->expected(0, 3);
  add_example(*command, "help judge");
  // main.cc answers `help COMMAND` itself. Only `help --` comes here.
  command->callback([&run] {
    run = [] { return finish(fail("name the command as in `tritonsmith help judge`")); };
  });
}

const Command help_command(CommandGroup::shell, "help", add_help_command);

}  // namespace

void add_example(CLI::App& command, const std::string& example) {
  all_examples()[&command] += "  tritonsmith " + example + "\n";
}

void complete_help(CLI::App& app) {
  const auto formatter = std::make_shared<PlainFormatter>();
  formatter->column_width(34);
  add_example(app, "judge --task relu.py --kernel candidate.py");
  add_example(app, "write relu.py --model openai:NAME --out relu_triton.py");
  add_example(app, "help judge");
  complete(app, formatter);
}

}  // namespace tritonsmith::cli
