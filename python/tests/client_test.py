"""Tests the client with a gym that breaks in many ways. Every caller must get its own verdict or an exception."""

import asyncio
import multiprocessing
import threading
import time
import unittest
from unittest import mock

from fake_gym import FakeGymTest

import tritonsmith
import tritonsmith.judge as judge_module
from tritonsmith import AsyncJudge, Judge

TASK = "class Model: ...\n"


class ClientTest(FakeGymTest):
    def judge(self, **options):
        judge = Judge(self.gym.url, **{"patience": 5, **options})
        self.addCleanup(judge.close)
        return judge


class Verdicts(ClientTest):
    def test_a_kernel_has_its_verdict(self):
        with Judge(self.gym.url) as judge:
            verdict = judge(TASK, "good", policy="fused")
            self.assertTrue(verdict.accepted)
            self.assertEqual((verdict.speedup, verdict.policy, verdict.feedback), (2.0, "fused", "right"))
            wrong = judge(TASK, "bad")
        self.assertFalse(wrong.accepted)
        self.assertEqual((wrong.error.error_class, wrong.error.line, wrong.speedup), ("wrong_value", 7, None))

    def test_many_kernels_keep_their_order_and_go_together(self):
        kernels = ["good", "bad"] * 60
        verdicts = self.judge().many(TASK, kernels)
        self.assertEqual([verdict.accepted for verdict in verdicts], [True, False] * 60)
        self.assertLess(self.gym.requests.count("POST /v1/jobs"), 10)
        self.assertLess(self.gym.requests.count("POST /v1/feedback"), 10)
        self.assertEqual(sorted(self.gym.judged), ["bad", "good"])

    def test_threads_share_one_judge(self):
        judge, verdicts = self.judge(), {}

        def work(number):
            verdicts[number] = judge(TASK, f"good {number}")

        threads = [threading.Thread(target=work, args=(number,)) for number in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(20)
        self.assertEqual(len(verdicts), 20)
        self.assertTrue(all(verdict.accepted for verdict in verdicts.values()))

    def test_event_loops_share_one_judge(self):
        async def both(judge):
            return await asyncio.gather(judge(TASK, "good"), judge(TASK, "bad"), judge.status())

        judge = AsyncJudge(self.gym.url)
        for _ in range(2):
            good, bad, status = asyncio.run(both(judge))
            self.assertEqual((good.accepted, bad.accepted, status["works"]), (True, False, True))
        asyncio.run(judge.close())
        with self.assertRaisesRegex(tritonsmith.JudgeError, "closed"):
            asyncio.run(both(judge))

    def test_a_forked_child_speaks_for_itself(self):
        judge = self.judge()
        self.assertTrue(judge(TASK, "good").accepted)
        context = multiprocessing.get_context("fork")
        answers = context.Queue()
        child = context.Process(target=lambda: answers.put(judge(TASK, "good of the child").accepted))
        child.start()
        self.assertTrue(answers.get(timeout=20))
        child.join(20)
        self.assertTrue(judge(TASK, "good again").accepted)

    def test_lone_surrogates_are_no_reason_to_fail(self):
        self.assertTrue(self.judge()(TASK, "good \ud800").accepted)

    def test_a_task_may_be_an_id_of_a_suite(self):
        judge = self.judge(tasks={"softmax": TASK})
        self.assertEqual(judge("softmax", "good").task, "softmax")
        with self.assertRaisesRegex(tritonsmith.BadRequest, "'sofmax'"):
            judge("sofmax", "good")

    def test_an_option_that_no_job_has_is_a_type_error(self):
        with self.assertRaisesRegex(TypeError, "polcy"):
            self.judge()(TASK, "good", polcy="open")

    def test_fresh_is_judged_anew(self):
        judge = self.judge()
        for _ in range(2):
            self.assertTrue(judge(TASK, "good", fresh=True).accepted)
        self.assertEqual(self.gym.judged, ["good", "good"])


class Faults(ClientTest):
    def test_every_broken_request_is_repeated(self):
        for how in (503, 500, 429, 408, "reset", "cut", "garbage"):
            for path in ("/v1/jobs", "/v1/verdicts", "/v1/feedback"):
                with self.subTest(how=how, path=path):
                    self.gym.break_next(path, how, times=2)
                    self.assertTrue(self.judge()(TASK, f"good {how} {path}").accepted)

    def test_a_broken_stream_goes_on_behind_the_last_event(self):
        self.gym.break_next("/v1/verdicts", "cut stream", times=3)
        verdicts = self.judge().many(TASK, [f"good {number}" for number in range(30)])
        self.assertTrue(all(verdict.accepted for verdict in verdicts))
        self.assertEqual(len(self.gym.judged), 30)

    def test_a_service_that_forgets_everything_is_asked_again(self):
        judge = self.judge(patience=20)
        self.gym.hold()
        done = []
        waiting = threading.Thread(target=lambda: done.append(judge(TASK, "slow good")))
        waiting.start()
        self.until(lambda: self.gym.jobs)
        self.gym.away = True
        self.gym.forget()
        self.gym.release()
        time.sleep(0.2)
        self.gym.away = False
        waiting.join(20)
        self.assertTrue(done[0].accepted)

    def test_a_full_queue_takes_smaller_batches(self):
        self.gym.most_jobs = 3
        verdicts = self.judge().many(TASK, [f"good {number}" for number in range(20)])
        self.assertEqual(len(verdicts), 20)

    def test_a_queue_that_stays_full_is_an_exception_when_the_patience_is_over(self):
        self.gym.most_jobs = 0
        with self.assertRaisesRegex(tritonsmith.GymUnavailable, "no room for our jobs"):
            self.judge(patience=0.3)(TASK, "good", timeout=1)
        self.gym.most_jobs = None
        self.assertTrue(self.judge(patience=0.3)(TASK, "good").accepted)

    def test_a_queue_that_stays_full_is_an_exception_when_the_deadline_has_passed(self):
        self.gym.most_jobs = 0
        with mock.patch.object(judge_module, "_GRACE_SECONDS", 0.1), self.assertRaises(tritonsmith.DeadlinePassed):
            self.judge(patience=60)(TASK, "good", timeout=0.2)

    def test_one_bad_job_does_not_fail_the_others_of_its_batch(self):
        judge = self.judge()

        async def all_of_them(session):
            jobs = [judge._job(TASK, kernel, None, {}) for kernel in ("good", "refused", "bad")]
            return await asyncio.gather(*(session.judge(job) for job in jobs), return_exceptions=True)

        from tritonsmith.judge import _Loop

        good, refused, bad = _Loop.submit(all_of_them(judge._opened())).result(20)
        self.assertTrue(good.accepted)
        self.assertFalse(bad.accepted)
        self.assertIsInstance(refused, tritonsmith.BadRequest)
        self.assertIn("kernel: refused", str(refused))

    def test_a_fault_of_the_judge_is_tried_again(self):
        self.assertTrue(self.judge()(TASK, "fault 2").accepted)
        self.assertEqual(len(self.gym.judged), 3)

    def test_a_fault_that_stays_is_an_exception_and_no_verdict(self):
        with self.assertRaises(tritonsmith.InfrastructureFault) as raised:
            self.judge()(TASK, "fault")
        self.assertIn("the referee was killed", str(raised.exception))
        self.assertEqual(raised.exception.verdict.fault, "infrastructure")
        self.assertEqual(len(self.gym.judged), 3)
        with self.assertRaises(tritonsmith.NoVerdict):
            self.judge().reward(TASK, "```\nfault\n```")

    def test_a_job_may_ask_for_a_class_of_devices(self):
        self.judge()(TASK, "good", device="NVIDIA H200")
        self.judge()({"task": TASK, "device": "sm_90"}, "good", device="cpu")
        self.assertEqual([each["device"] for each in self.gym.submitted], ["NVIDIA H200", "sm_90"])

    def test_a_deadline_is_not_tried_again(self):
        with self.assertRaises(tritonsmith.DeadlinePassed):
            self.judge()(TASK, "deadline", timeout=3)
        self.assertEqual(self.gym.submitted[0]["deadline_seconds"], 3)
        self.assertEqual(len(self.gym.judged), 1)

    def test_a_service_that_stays_away_is_an_exception(self):
        self.gym.away = True
        with self.assertRaisesRegex(tritonsmith.GymUnavailable, self.gym.url):
            self.judge(patience=0.3)(TASK, "good")
        with self.assertRaises(tritonsmith.GymUnavailable):
            self.judge(patience=0.3).status()
        self.gym.away = False
        self.assertTrue(self.judge(patience=0.3)(TASK, "good").accepted)

    def test_a_wrong_token_is_told_at_once(self):
        self.gym.token = "the right one"
        for call in (lambda judge: judge(TASK, "good"), lambda judge: judge.status()):
            with self.assertRaisesRegex(tritonsmith.AccessDenied, "TRITONSMITH_GYM_TOKEN"):
                call(self.judge(token="a wrong one"))
        self.assertTrue(self.judge(token="the right one")(TASK, "good").accepted)

    def test_a_service_without_a_call_is_told_to_be_old(self):
        self.gym.break_next("/v1/extract", 404)
        with self.assertRaisesRegex(tritonsmith.JudgeError, "older than this package"):
            self.judge().extract("text")

    def test_a_url_that_is_none_is_a_value_error(self):
        with self.assertRaisesRegex(ValueError, "ftp://gym"):
            Judge("ftp://gym")(TASK, "good")

    def test_a_cancelled_call_withdraws_its_job(self):
        self.gym.hold()

        async def cancelled():
            judge = AsyncJudge(self.gym.url)
            call = asyncio.ensure_future(judge(TASK, "slow"))
            while not self.gym.jobs:
                await asyncio.sleep(0.01)
            call.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await call
            return judge

        judge = asyncio.run(cancelled())
        self.until(lambda: [job["state"] for job in self.gym.jobs.values()] == ["cancelled"])
        self.gym.release()
        # The gym judges the same job if a caller asks again.
        self.assertTrue(asyncio.run(judge(TASK, "slow")).accepted)
        asyncio.run(judge.close())

    def test_closing_withdraws_what_has_no_verdict(self):
        self.gym.hold()
        judge = self.judge()
        ended = []

        def work():
            try:
                judge(TASK, "slow")
            except tritonsmith.JudgeError as error:
                ended.append(str(error))

        waiting = threading.Thread(target=work)
        waiting.start()
        self.until(lambda: self.gym.submitted)  # The reply to the request may still be on its way.
        judge.close()
        waiting.join(20)
        self.assertEqual(ended, ["the judge is closed"])
        self.assertTrue(any(request.startswith("DELETE /v1/clients/") for request in self.gym.requests))


class Rewards(ClientTest):
    def test_the_service_computes_the_reward(self):
        reward = self.judge().reward(TASK, "<thinking>p</thinking>```\ngood\n```", weights={"correct": 2.0})
        self.assertAlmostEqual(float(reward), 2.1)
        self.assertEqual([(term.name, term.value, term.weight) for term in reward.terms], [("format", 1.0, 0.1), ("correct", 1.0, 2.0)])
        self.assertEqual((reward.kernel.source, reward.verdict.accepted), ("good", True))

    def test_a_completion_without_a_kernel_is_judged_without_the_judge(self):
        reward = self.judge().reward({"id": "t", "task": TASK, "policy": "open"}, "I cannot.")
        self.assertEqual((reward.total, reward.verdict.stage, reward.verdict.task, reward.verdict.policy), (0.0, "none", "t", "open"))
        self.assertEqual(reward.verdict.feedback, "wrong")
        self.assertEqual(self.gym.judged, [])

    def test_a_bare_kernel_is_not_extracted(self):
        self.assertEqual(self.judge().reward_kernel(TASK, "good").total, 1.0)
        self.assertNotIn("POST /v1/extract", self.gym.requests)

    def test_prompts_come_from_the_service(self):
        self.assertIn(TASK, self.judge().prompt(TASK)[0]["content"])


if __name__ == "__main__":
    unittest.main()
