"""Sends what a NeMo Gym agent sends to its resources server, byte for byte: NeMo Gym needs Python 3.12 and Ray.

An agent posts `/seed_session`, plays the rollout with its model, and posts the row of the data set with the model's
`response` to `/verify`. `ng_collect_rollouts` sends the results to `/aggregate_metrics`.
"""

import unittest

import requests

from service import KERNEL, ServiceTest, WRONG_KERNEL, completion

# An agent waits without end. Here a service that never answers fails its test.
ANSWER_SECONDS = 180


def row(text):
    message = {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed",
               "content": [{"type": "output_text", "text": text, "annotations": []}]}
    return {
        "responses_create_params": {"input": [{"role": "user", "content": "Write a softmax."}]},
        "verifier_metadata": {"task": "softmax"},
        "_ng_task_index": 0,
        "response": {"id": "resp_1", "object": "response", "created_at": 0, "model": "m", "output": [message],
                     "parallel_tool_calls": False, "tool_choice": "none", "tools": []},
    }


class NemoGym(ServiceTest):
    def test_rollouts_are_verified_and_counted(self):
        self.assertEqual(requests.post(self.url + "/seed_session", json={}, timeout=ANSWER_SECONDS).json(), {})
        replies = []
        for text in (completion(KERNEL), completion(WRONG_KERNEL)):
            response = requests.post(self.url + "/verify", json=row(text), timeout=ANSWER_SECONDS)
            response.raise_for_status()
            replies.append(response.json())
        self.assertEqual([round(reply["reward"], 6) for reply in replies], [1.3, 0.3])
        self.assertEqual(replies[0]["response"]["id"], "resp_1")
        metrics = requests.post(self.url + "/aggregate_metrics", json={"verify_responses": replies},
                                timeout=ANSWER_SECONDS).json()
        self.assertEqual(metrics["key_metrics"]["mean/accepted"], 0.5)
        self.assertEqual(metrics["group_level_metrics"][0]["_ng_task_index"], 0)

    def test_a_fault_of_the_infrastructure_is_an_error_of_http_and_no_reward(self):
        response = requests.post(self.broken_url + "/verify", params={"wait": 0.5}, json=row(completion(KERNEL)),
                                 timeout=ANSWER_SECONDS)
        self.assertEqual(response.status_code, 503)
        self.assertNotIn("reward", response.json())


if __name__ == "__main__":
    unittest.main()
