"""Sends what OpenRLHF and slime send, byte for byte: both need GPU stacks of their own, so they are not installed here.

The requests are those of OpenRLHF's `request_api_wrapper` (requests.post with json=) and slime's `remote_rm` (aiohttp's
post with json=, whose body json.dumps makes).
"""

import json
import unittest

import requests

from service import KERNEL, ServiceTest, TASK, WRONG_KERNEL, completion, serve

TOKEN = "a-token-of-some-length"
PROMPT = "<|im_start|>user\nWrite a softmax.\n```python\nthe reference\n```<|im_end|>\n<|im_start|>assistant\n"


def openrlhf(url, completions, labels, **options):
    """As OpenRLHF asks, once: it tries five times, a second apart."""
    data = {"query": [PROMPT + text + "<|im_end|>" for text in completions], "prompts": [PROMPT] * len(completions), "labels": labels}
    response = requests.post(url=url + "/v1/reward/openrlhf", json=data, headers={"Content-Type": "application/json"}, timeout=180,
                             **options)
    response.raise_for_status()
    return response.json()


def slime(url, text, label, query=""):
    """As slime asks, once: it tries ten times, with growing pauses."""
    body = json.dumps({"prompt": PROMPT, "response": text, "label": label}).encode()
    response = requests.post(f"{url}/v1/reward/slime{query}", data=body, headers={"Content-Type": "application/json"}, timeout=120)
    response.raise_for_status()
    return response.json()


class Rewards(ServiceTest):
    def test_openrlhf_gets_a_number_for_each_query(self):
        labels = ["softmax", TASK, json.dumps({"task": "softmax", "weights": {"format": 0}})]
        reply = openrlhf(self.url, [completion(KERNEL), completion(WRONG_KERNEL), "I cannot."], labels)
        self.assertEqual([round(reward, 6) for reward in reply["rewards"]], [1.3, 0.3, 0.0])
        self.assertEqual(reply["scores"], [1, 0, 0])
        self.assertEqual(reply["extra_logs"]["compiled"], [1, 1, 0])

    def test_slime_gets_a_number_or_what_its_reward_key_names(self):
        self.assertAlmostEqual(slime(self.url, completion(KERNEL), "softmax"), 1.3)
        self.assertAlmostEqual(slime(self.url, completion(KERNEL), "softmax", "?reward_key=score")["score"], 1.3)

    def test_the_token_is_the_password_of_the_url(self):
        url = serve(token=TOKEN)
        with self.assertRaisesRegex(requests.HTTPError, "401"):
            slime(url, "none", "softmax")
        self.assertEqual(slime(url.replace("//", f"//any:{TOKEN}@"), "none", "softmax"), 0)

    def test_a_fault_of_the_infrastructure_is_an_error_of_http_and_no_number(self):
        with self.assertRaisesRegex(requests.HTTPError, "503"):
            openrlhf(self.broken_url, [completion(KERNEL)], ["softmax"], params={"wait": 0.5})
        with self.assertRaisesRegex(requests.HTTPError, "503"):
            slime(self.broken_url, completion(KERNEL), "softmax", "?wait=0.5")


if __name__ == "__main__":
    unittest.main()
