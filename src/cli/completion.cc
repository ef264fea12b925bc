// `tritonsmith completion bash` and `tritonsmith completion man` print the completion script of a
// shell and the man page. Both come from the tree of commands. `make install` writes them.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "cli/call/command.h"
#include "cli/call/help.h"
#include "cli/call/output.h"
#include "cli/call/version.h"

namespace tritonsmith::cli {
namespace {

std::vector<const CLI::App*> visible_commands(const CLI::App& app) {
  return app.get_subcommands(
      [](const CLI::App* each) { return !each->get_name().empty() && !each->get_group().empty(); });
}

// Returns the options of a command and of its groups.
// CLI11 stores a group as a subcommand without a name.
std::vector<const CLI::Option*> options_of(const CLI::App& command) {
  std::vector<const CLI::Option*> options = command.get_options();
  for (const CLI::App* group :
       command.get_subcommands([](const CLI::App* each) { return each->get_name().empty(); }))
    for (const CLI::Option* option : group->get_options()) options.push_back(option);
  return options;
}

std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : options_of(command))
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

// Returns the values of an option that takes one of a closed set. CLI11 calls its type
// "TEXT:{strict,fused,open}".
std::string choices_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const std::size_t begin = type.find('{'), end = type.rfind('}');
  if (begin == std::string::npos || end == std::string::npos) return {};
  std::string choices = type.substr(begin + 1, end - begin - 1);
  std::ranges::replace(choices, ',', ' ');
  return choices;
}

// Adds the cases of one command and of those below it. `path` is, for example, "tasks make".
void add_bash_cases(const CLI::App& command, const std::string& path, std::string& words,
                    std::string& values) {
  std::vector<std::string> all;
  for (const CLI::App* inner : visible_commands(command)) all.push_back(inner->get_name());
  for (const std::string& name : option_names(command)) all.push_back(name);
  words += fmt::format("    '{}') words='{}' ;;\n", path, fmt::join(all, " "));
  for (const CLI::Option* option : options_of(command))
    for (const std::string& name : option->get_lnames())
      if (const std::string choices = choices_of(*option); !choices.empty())
        values += fmt::format("    '{} --{}') choices='{}' ;;\n", path, name, choices);
  for (const CLI::App* inner : visible_commands(command))
    add_bash_cases(*inner, path.empty() ? inner->get_name() : path + " " + inner->get_name(), words,
                   values);
}

void add_paths(const CLI::App& command, const std::string& path, std::vector<std::string>& paths) {
  for (const CLI::App* inner : visible_commands(command)) {
    paths.push_back(
        fmt::format("'{}'", path.empty() ? inner->get_name() : path + " " + inner->get_name()));
    add_paths(*inner, paths.back().substr(1, paths.back().size() - 2), paths);
  }
}

std::string bash_script(const CLI::App& app) {
  std::string words, values;
  std::vector<std::string> paths;
  add_bash_cases(app, "", words, values);
  add_paths(app, "", paths);
  return fmt::format(
      R"sh(# bash completion for tritonsmith, written by `tritonsmith completion bash`
_tritonsmith() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}}
  local path='' words='' choices='' word i
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=${{path:+$path }}${{COMP_WORDS[i]}}
    case $word in
    {}) path=$word ;;
    esac
  done
  case "$path $previous" in
{}  esac
  if [[ -n $choices ]]; then
    COMPREPLY=($(compgen -W "$choices" -- "$current"))
    return
  fi
  case $path in
{}  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  [[ $current == -* ]] || COMPREPLY+=($(compgen -f -- "$current"))
}}
complete -o filenames -o bashdefault -F _tritonsmith tritonsmith
)sh",
      fmt::join(paths, " | "), values, words);
}

// Escapes text for troff. A line must not begin with a dot or a quote, and a dash is not a hyphen.
std::string troff(std::string_view text) {
  std::string safe;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool begins_line = i == 0 || text[i - 1] == '\n';
    if (begins_line && (text[i] == '.' || text[i] == '\'')) safe += "\\&";
    if (text[i] == '\\')
      safe += "\\e";
    else if (text[i] == '-')
      safe += "\\-";
    else
      safe += text[i];
  }
  return safe;
}

// Adds a command's section. `parents` is, for example, "tritonsmith tasks". The exit codes stand
// once at the end of the page.
void add_man_section(const CLI::App& command, const std::string& parents, std::string& page) {
  std::string help = command.help(parents);
  if (const std::size_t at = help.find(kExitCodes); at != std::string::npos)
    help.erase(at, kExitCodes.size());
  const std::string path = parents + " " + command.get_name();
  page += fmt::format(".SS {}\n.nf\n{}\n.fi\n", troff(path), troff(help));
  for (const CLI::App* inner : visible_commands(command)) add_man_section(*inner, path, page);
}

std::string man_page(const CLI::App& app) {
  std::string page = fmt::format(
      ".TH TRITONSMITH 1 \"\" \"tritonsmith {}\"\n.SH NAME\ntritonsmith \\- {}\n.SH SYNOPSIS\n"
      ".B tritonsmith\n.I COMMAND\n[options]\n.SH COMMANDS\n",
      troff(program_version()), troff(app.get_description()));
  for (const CLI::App* command : visible_commands(app))
    add_man_section(*command, "tritonsmith", page);
  page += fmt::format(".SH EXIT STATUS\n.nf\n{}.fi\n", troff(kExitCodes));
  page +=
      ".SH ENVIRONMENT\n.TP\nTRITONSMITH_PYTHON\nThe Python interpreter with torch and triton that "
      "guests run in.\n.TP\nTRITONSMITH_GYM_TOKEN\nThe bearer token of a service.\n.TP\n"
      "XDG_CACHE_HOME\nCaches lie in tritonsmith/ below it (default: ~/.cache).\n";
  return page;
}

void add_completion_command(CLI::App& app, Run& run) {
  const auto what = std::make_shared<std::string>();
  CLI::App* command =
      app.add_subcommand("completion", "Print a shell's completion script, or the man page");
  command->add_option("WHAT", *what, "What to print")
      ->required()
      ->check(CLI::IsMember({"bash", "man"}));
  add_example(*command, "completion bash > ~/.local/share/bash-completion/completions/tritonsmith");
  command->callback([&run, &app, what] {
    run = [&app, what] {
      show_text(*what == "bash" ? bash_script(app) : man_page(app));
      return ExitCode::done;
    };
  });
}

const Command completion_command(CommandGroup::shell, "completion", add_completion_command);

}  // namespace
}  // namespace tritonsmith::cli
