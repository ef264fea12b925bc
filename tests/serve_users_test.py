#!/usr/bin/env python3
"""Tests the page of `tritonsmith serve` as its users use it: a reload in the middle of a search, two users with keys of their own, a
model of our own engine, the keyboard alone, downloads, and orders that are refused.

The model behind the server is that of served.py, but for one test. The tests skip where no Chromium is installed.

usage: serve_users_test.py PATH_OF_TRITONSMITH
"""
import json
import pathlib
import subprocess
import time
import unittest

from served import BINARY, MODULE, RIGHT, WRONG, Served, ServeTest

IS_READY = "document.querySelector('#model').innerText.startsWith('model')"
IS_DONE = "document.querySelector('#state')?.dataset.state === 'done'"
KEYS = {"ann": "the-key-of-ann-123456", "bob": "the-key-of-bob-123456"}


class Users(ServeTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        (cls.folder / "keys.toml").write_text("".join(f'[{name}]\ntoken = "{key}"\n' for name, key in KEYS.items()))
        cls.served = Served(cls.model_url, cls.folder / "serve")
        cls.with_keys = Served(cls.model_url, cls.folder / "with-keys", "--tokens", cls.folder / "keys.toml")

    @classmethod
    def tearDownClass(cls):
        cls.served.stop()
        cls.with_keys.stop()
        super().tearDownClass()

    def opened(self, url, wait=IS_READY):
        page = self.page()
        page.open(url)
        page.wait(wait)
        return page

    def as_user(self, name, path="/"):
        """Returns a page of a user who has entered the key."""
        page = self.page()
        page.open(self.with_keys.url + path)
        page.wait("document.querySelector('#key-dialog').open")
        page.fill("#key", KEYS[name])
        page.value("document.querySelector('#key-form').requestSubmit()")
        page.wait(IS_READY)
        return page

    def press(self, page, key, code=None, modifiers=0, text=None):
        for kind in ("keyDown", "keyUp"):
            page.call("Input.dispatchKeyEvent", type=kind, key=key, code=code or key, modifiers=modifiers,
                      windowsVirtualKeyCode={"Enter": 13, "ArrowRight": 39, "ArrowLeft": 37, "Tab": 9}.get(key, 0),
                      **({"text": text} if text and kind == "keyDown" else {}))

    def test_a_reload_in_the_middle_of_a_search_shows_it_and_goes_on(self):
        page = self.opened(self.served.url)
        page.fill("#module", MODULE)
        page.fill("#attempts-most", "6")
        gate = self.let_the_model_answer(2)
        page.click("#write")
        page.wait("document.querySelectorAll('#attempts button').length === 2", 300)
        self.assertIn("of at most 6 attempts", page.text("#state"))
        address = page.value("location.href")
        page.open(address)
        page.wait("document.querySelectorAll('#attempts button').length === 2", 60)
        self.assertEqual(page.value("document.querySelector('#state').dataset.state"), "running")
        self.assertEqual(page.value("document.querySelector('#module').value"), MODULE)
        self.keep(page, "reloaded")
        gate.release(100)
        page.wait(IS_DONE, 300)
        self.assertIn("6 attempts", page.text("#state"))

    def test_two_users_have_histories_and_searches_of_their_own(self):
        ann, bob = self.as_user("ann"), self.as_user("bob")
        gate = self.let_the_model_answer(0)
        for page, name in ((ann, "ann"), (bob, "bob")):
            page.fill("#module", f"{MODULE}# of {name}\n")
            page.fill("#attempts-most", "2")
            page.click("#write")
            page.wait("document.querySelector('#state')?.dataset.state === 'running'")
        address = ann.value("location.pathname")
        guest = self.as_user("bob", address)
        guest.wait("document.querySelector('#state')?.dataset.state === 'running'")
        self.assertIn("# of ann", guest.value("document.querySelector('#module').value"), "a link shows another user's search")
        if guest.value("Boolean(document.querySelector('#stop').offsetParent)"):
            guest.click("#stop")
            guest.wait("!document.querySelector('#notice').hidden")
        self.assertEqual(ann.value("document.querySelector('#state').dataset.state"), "running", "only its own user stops a search")
        gate.release(100)
        for page, name in ((ann, "ann"), (bob, "bob")):
            page.wait(IS_DONE, 300)
            self.assertIn("1 accepted", page.text("#state"))
            page.click("#tab-history")
            page.wait("document.querySelectorAll('#history tr').length === 1")
            page.open(page.value("document.querySelector('#history a').href"))
            page.wait(IS_DONE)
            self.assertIn(f"# of {name}", page.value("document.querySelector('#module').value"))

    def test_a_model_of_our_own_engine_writes_on_the_page(self):
        examples, model = self.folder / "examples.jsonl", self.folder / "tiny"
        for words in (["tasks", "teach", "--quickstart", "--set", "curriculum.train=20", "--out", examples],
                      ["model", "make", "--examples", examples, "--out", model, "--set", "vocabulary=300", "--set", "hidden_size=32",
                       "--set", "num_hidden_layers=1"]):
            subprocess.run([BINARY, *words], check=True, capture_output=True, timeout=300)
        served = Served(None, self.folder / "own-model", "--model", model, "--device", "cpu", "--max-tokens", "24")
        self.addCleanup(served.stop)
        page = self.opened(served.url)
        page.fill("#module", MODULE)
        page.fill("#attempts-most", "4")
        page.click("#write")
        page.wait(IS_DONE, 300)
        self.assertIn("4 attempts", page.text("#state"))
        self.assertIn("4 answers without a kernel", page.text("#state"))
        self.assertEqual(page.text("#headline"), "No kernel in the answer")
        self.keep(page, "own-model")

    def test_the_keyboard_alone_orders_and_reads_a_judgement(self):
        page = self.opened(self.served.url)
        page.value("document.querySelector('#tab-write').focus()")
        self.press(page, "ArrowRight")
        self.assertEqual(page.value("document.activeElement.id"), "tab-judge")
        self.press(page, "Enter", text="\r")
        page.wait("document.querySelector('#tab-judge').getAttribute('aria-selected') === 'true'")
        page.value("document.querySelector('#judge-module').focus()")
        page.call("Input.insertText", text=MODULE)
        page.value("document.querySelector('#judge-kernel').focus()")
        page.call("Input.insertText", text=RIGHT)
        self.press(page, "Enter", modifiers=2, text="\r")
        page.wait(IS_DONE, 300)
        self.assertEqual(page.text("#headline"), "Accepted: right in all trials")

    def test_a_kernel_its_replacement_and_its_test_can_be_saved(self):
        page = self.opened(self.served.url + "/#judge", "true")
        folder = self.folder / "downloads"
        folder.mkdir()
        page.call("Page.setDownloadBehavior", behavior="allow", downloadPath=str(folder))
        page.fill("#judge-module", MODULE)
        page.fill("#judge-kernel", RIGHT)
        page.click("#judge")
        page.wait(IS_DONE, 300)

        def saved(button):
            before = set(folder.iterdir())
            page.click(button)
            end = time.monotonic() + 30
            # Chromium makes an empty file of this name first.
            while not (new := [each for each in set(folder.iterdir()) - before if each.suffix == ".py" and each.stat().st_size]):
                self.assertLess(time.monotonic(), end, button)
                time.sleep(0.05)
            return pathlib.Path(new[0]).read_text()

        self.assertEqual(saved("#download").strip(), RIGHT.strip())
        self.assertIn("def replacement_of(old):", saved("#patch"))
        page.value("document.execCommand = () => { window.copied = document.activeElement.value; return true; }")
        page.value("Object.defineProperty(navigator, 'clipboard', {value: {writeText: text => { window.copied = text; }}, configurable: true})")
        page.click("#copy")
        page.wait("window.copied !== undefined")
        self.assertEqual(page.value("window.copied").strip(), RIGHT.strip())

    def test_a_refused_order_leaves_no_older_result(self):
        page = self.opened(self.served.url + "/#judge", "true")
        page.fill("#judge-module", MODULE)
        page.fill("#judge-kernel", WRONG)
        page.click("#judge")
        page.wait(IS_DONE, 300)
        page.fill("#judge-kernel", "def broken(:")
        page.click("#judge")
        page.wait("!document.querySelector('#notice').hidden")
        self.assertTrue(page.value("document.querySelector('#result').hidden"))
        self.assertEqual(page.value("location.pathname + location.hash"), "/#judge")

    def test_the_fields_for_source_have_colours_and_keep_the_indentation(self):
        page = self.opened(self.served.url)
        coloured = "[...document.querySelectorAll('.editor:has(#module) .%s')].map(each => each.textContent).join('|')"
        page.value("document.querySelector('#module').focus()")
        page.call("Input.insertText", text="class Model(nn.Module):")
        self.press(page, "Enter", text="\r")
        page.call("Input.insertText", text="x = 1.5  # <b>one")
        self.press(page, "Enter", text="\r")
        typed = "class Model(nn.Module):\n    x = 1.5  # <b>one\n    "
        self.assertEqual(page.value("document.querySelector('#module').value"), typed)
        self.assertEqual(page.value(coloured % "line").split("|"), typed.split("\n"))
        self.assertEqual([page.value(coloured % kind) for kind in ("keyword", "number", "comment")], ["class", "1.5", "# <b>one"])
        page.value("document.execCommand('undo')")
        self.assertNotEqual(page.value("document.querySelector('#module').value"), typed, "the keyboard takes a new line back")
        looks = ("['fontFamily', 'fontSize', 'lineHeight', 'tabSize', 'letterSpacing'].map(each => "
                 "getComputedStyle(document.querySelector('%s'))[each]).join()")
        self.assertEqual(page.value(looks % "#module"), page.value(looks % ".editor:has(#module) pre"), "letters lie on letters")
        page.fill("#module", "\n".join(f"line_{number} = {number}  {'x' * 400}" for number in range(100)))
        self.assertEqual(page.value(coloured % "line").count("|"), 99, "a text that the page fills in has colours, too")
        page.value("{const area = document.querySelector('#module'); area.scrollTop = area.scrollHeight; area.scrollLeft = 100;}")
        page.wait("document.querySelector('.editor:has(#module) pre').style.transform === "
                  "`translate(-100px, -${document.querySelector('#module').scrollTop}px)`")
        self.press(page, "Tab")
        self.assertEqual(page.value("document.activeElement.tagName"), "SUMMARY", "Tab leaves the field")
        page.fill("#module", "x" * 300_000)
        self.assertEqual(page.value(coloured % "line"), "", "a text that is too long for colours is plain")

    def test_a_dropped_file_fills_the_module(self):
        page = self.opened(self.served.url)
        page.value("""{const data = new DataTransfer();
          data.items.add(new File([%s], 'module.py'));
          document.querySelector('#module').dispatchEvent(new DragEvent('drop', {dataTransfer: data, bubbles: true, cancelable: true}));}"""
                   % json.dumps(MODULE))
        page.wait(f"document.querySelector('#module').value === {json.dumps(MODULE)}")


if __name__ == "__main__":
    unittest.main()
