"""Tests the value types: verdicts as tables, labels, completions and suites."""

import json
import os
import pathlib
import tempfile
import unittest

from fake_gym import verdict_of

import tritonsmith
from tritonsmith.scorer import label_of
from tritonsmith.task import completion_text, job_from

SOURCE = "import torch\nclass Model: ...\n"


class Tables(unittest.TestCase):
    def test_a_verdict_shows_as_a_table_with_all_text_escaped(self):
        verdict = tritonsmith.Verdict(verdict_of({"id": "<t>"}, "bad"))
        table = verdict._repr_html_()
        self.assertIn("2 &lt; 3 &amp; more (line 7: x = &lt;b&gt;)", table)
        self.assertIn("&lt;t&gt;", table)
        self.assertNotIn("<b>", table)

    def test_a_timed_verdict_shows_its_times(self):
        verdict = tritonsmith.Verdict(
            {**verdict_of({}, "good"), "kernels": [{"name": "k<1>", "launches": 2, "registers": 32, "device_us": 7.5}], "findings": [{"rule": "r"}]}
        )
        table = verdict._repr_html_()
        for part in ("2.00 (1 ms, the reference 2 ms)", "k&lt;1&gt;", "32 registers", "7.5 us", "100.0 %", "note: r"):
            self.assertIn(part, table)
        self.assertIn("accepted", str(verdict))

    def test_a_timed_verdict_names_its_device_and_its_clocks(self):
        environment = {"gpu": "NVIDIA H200", "clocks": {"sm_mhz": 1980, "memory_mhz": 3201}}
        verdict = tritonsmith.Verdict({**verdict_of({}, "good"), "environment": environment})
        self.assertEqual((verdict.device, verdict.clocks), ("NVIDIA H200", tritonsmith.Clocks(1980, 3201)))
        self.assertIn("NVIDIA H200, 1980 MHz, memory 3201 MHz", verdict._repr_html_())
        self.assertIsNone(tritonsmith.Verdict({"environment": {"gpu": "sm_90 (compiled, not run)"}}).clocks)

    def test_an_empty_verdict_is_accepted_by_nobody(self):
        verdict = tritonsmith.Verdict({})
        self.assertFalse(verdict.accepted or verdict.correct or verdict.compiled)
        self.assertEqual((verdict.stage, verdict.speedup, verdict.error, list(verdict.findings)), ("none", None, None, []))
        self.assertIn("not accepted", verdict._repr_html_())


class Labels(unittest.TestCase):
    def test_a_label_is_source_or_json_or_a_mapping_or_an_id(self):
        same = {"id": "task", "source": SOURCE}
        for label in (SOURCE, {"task": SOURCE}, json.dumps({"reference_code": SOURCE}), {"source": SOURCE}):
            self.assertEqual(job_from(label)[0]["task"], same)
        self.assertEqual(job_from("a/b", {"a/b": SOURCE})[0]["task"], {"id": "a/b", "source": SOURCE})
        self.assertEqual(job_from("a/b", {"a/b": {"source": SOURCE, "family": "norm"}})[0]["task"]["family"], "norm")

    def test_what_a_label_says_goes_before_defaults(self):
        label = {"task": SOURCE, "policy": "open", "tolerance": 1e-3, "weights": {"speed": 1}}
        job, weights = job_from(label, policy="strict", trials=5, weights={"speed": 0, "format": 0})
        self.assertEqual((job["policy"], job["trials"], job["task"]["tolerance"]), ("open", 5, 1e-3))
        self.assertEqual(weights, {"speed": 1, "format": 0})

    def test_a_label_that_names_no_task_is_refused_with_its_name(self):
        for label in ("softmax", {"policy": "open"}, {"task": {"id": "x"}}):
            with self.assertRaises(tritonsmith.BadRequest):
                job_from(label)

    def test_rows_of_verl_and_skyrl_have_labels(self):
        self.assertEqual(label_of({"task": SOURCE}), SOURCE)
        self.assertEqual(label_of({"reward_model": {"ground_truth": SOURCE}}), SOURCE)
        self.assertEqual(label_of({"reward_spec": {"ground_truth": SOURCE}}), SOURCE)
        with self.assertRaisesRegex(ValueError, "prompt"):
            label_of({"prompt": "p"})

    def test_the_text_of_a_completion_is_the_assistants_last_message(self):
        chat = [{"role": "assistant", "content": "a"}, {"role": "user", "content": "b"}, {"role": "assistant", "content": [{"type": "text", "text": "c"}]}]
        self.assertEqual([completion_text(c) for c in ("t", chat, chat[:2], [], None)], ["t", "c", "a", "", ""])

    def test_suites_are_files_of_lines_or_folders(self):
        with tempfile.TemporaryDirectory() as folder:
            location = pathlib.Path(folder)
            os.mkdir(location / "level1")
            (location / "level1" / "1_Add.py").write_text(SOURCE)
            self.assertEqual(tritonsmith.load_tasks(location), {"level1/1_Add": {"source": SOURCE}})
            lines = location / "tasks.jsonl"
            lines.write_text(json.dumps({"id": "a", "source": SOURCE, "family": "norm"}) + "\n\n")
            self.assertEqual(tritonsmith.load_tasks(lines)["a"]["family"], "norm")
            lines.write_text("{}\n")
            with self.assertRaisesRegex(tritonsmith.BadRequest, "tasks.jsonl:1"):
                tritonsmith.load_tasks(lines)


if __name__ == "__main__":
    unittest.main()
