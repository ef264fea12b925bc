"""Tests that the guests' shared modules serve each language on the list, with a second language beside Triton."""

import os
import sys
import unittest
import unittest.mock

sys.path[:0] = [os.environ["TRITONSMITH_GUEST"], os.path.join(os.path.dirname(os.path.abspath(__file__)), "testing")]

from tritonsmith_guest import capture, compile_jobs, errors, languages, worker  # noqa: E402
from tritonsmith_guest.language import Language  # noqa: E402

import candidate_modules  # noqa: E402
from captures import capture_candidate, good_plan, launches  # noqa: E402

TRITON, = languages.LANGUAGES


class OtherError(Exception):
    pass


class OtherLanguage(Language):
    TITLE, PACKAGE, CODE = "Other", "other", "other_code"

    def __init__(self): self.calls = []
    def install(self): pass
    def warm_up(self, capture_sample): pass
    def environment(self, folder): return {"OTHER_CACHE": f"{folder}/other"}
    def is_own_error(self, error): return isinstance(error, OtherError)
    def message_and_line(self, error, path): return f"other: {error}", 3
    def compiler(self): return None
    def programs(self): return ["/usr/bin/other-as"]
    def end_capture(self): self.calls.append("end")

    def begin_capture(self, recorder, kernels):
        self.calls.append("begin")
        kernels.append({"name": "others", self.CODE: "code"})


class Languages(unittest.TestCase):
    def with_other(self, module):
        """Puts a second language before Triton, as this module sees the list."""
        other = OtherLanguage()
        patch = unittest.mock.patch.object(module, "LANGUAGES", (other, TRITON))
        patch.start()
        self.addCleanup(patch.stop)
        return other

    def test_an_object_offers_every_method(self):
        class Half(Language):
            def install(self): pass
        self.assertRaisesRegex(TypeError, "abstract", Half)

    def test_the_objects_hold_no_attributes_of_their_own(self):
        with self.assertRaises(AttributeError):
            TRITON.end_capture = print

    def test_a_plans_kernel_holds_its_code_under_the_languages_name(self):
        self.assertIn(TRITON.CODE, good_plan("callable grid")["kernels"][0])

    def test_a_capture_records_all_languages_into_one_list_of_kernels(self):
        other = self.with_other(capture)
        plan = good_plan("callable grid")
        self.assertEqual([kernel["name"] for kernel in plan["kernels"]], ["others", "kernel"])
        self.assertEqual([choice["kernel"] for choice in launches(plan)[0]], [1])
        self.assertEqual(other.calls, ["begin", "end"])

    def test_a_capture_that_fails_ends_in_all_languages(self):
        other = self.with_other(capture)
        self.assertIn("error", capture_candidate(candidate_modules.candidate("raise ValueError('no')")))
        self.assertEqual(other.calls, ["begin", "end"])

    def test_an_error_is_that_of_the_language_that_knows_it(self):
        self.with_other(errors)
        told = errors.describe_exception(OtherError("no such operation"), "candidate.py", "forward")
        self.assertEqual((told["class"], told["message"], told["line"]), ("compile_error", "other: no such operation", 3))
        self.assertEqual(errors.describe_exception(ValueError("no"), "candidate.py", "forward")["class"], "exception")

    def test_the_compiler_is_that_of_the_code(self):
        compilers = {"ttir": lambda request: "triton's", "other_code": lambda request: "other's"}
        with unittest.mock.patch.object(compile_jobs, "COMPILERS", compilers):
            self.assertEqual(compile_jobs.compile_kernel({"ttir": "", "target": "sm_90"}), "triton's")
            self.assertEqual(compile_jobs.compile_kernel({"other_code": "", "target": "sm_90"}), "other's")
            self.assertEqual(compile_jobs.compile_kernel({"target": "sm_90"})["error"]["class"], "bad_request")

    def test_workers_and_folders_serve_all_languages(self):
        self.with_other(worker)
        self.with_other(languages)
        self.assertIn("/usr/bin/other-as", worker.programs())
        self.assertTrue(any(os.path.basename(program) == "ptxas" for program in worker.programs()))
        self.assertEqual(languages.environment("/f"),
                         {"OTHER_CACHE": "/f/other", "TRITON_HOME": "/f", "TRITON_CACHE_DIR": "/f/triton"})


if __name__ == "__main__":
    unittest.main()
