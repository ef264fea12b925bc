#!/usr/bin/env python3
"""Measures the page of `tritonsmith serve` with a model, in a headless Chromium, and prints a table.

    bench/page_times.py build --model runs/quickstart/rl/checkpoints/step-120 --suite runs/quickstart/heldout

A server starts with a fresh folder, so no stored verdict answers. "Interactive" is the time from the first byte of the page
until it knows its model and takes an order. "First attempt" is the time from pressing Write until an attempt is on the page.
Then several users order searches for different modules at the same moment, and each is followed to its end.
"""
import argparse
import concurrent.futures
import gzip
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

from programs import program

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "tests"))
import chromium  # noqa: E402

READY = "document.querySelector('#model').innerText.startsWith('model')"


def start(options, folder):
    process = subprocess.Popen([program(options.programs, "tritonsmith"), "serve", "--model", options.model, "--listen",
                                "127.0.0.1:0", "--dir", folder], stderr=subprocess.PIPE, text=True)
    for line in process.stderr:
        if found := re.search(r"the page at (http://\S+)/", line):
            threading.Thread(target=process.stderr.read, daemon=True).start()
            return process, found[1]
    sys.exit("the server did not start")


def interactive_ms(page, url):
    """Returns the processor's time of the page, which other programs do not lengthen, and the time on the clock."""
    page.open(url)
    page.wait("performance.getEntriesByName('ready').length")
    busy = next(each["value"] for each in page.call("Performance.getMetrics")["metrics"] if each["name"] == "TaskDuration")
    return 1000 * busy, page.value("performance.getEntriesByName('ready')[0].startTime - performance.getEntriesByType('navigation')[0].responseStart")


def seconds_to_first_attempt(page, url, source):
    page.open(url)
    page.wait(READY)
    page.fill("#module", source)
    page.fill("#attempts-most", "16")
    began = time.monotonic()
    page.click("#write")
    page.wait("document.querySelectorAll('#attempts li').length > 0")
    seconds = time.monotonic() - began
    page.wait("document.querySelector('#state').dataset.state === 'done'", 300)
    return seconds


def get(url, body=None):
    request = urllib.request.Request(url, body and json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=300) as reply:
        return json.load(reply)


def follow(url, source):
    """Returns the seconds to a user's first attempt and to the end, and whether the search is about the user's own module."""
    began = time.monotonic()
    search = get(f"{url}/api/searches", {"source": source, "conversations": 8, "turns": 1})["id"]
    first = None
    while True:
        shown = get(f"{url}/api/searches/{search}")
        if shown["attempts"] and first is None:
            first = time.monotonic() - began
        if shown["search"]["state"] == "done":
            return first, time.monotonic() - began, shown["search"]["order"]["source"] == source and len(shown["attempts"]) == 8
        time.sleep(0.05)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", type=pathlib.Path)
    parser.add_argument("--model", required=True)
    parser.add_argument("--suite", type=pathlib.Path, required=True, help="a folder of modules")
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--users", type=int, default=20)
    options = parser.parse_args()
    sources = [file.read_text() for file in sorted(options.suite.glob("*.py"))]
    if len(sources) < options.times + options.users:
        sys.exit(f"{options.suite} has {len(sources)} modules, and {options.times + options.users} are needed")
    size = sum(len(gzip.compress(file.read_bytes())) for file in (ROOT / "web").iterdir())
    with tempfile.TemporaryDirectory() as folder:
        process, url = start(options, folder)
        browser = chromium.Browser()
        page = browser.page()
        page.open(url)
        page.call("Performance.enable", timeDomain="threadTicks")
        ready = [interactive_ms(page, url) for _ in range(4 * options.times)]
        first = [seconds_to_first_attempt(page, url, source) for source in sources[:options.times]]
        browser.close()
        with concurrent.futures.ThreadPoolExecutor(options.users) as users:
            ended = list(users.map(lambda source: follow(url, source), sources[options.times:options.times + options.users]))
        process.terminate()
        process.wait()
    span = lambda values, digits: f"{min(values):.{digits}f} to {max(values):.{digits}f}"
    rows = [("the page, compressed", f"{size / 1000:.1f} kB"),
            ("interactive after", f"{min(each[1] for each in ready):.0f} ms at best of {len(ready)} times, median "
             f"{statistics.median(each[1] for each in ready):.0f} ms"),
            ("processor time of the page until then", f"{span([each[0] for each in ready], 0)} ms"),
            ("first attempt after pressing Write", f"{span(first, 1)} s, {len(first)} modules"),
            (f"{options.users} users at once: first attempt", f"{span([each[0] for each in ended], 1)} s, median "
             f"{statistics.median(each[0] for each in ended):.1f} s"),
            (f"{options.users} users at once: 8 attempts each", f"all ended after {max(each[1] for each in ended):.1f} s"),
            ("searches with another user's module, or with too few attempts", str(sum(not each[2] for each in ended)))]
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    for name, value in rows:
        print(f"| {name} | {value} |")


if __name__ == "__main__":
    main()
