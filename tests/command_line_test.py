"""Tests the command line from outside: help, exit codes, mistakes, completion and the man page."""
import functools
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

BINARY = sys.argv.pop(1)


def run(*arguments, **environment):
    return subprocess.run([BINARY, *map(str, arguments)], capture_output=True, text=True, timeout=120,
                          env={**os.environ, **environment})


@functools.cache
def bash_completion():
    return run("completion", "bash").stdout


def completed(*words):
    """Returns the words that bash would offer for the last word."""
    script = bash_completion()
    quoted = " ".join(f"'{word}'" for word in ("tritonsmith", *words))
    asked = f"{script}\nCOMP_WORDS=({quoted}); COMP_CWORD={len(words)}; _tritonsmith\nprintf '%s\\n' \"${{COMPREPLY[@]}}\"\n"
    done = subprocess.run(["bash", "-c", asked], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and not done.stderr, done
    return done.stdout.split()


def commands():
    """Returns every visible command as a list of words."""
    script = bash_completion()
    return [path.split() for path in re.findall(r"^    '([^']+)'\) words=", script, re.M)]


@functools.cache
def help_of(name):
    done = run(*name.split(), "--help")
    assert done.returncode == 0, done.stderr
    return done.stdout


def calls_in_documents():
    """Yields (document, words) for each call of the program in a code block or between backticks."""
    root = pathlib.Path(__file__).resolve().parent.parent
    for path in [root / "README.md", root / "CONTRIBUTING.md", root / "ARCHITECTURE.md", *sorted((root / "docs").glob("*.md"))]:
        text = path.read_text()
        blocks = re.findall(r"```\n(.*?)```", text, re.S)
        lines = "\n".join(blocks).replace("\\\n", " ").splitlines()
        lines += re.findall(r"`([^`]+)`", re.sub(r"```.*?```", "", text, flags=re.S).replace("\n", " "))
        for line in lines:
            # Two spaces or a # begin an explanation.
            call = re.match(r"(?:[A-Z_]+=\S+ )*(?:build/)?tritonsmith ((?:\S+(?: (?! |#))?)+)", line.strip())
            # What follows "--" is another program's call. `rloop` is an old name that docs/settings.md lists.
            if call and re.match(r"[a-z]", call[1]) and call[1] != "rloop":
                yield path.relative_to(root).as_posix(), call[1].partition(" -- ")[0].split()


class CommandLine(unittest.TestCase):
    def refused(self, done, *needles, code=2):
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        for needle in needles:
            self.assertIn(needle, done.stderr)

    def test_every_help_has_examples_and_the_exit_codes(self):
        found = commands()
        self.assertTrue({"judge", "rl", "tasks from-run", "gym serve", "help"} <= {" ".join(path) for path in found}, found)
        for path in found:
            with self.subTest(" ".join(path)):
                text = help_of(" ".join(path))
                self.assertIn("Exit codes:\n  0  done", text)
                if path not in (["tasks"], ["examples"], ["gym"], ["model"]):
                    self.assertIn(f"Examples:\n  tritonsmith {' '.join(path)}", text)

    def test_documents_name_commands_and_options_that_exist(self):
        known, count = commands(), 0
        for document, words in calls_in_documents():
            paths = [path for path in known if words[:len(path)] == path]
            with self.subTest(document, call=" ".join(words)):
                self.assertTrue(paths, "there is no such command")
                name = " ".join(max(paths, key=len))
                for option in re.findall(r"(?<!\S)\[?(--[a-z][a-z-]*)", " ".join(words)):
                    self.assertRegex(help_of(name), rf"(?<![\w-]){option}(?![\w-])", f"{name} has no {option}")
                    count += 1
        self.assertGreater(count, 100)

    def test_help_shows_defaults(self):
        text = run("help", "judge").stdout
        self.assertEqual(text, run("judge", "--help").stdout)
        self.assertRegex(text, r"--trials .*\n? *.*\(default 3\)")
        self.assertRegex(text, r"--policy \{strict,fused,open\}\s+What PyTorch may still compute[^-]*\(default strict\)")
        everything = run("help")
        self.assertEqual((everything.returncode, everything.stdout), (0, run("--help").stdout))
        self.assertIn("Judge kernels:", everything.stdout)
        self.assertNotIn("gym-referee", everything.stdout)

    def test_help_says_what_a_limit_of_0_means(self):
        for command in commands():
            for line in re.findall(r"--limit .*default 0\)", help_of(" ".join(command))):
                self.assertIn("; 0: ", line, command)

    def test_a_mistake_is_named_with_what_was_meant(self):
        self.refused(run("jugde"), "no command 'jugde'", "'judge'", "--help")
        self.refused(run("judge", "--tsk", "a.py", "--kernel", "b.py"), "unknown option '--tsk'", "'--task'", "judge --help")
        self.refused(run("judge", "--kernel", "b.py"), "--task is required")
        self.refused(run("tasks", "mak"), "no command 'tasks mak'", "'make'")
        strange = run("nonsense")
        self.refused(strange, "no command 'nonsense'", "--help")
        self.assertNotIn("did you mean", strange.stderr)
        self.refused(run("tasks", "list", "--family", "sofmax"), "sofmax", "softmax")
        self.refused(run("tasks", "list", "nothing.jsonl"), "nothing.jsonl", "No such file")
        self.refused(run("judge", "--task", "a.py", "--kernel", "b.py", "--policy", "lax"), "--policy", "lax", "strict, fused, open")
        self.refused(run("judge", "--task", "a.py", "--kernel"), "--kernel needs a value")
        self.refused(run("judge", "--task", "a.py", "--task", "b.py", "--kernel", "c.py"), "--task takes 1 value and got 2")
        self.refused(run("judge", "--task", "a.py", "--kernel", "b.py", "--trials", "0"), "--trials must lie between 1 and 1000")
        self.refused(run("doctor", "extra"), "no place for 'extra'")
        self.refused(run("help", "jugde"), "no command 'jugde'", "'judge'")
        self.refused(run("tasks", "mak", "--help"), "no command 'tasks mak'", "'make'")
        self.refused(run("write", "a.py", "--model", "b", "--seconds", "60"), "unknown option '--seconds'", "'--set seconds=VALUE'")
        self.refused(run("write", "a.py", "--model", "b", "--samples=3", "--smples", "3"), "did you mean '--samples'?")
        self.refused(run("rejudge", "no/samples.jsonl", "--suite", "nonsense:"), "no/samples.jsonl")
        task = pathlib.Path(__file__).resolve().parent / "tasks" / "scale_relu.py"
        for model in ("/nodir", "nodir", "./no/dir"):
            self.refused(run("write", task, "--model", model), f"there is no folder {model};")
        self.refused(run(), "name a command:", "judge")

    def test_a_setting_is_named_by_its_words(self):
        with tempfile.TemporaryDirectory() as folder:
            config = os.path.join(folder, "sft.toml")
            with open(config, "w") as file:
                file.write("optimizer.lr = 1e-3\n")
            self.refused(run("sft", config), "'optimizer.lr'", "'optimizer.learning_rate'")

    def test_the_page_of_settings_has_every_setting(self):
        listed = set()
        for command in ("sft", "rl"):
            listed |= set(re.findall(r"^  (\w+\.\w+) ", run(command, "--help").stdout, re.M))
        page = pathlib.Path(__file__).resolve().parent.parent / "docs" / "settings.md"
        described = set()
        for section in re.split(r"^## ", page.read_text(), flags=re.M)[1:]:
            name = section.split("\n", 1)[0]
            if name not in ("Old names", "Refused combinations"):
                for row in re.findall(r"^\| (`[^|]*) \|", section, re.M):
                    described |= {f"{name}.{setting}" for setting in re.findall(r"`(\w+)`", row)}
        self.assertGreater(len(listed), 100)
        self.assertEqual(listed, described)

    def test_an_old_name_works_and_says_the_new_one(self):
        done = run("rloop", "/no/such/run", "--out", "x.jsonl")
        self.assertEqual(done.returncode, 2)
        self.assertIn("`tritonsmith rloop` is now `tritonsmith tasks from-run`", done.stderr)
        self.assertIn("/no/such/run", done.stderr)

    def test_the_version_names_all_that_judges(self):
        done = run("--version")
        self.assertRegex(done.stdout, r"tritonsmith \d+\.\d+\.\d+, commit \S+\njudging version \d+\npython .*, torch .*, triton ")
        without = run("--version", TRITONSMITH_PYTHON="/nowhere/python")
        self.assertEqual(without.returncode, 0)
        self.assertIn("/nowhere/python has no torch", without.stdout)

    def test_an_answer_that_could_not_be_written_is_a_fault(self):
        for option in ("--version", "--help"):
            with open("/dev/full", "w") as full:
                done = subprocess.run([BINARY, option], stdout=full, stderr=subprocess.PIPE, text=True)
            self.assertEqual((done.returncode, done.stderr), (3, "tritonsmith: standard output could not be written\n"))

    def test_jobs_of_a_file_have_their_own_options(self):
        with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as jobs:
            for option in (["--policy", "open"], ["--trials", "5"], ["--task", "relu.py"]):
                done = run("gym", "submit", "--url", "http://127.0.0.1:9", "--jobs", jobs.name, *option)
                self.refused(done, option[0], "--jobs")

    def test_a_class_of_devices_is_one_of_a_service(self):
        config = pathlib.Path(__file__).resolve().parent.parent / "configs" / "rl-small.toml"
        with tempfile.TemporaryDirectory() as model:
            done = run("rl", config, "--set", f"model.path={model}", "--gym-device", "NVIDIA H200", "--dry-run")
        self.refused(done, "NVIDIA H200", "--gym")

    def test_bash_completes_commands_options_and_values(self):
        self.assertEqual(completed("jud"), ["judge"])
        self.assertEqual(completed("tasks", "fr"), ["from-run", "from-module"])
        self.assertEqual(completed("judge", "--poli"), ["--policy"])
        self.assertEqual(completed("judge", "--policy", ""), ["strict", "fused", "open"])
        self.assertIn("--quickstart", completed("tasks", "make", "--"))

    def test_the_man_page_has_every_command(self):
        page = run("completion", "man").stdout
        self.assertTrue(page.startswith(".TH TRITONSMITH 1"))
        for path in commands():
            self.assertIn(".SS tritonsmith " + " ".join(path).replace("-", r"\-"), page)
        self.assertEqual(page.count("Exit codes:"), 1)


if __name__ == "__main__":
    unittest.main()
