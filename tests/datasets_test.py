"""Data sets of others, made by pyarrow with exactly the columns that were published, through `tasks` and `examples`.

usage: datasets_test.py PROGRAM (with the Python that has the pinned pyarrow; skips where there is none)
"""

import gzip
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import kernelbook

try:
    import pyarrow as pa
    import pyarrow.parquet as pq
except ImportError:
    print("pyarrow is not installed here")
    sys.exit(77)

PROGRAM = sys.argv.pop(1)
MESSAGE = pa.struct([("role", pa.string()), ("content", pa.string())])
KERNELBOOK = pa.schema([
    ("entry_point", pa.string()), ("original_triton_code", pa.string()), ("python_code", pa.string()), ("triton_code", pa.string()),
    ("repo_name", pa.string()), ("module_name", pa.string()), ("synthetic", pa.bool_()), ("uuid", pa.int64()),
    ("licenses", pa.list_(pa.string())), ("stars", pa.int64()), ("sha", pa.string()), ("repo_link", pa.string())])
COLDSTART = pa.schema([
    ("messages", pa.list_(MESSAGE)), ("uuid", pa.int64()), ("entry_point", pa.string()), ("repo_name", pa.string()),
    ("module_name", pa.string()), ("final_speedup", pa.float64()), ("num_rounds", pa.int64()), ("original_python_code", pa.string()),
    ("best_round", pa.int64()), ("timestamp", pa.float64()), ("conversion_mode", pa.string()), ("enable_thinking", pa.bool_())])
RL_DATA = pa.schema([
    ("data_source", pa.string()), ("prompt", pa.list_(MESSAGE)), ("ability", pa.string()),
    ("reward_model", pa.struct([("ground_truth", pa.string()), ("style", pa.string())])),
    ("extra_info", pa.struct([(name, pa.string()) for name in
                              ("entry_point", "level", "module_name", "ops", "original_prompt", "repo_name", "type", "uuid")]))])


