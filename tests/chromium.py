"""A headless Chromium for tests, driven over a pipe by its devtools protocol. It needs no package of Python."""
import base64
import json
import os
import shutil
import subprocess
import tempfile
import time

PROGRAM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


class Browser:
    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        commands, self.to_browser = os.pipe()
        self.from_browser, answers = os.pipe()
        line = (f'exec "$0" --headless=new --no-sandbox --disable-gpu --remote-debugging-pipe --no-first-run '
                f'--user-data-dir="{self.folder.name}" about:blank 3<&{commands} 4>&{answers}')
        self.process = subprocess.Popen(["bash", "-c", line, PROGRAM], pass_fds=(commands, answers),
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(commands)
        os.close(answers)
        self.number, self.unread = 0, b""

    def call(self, method, session=None, **parameters):
        """Sends a command and returns its result."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        os.write(self.to_browser, json.dumps(message).encode() + b"\0")
        while True:
            while b"\0" not in self.unread:
                part = os.read(self.from_browser, 1 << 20)
                assert part, "Chromium has ended"
                self.unread += part
            text, self.unread = self.unread.split(b"\0", 1)
            reply = json.loads(text)
            if reply.get("id") == self.number:
                assert "error" not in reply, reply
                return reply["result"]

    def page(self, width=1280, height=900):
        return Page(self, width, height)

    def close(self):
        self.process.terminate()
        self.process.wait()
        os.close(self.to_browser)
        os.close(self.from_browser)
        self.folder.cleanup()


class Page:
    """A page with storage of its own, as of another user."""

    def __init__(self, browser, width, height):
        self.browser = browser
        context = browser.call("Target.createBrowserContext")["browserContextId"]
        target = browser.call("Target.createTarget", url="about:blank", browserContextId=context)["targetId"]
        self.session = browser.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.call("Emulation.setScrollbarsHidden", hidden=True)  # a picture of the whole page has no place for them
        self.resize(width, height)

    def call(self, method, **parameters):
        return self.browser.call(method, self.session, **parameters)

    def resize(self, width, height):
        self.size = (width, height)
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def prefer(self, scheme):
        """Makes the page light or dark."""
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def open(self, url):
        self.call("Page.navigate", url=url)
        self.wait("document.readyState === 'complete'")

    def value(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in result, result["exceptionDetails"]
        return result["result"].get("value")

    def wait(self, condition, seconds=60):
        """Waits until the expression is true."""
        end = time.monotonic() + seconds
        while not self.value(f"Boolean({condition})"):
            assert time.monotonic() < end, f"not true in {seconds} s: {condition}; the page: {self.text()}"
            time.sleep(0.05)

    def text(self, selector="body"):
        return self.value(f"document.querySelector({json.dumps(selector)})?.innerText ?? ''")

    def fill(self, selector, text):
        self.value(f"document.querySelector({json.dumps(selector)}).value = {json.dumps(text)}")

    def choose(self, selector, value):
        """Fills a control of a form, and says so to the page."""
        self.fill(selector, value)
        self.value(f"{{const it = document.querySelector({json.dumps(selector)}); "
                   "for (const name of ['input', 'change']) it.dispatchEvent(new Event(name, {bubbles: true}));}")

    def click(self, selector):
        self.value(f"document.querySelector({json.dumps(selector)}).click()")

    def screenshot(self, file):
        image = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True)["data"]
        with open(file, "wb") as out:
            out.write(base64.b64decode(image))
