"""The command line of `tritonsmith` as a man page and as completions for bash, zsh and fish, from what --help says.

usage: command_line.py PROGRAM man|bash|zsh|fish
"""

import dataclasses
import re
import subprocess
import sys

# An option line of CLI11: its names and argument, two blanks or more, its help; continued lines are indented further.
OPTION = re.compile(r"^  (\S.*?)(?:\s{2,}(\S.*))?$")
SECTIONS = {"Options:": "options", "Positionals:": "positionals", "Subcommands:": "subcommands"}


@dataclasses.dataclass
class Command:
    words: tuple
    summary: str = ""
    options: list = dataclasses.field(default_factory=list)  # [names and argument, [lines of help]]
    positionals: list = dataclasses.field(default_factory=list)
    subcommands: list = dataclasses.field(default_factory=list)

    def long_names(self):
        # Behind the names come the argument and what the option excludes.
        return [name for left, _ in self.options for name in re.findall(r"--[a-z][a-z0-9-]*", left.split(" ")[0])]

    def subcommand_names(self):
        return [left for left, _ in self.subcommands]


def parse_help(words, text):
    lines = text.splitlines()
    command, section = Command(words), None
    command.summary = " ".join(line.strip() for line in lines[: next(i for i, line in enumerate(lines) if line.startswith("Usage:"))])
    for line in lines:
        if line in SECTIONS:
            section = getattr(command, SECTIONS[line])
        elif section is not None and OPTION.match(line) and not line.startswith("   "):
            left, right = OPTION.match(line).groups()
            section.append([left, [right] if right else []])
        elif section and line.strip():
            section[-1][1].append(line.strip())
    return command


def commands_of(program, words=()):
    text = subprocess.run([program, *words, "--help"], check=True, capture_output=True, text=True).stdout
    command = parse_help(words, text)
    yield command
    for name in command.subcommand_names():
        yield from commands_of(program, (*words, name))


def roff(text):
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + escaped if escaped[:1] in ".'" else escaped


def man_page(commands, version):
    top, rest = commands[0], commands[1:]
    yield f'.TH TRITONSMITH 1 "" "tritonsmith {roff(version)}" "Tritonsmith"'
    yield f".SH NAME\ntritonsmith \\- {roff(top.summary.rstrip('.').lower())}"
    yield ".SH SYNOPSIS\n.B tritonsmith\n.I command\n[\\fIoptions\\fR]"
    yield f".SH DESCRIPTION\n{roff(top.summary)}\nThe documents beside the program's sources say more."
    yield ".SH COMMANDS"
    for command in rest:
        yield f".SS tritonsmith {roff(' '.join(command.words))}\n{roff(command.summary)}"
        for left, help_lines in command.positionals + command.options:
            if left.startswith("-h,"):
                continue
            yield f".TP\n.B {roff(left)}\n" + "\n.br\n".join(map(roff, help_lines))
    yield ".SH EXIT STATUS\n0 when all is well; else one line on standard error says what to do."
    yield ".SH ENVIRONMENT\n.TP\n.B TRITONSMITH_PYTHON\nThe Python that runs candidates and tasks, with torch and triton."
    yield ".TP\n.B TRITONSMITH_GYM_TOKEN\nThe bearer token of a gym service."


def bash_completion(commands):
    yield "# bash completion for tritonsmith"
    yield "_tritonsmith() {"
    yield '  local current="${COMP_WORDS[COMP_CWORD]}" path="" word words=""'
    yield '  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do'
    yield '    case "$path $word" in'
    for command in commands[1:]:
        yield f'      "{" " * bool(command.words) + " ".join(command.words)}") path="$path $word" ;;'
    yield "    esac"
    yield "  done"
    yield '  case "$path" in'
    for command in commands:
        wanted = " ".join([*command.subcommand_names(), *command.long_names()])
        yield f'    "{"".join(" " + word for word in command.words)}") words="{wanted}" ;;'
    yield "  esac"
    yield '  COMPREPLY=($(compgen -W "$words" -- "$current"))'
    yield '  [ "${#COMPREPLY[@]}" -gt 0 ] || COMPREPLY=($(compgen -f -- "$current"))'
    yield "}"
    yield "complete -o filenames -F _tritonsmith tritonsmith"


def zsh_completion(commands):
    yield "#compdef tritonsmith"
    yield "autoload -U +X bashcompinit && bashcompinit"
    yield from bash_completion(commands)


def fish_completion(commands):
    def quoted(text):
        return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"

    yield "# fish completion for tritonsmith"
    for command in commands:
        seen = "; and ".join(f"__fish_seen_subcommand_from {word}" for word in command.words)
        names = command.subcommand_names()
        unseen = f"not __fish_seen_subcommand_from {' '.join(names)}" if names else ""
        condition = "; and ".join(part for part in (seen, unseen) if part) or "true"
        for left, help_lines in command.subcommands:
            yield f"complete -c tritonsmith -f -n {quoted(condition)} -a {left} -d {quoted(' '.join(help_lines[:1]))}"
        for left, help_lines in command.options:
            for name in re.findall(r"--([a-z][a-z0-9-]*)", left.split(" ")[0]):
                takes = " -r" if re.search(r"\b[A-Z]{2,}", left) else ""
                yield f"complete -c tritonsmith -n {quoted(condition)} -l {name}{takes} -d {quoted(' '.join(help_lines[:1]))}"


FORMS = {"bash": bash_completion, "zsh": zsh_completion, "fish": fish_completion}


def generate(program, forms):
    """Returns a text for each form. The program is asked once."""
    commands = list(commands_of(program))
    version = subprocess.run([program, "--version"], check=True, capture_output=True, text=True).stdout.strip()
    lines = {form: man_page(commands, version) if form == "man" else FORMS[form](commands) for form in forms}
    return {form: "\n".join(text) + "\n" for form, text in lines.items()}


if __name__ == "__main__":
    sys.stdout.write(generate(sys.argv[1], sys.argv[2:3])[sys.argv[2]])