class Datasets(unittest.TestCase):
    def setUp(self):
        held = tempfile.TemporaryDirectory()
        self.addCleanup(held.cleanup)
        self.folder = pathlib.Path(held.name)

    def parquet(self, name, rows, schema=None, **options):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.Table.from_pylist(rows, schema=schema), path, **options)
        return path

    def run_program(self, *words, code=0):
        done = subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True)
        self.assertEqual(done.returncode, code, done.stderr + done.stdout)
        return done

    def imported(self, path, *words, command="tasks"):
        out = self.folder / "out.jsonl"
        look = ["--no-lint"] if command == "tasks" else []
        done = self.run_program(command, "import", path, "--out", out, *look, *words)
        return [json.loads(line) for line in out.read_text().splitlines()], done

    def refused(self, path, *words, command="tasks"):
        look = ["--no-lint"] if command == "tasks" else []
        done = self.run_program(command, "import", path, "--out", self.folder / "refused.jsonl", *look, *words, code=2)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertFalse((self.folder / "refused.jsonl").exists())
        return done.stderr

    def test_kernelbook_becomes_tasks_that_keep_licence_and_origin(self):
        path = self.parquet("dataset_permissive.parquet", [kernelbook.row(i) for i in range(3)], KERNELBOOK)
        tasks, _ = self.imported(path, "--suite", "KernelBook")
        self.assertEqual([task["id"] for task in tasks], ["0_Scaled0", "1_Scaled1", "2_Scaled2"])
        self.assertTrue(tasks[1]["source"].endswith("\n\nModel = Scaled1\n"))
        self.assertEqual(tasks[1]["origin"], {
            "dataset": "KernelBook", "row": "1", "repo_name": "a/b", "module_name": "Scaled1", "repo_link": "https://example.org/a/b",
            "sha": "0123", "licenses": ["MIT"], "stars": 1})

    def test_kernelbook_becomes_examples_that_sft_reads(self):
        path = self.parquet("book.parquet", [kernelbook.row(i) for i in range(3)], KERNELBOOK)
        examples, _ = self.imported(path, command="examples")
        self.assertEqual(len(examples), 3)
        self.assertIn("ModelNew = Scaled2New\n```\n</answer>", examples[2]["completion"])
        self.assertEqual(examples[2]["prompt"][0]["role"], "user")
        self.assertEqual(examples[2]["origin"]["licenses"], ["MIT"])

    def test_hostile_rows_are_named_in_one_line_or_skipped(self):
        rows = [kernelbook.row(0), kernelbook.row(1, python_code=None), kernelbook.row(2, python_code="x" * (100 << 20)),
                kernelbook.row(3, licenses=None, stars=None), kernelbook.row(4, entry_point="No; import os"),
                kernelbook.row(5, python_code="class Scaled5:\n  \0")]
        path = self.parquet("hostile.parquet", rows, KERNELBOOK)
        self.assertIn("hostile.parquet, row 2: has no column that holds a PyTorch module", self.refused(path))
        tasks, done = self.imported(path, "--keep-going")
        self.assertEqual([task["id"] for task in tasks], ["0_Scaled0", "3_Scaled3"])
        self.assertIn("2 tasks of 6 rows, 4 rows skipped", done.stdout)
        self.assertIn("1 of them name no licence", done.stdout)
        self.assertNotIn("licenses", tasks[1]["origin"])

    def test_columns_of_wrong_types_are_named(self):
        path = self.parquet("numbers.parquet", [{"python_code": 5, "entry_point": "Model"}])
        self.assertIn("'python_code' must be text, not number", self.refused(path))

    def test_a_cut_file_is_named(self):
        whole = self.parquet("whole.parquet", [kernelbook.row(i) for i in range(50)], KERNELBOOK).read_bytes()
        cut = self.folder / "cut.parquet"
        for length in (len(whole) // 2, len(whole) - 9, 3):
            cut.write_bytes(whole[:length])
            self.assertRegex(self.refused(cut), "cut.parquet: (cannot be read as Parquet|is neither)")
        damaged = bytearray(whole)
        damaged[len(whole) // 4:len(whole) // 3] = b"\xff" * (len(whole) // 3 - len(whole) // 4)
        cut.write_bytes(bytes(damaged))
        self.assertIn("cannot be read as Parquet", self.refused(cut))

    def test_kernelbench_in_the_hubs_layout(self):
        for level in (1, 2):
            rows = [{"code": kernelbook.module(number=10 * level + i), "level": level, "name": f"{i}_Scaled_{i}", "problem_id": i} for i in (1, 2)]
            self.parquet(f"set/data/level_{level}-00000-of-00001.parquet", rows)
        (self.folder / "set/README.md").write_text(
            "---\nlicense: mit\nconfigs:\n- config_name: default\n  data_files:\n  - split: level_1\n    path: data/level_1-*\n"
            "  - split: level_2\n    path: data/level_2-*\ndataset_info:\n  features:\n  - name: code\n    dtype: string\n---\n")
        self.assertIn("it has level_1, level_2", self.refused(self.folder / "set"))
        tasks, _ = self.imported(self.folder / "set", "--split", "level_2")
        self.assertEqual([task["id"] for task in tasks], ["level2/1_Scaled_1", "level2/2_Scaled_2"])
        self.assertEqual(tasks[0]["origin"]["licenses"], ["mit"])

    def test_conversations_of_five_rounds(self):
        messages = [{"role": role, "content": f"{role} {i}"} for i in range(5) for role in ("user", "assistant")]
        row = {"messages": messages, "uuid": 7, "entry_point": "Model", "repo_name": "", "module_name": "", "final_speedup": 1.5,
               "num_rounds": 5, "original_python_code": kernelbook.module(), "best_round": 3, "timestamp": 1.7e9,
               "conversion_mode": "full_conversation_enhanced", "enable_thinking": False}
        path = self.parquet("coldstart.parquet", [row], COLDSTART)
        examples, _ = self.imported(path, command="examples")
        self.assertEqual([len(each["prompt"]) for each in examples], [1, 3, 5, 7, 9])
        best, _ = self.imported(path, "--turns", "best", command="examples")
        self.assertEqual([each["completion"] for each in best], ["assistant 2"])
        self.assertEqual(best[0]["source"], kernelbook.module())
        tasks, _ = self.imported(path)
        self.assertEqual(tasks[0]["source"], kernelbook.module())

    def test_rows_of_verl_also_as_json_within_text(self):
        row = {"data_source": "cuda_llm", "prompt": [{"role": "user", "content": "Write."}], "ability": "kernel_optimization",
               "reward_model": {"ground_truth": kernelbook.module(), "style": "rule"}, "extra_info": {"entry_point": "Model", "uuid": "u1"}}
        tasks, _ = self.imported(self.parquet("rl.parquet", [row], RL_DATA))
        self.assertEqual(tasks[0]["id"], "u1")
        smith = {"data_source": "kernel_rl", "message": json.dumps([{"role": "user", "content": "Improve."}]),
                 "reward_model": json.dumps({"ground_truth": json.dumps({"reference_code": kernelbook.module()})}),
                 "extra_info": json.dumps({"entry_point": "Model", "parent_code": "import triton"})}
        tasks, _ = self.imported(self.parquet("smith.parquet", [smith]))
        self.assertEqual(tasks[0]["source"], kernelbook.module())
        self.assertEqual(len(tasks[0]["origin"]["parent"]), 64)

    def test_an_archive_shows_each_task_once(self):
        rows = [{"Op_Name": f"{task}_Scaled", "Level_ID": 1, "Task_ID": task, "Kernel_Name": f"k{i}", "CUDA_Code": "__global__",
                 "PyTorch_Code_Module": kernelbook.module(number=task), "CUDA_Runtime": float("nan")} for task in (1, 2) for i in range(5)]
        tasks, done = self.imported(self.parquet("level_1.parquet", rows))
        self.assertEqual([task["id"] for task in tasks], ["level1/1_Scaled", "level1/2_Scaled"])
        self.assertIn("8 duplicates left out", done.stdout)

    def test_what_is_exported_is_read_by_pyarrow_and_by_us(self):
        path = self.parquet("book.parquet", [kernelbook.row(i) for i in range(3)], KERNELBOOK)
        examples, _ = self.imported(path, command="examples")
        for layout, columns in (("messages", {"messages"}), ("prompt-completion", {"prompt", "completion"}),
                                ("alpaca", {"instruction", "input", "output"}),
                                ("kernelbook", {"python_code", "triton_code", "licenses", "stars"}),
                                ("coldstart", {"messages", "uuid", "entry_point", "repo_name", "module_name", "final_speedup", "num_rounds",
                                               "original_python_code", "best_round", "conversion_mode", "enable_thinking"}),
                                ("kernel-smith", {"_id", "messages"}), ("kernelllm", {"prompt", "completion"})):
            out = self.folder / f"{layout}.parquet"
            self.run_program("examples", "export", self.folder / "out.jsonl", "--layout", layout, "--out", out)
            table = pq.read_table(out)
            self.assertEqual(table.num_rows, 3)
            self.assertLessEqual(columns, set(table.column_names))
        self.assertEqual(pq.read_table(self.folder / "messages.parquet").schema.field("messages").type,
                         pa.list_(pa.field("element", pa.struct([("content", pa.string()), ("role", pa.string())]))))
        rounds = pq.read_table(self.folder / "coldstart.parquet")
        self.assertEqual(rounds.schema.field("uuid").type, pa.int64())
        self.assertEqual(rounds.schema.field("enable_thinking").type, pa.bool_())
        best, _ = self.imported(self.folder / "coldstart.parquet", "--turns", "best", command="examples")
        self.assertEqual([each["completion"] for each in best], [each["completion"] for each in examples])
        folder = self.folder / "hub"
        self.run_program("examples", "export", self.folder / "out.jsonl", "--layout", "messages", "--out", folder, "--licence", "mit")
        again, _ = self.imported(folder, command="examples")
        self.assertEqual([each["completion"] for each in again], [each["completion"] for each in examples])
        self.assertEqual(again[1]["origin"], examples[1]["origin"])
        self.assertIn("MIT", (folder / "README.md").read_text())

    def test_tasks_for_reinforcement_learning(self):
        self.imported(self.parquet("book.parquet", [kernelbook.row(i) for i in range(3)], KERNELBOOK))
        out = self.folder / "rl/train.parquet"
        self.run_program("tasks", "export", self.folder / "out.jsonl", "--layout", "verl", "--out", out)
        rows = pq.read_table(out).to_pylist()
        self.assertEqual(rows[2]["reward_model"]["style"], "rule")
        self.assertIn("Model = Scaled2", rows[2]["reward_model"]["ground_truth"])
        self.assertEqual(rows[2]["origin"]["licenses"], ["MIT"])
        smith = self.folder / "rl/smith.parquet"
        self.run_program("tasks", "export", self.folder / "out.jsonl", "--layout", "kernel-smith", "--out", smith)
        truth = json.loads(pq.read_table(smith).to_pylist()[2]["reward_model"]["ground_truth"])
        self.assertEqual(truth["reference_code"], rows[2]["reward_model"]["ground_truth"])

    def memory_of_import(self, rows):
        """The most memory in bytes that the import of a packed array of so many rows of 100 KB takes."""
        path = self.folder / f"{rows}.json.gz"
        with gzip.open(path, "wt", compresslevel=1) as file:
            file.write("[")
            for i in range(rows):
                file.write(("," if i else "") + json.dumps(kernelbook.row(i, original_triton_code="x" * 100_000)))
            file.write("]")
        out = self.folder / f"{rows}.jsonl"
        pid = os.posix_spawn(PROGRAM, [PROGRAM, "tasks", "import", path, "--out", out, "--no-lint"], os.environ,
                             file_actions=[(os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0)])
        _, status, usage = os.wait4(pid, 0)
        self.assertEqual(status, 0)
        self.assertEqual(len(out.read_text().splitlines()), rows)
        return usage.ru_maxrss * 1024

    def test_a_large_array_streams_in_constant_memory(self):
        few, many = self.memory_of_import(10), self.memory_of_import(800)
        self.assertLess(many - few, 30 << 20, "a file of 80 MB")


if __name__ == "__main__":
    unittest.main()
