#!/usr/bin/env python3
"""Tests names of the hub (`--model OWNER/NAME`) from outside, beside huggingface_hub and transformers.

The hub is this script: TLS, the API, redirects to a second server, byte ranges, cut connections, gated repositories. All
programs read and write the same cache.

usage: hub_test.py PATH_OF_TRITONSMITH
"""
import hashlib
import http.server
import json
import os
import pathlib
import re
import signal
import ssl
import subprocess
import sys
import tempfile
import threading
import unittest
import urllib.parse

import torch
from transformers import PreTrainedTokenizerFast, logging

TESTS = pathlib.Path(__file__).resolve().parent
sys.path += [str(TESTS.parent / "src/model/compare"), str(TESTS.parent / "src/text/compare")]
from compare_tokenizers import qwen_like, source_files
from families import model_of

BINARY = str(pathlib.Path(sys.argv.pop(1)).resolve())
TOKEN = "hf_a-token-that-only-the-hub-may-see"
COMMIT = "c0ffee" + "0" * 34
LARGE = 10_000  # larger files lie on the second server
logging.disable_progress_bar()


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, handler, certificate=None):
        super().__init__(("127.0.0.1", 0), handler)
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*certificate)
            self.socket = context.wrap_socket(self.socket, server_side=True)
        self.url = f"{'https' if certificate else 'http'}://127.0.0.1:{self.server_port}"
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, request, address):
        pass  # a client that was killed


class Hub:
    """Repositories by kind and name, each a folder of files."""

    def __init__(self, folder):
        certificate, key = folder / "certificate.pem", folder / "key.pem"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                        "-keyout", key, "-out", certificate, "-days", "2", "-subj", "/CN=127.0.0.1",
                        "-addext", "subjectAltName=IP:127.0.0.1"], check=True, capture_output=True)
        self.certificate = certificate
        self.repositories, self.gated, self.asked, self.lock = {}, set(), [], threading.Lock()
        self.cut_at = None  # downloads of the second server stop there, once each
        self.stall_at = None  # or stay open without another byte
        self.front = Server(type("Front", (Front,), {"hub": self}), (certificate, key))
        self.cdn = Server(type("Cdn", (Cdn,), {"hub": self}))

    def close(self):
        for server in (self.front, self.cdn):
            server.shutdown()
            server.server_close()

    def downloads(self):
        return [path for path, _ in self.asked if path.startswith("/cdn/")]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    hub = None

    def log_message(self, *_):
        pass

    def reply(self, status, body=b"", **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    def note(self):
        with self.hub.lock:
            self.hub.asked.append((self.path, dict(self.headers)))

    def do_HEAD(self):
        self.do_GET()


class Front(Handler):
    def do_GET(self):
        self.note()
        path = urllib.parse.unquote(self.path.split("?")[0])
        api = re.fullmatch(r"/api/(models|datasets)/([^/]+/[^/]+)/(revision|tree)/(.+)", path)
        file = re.fullmatch(r"/(datasets/)?([^/]+/[^/]+)/resolve/([^/]+)/(.+)", path)
        small = re.fullmatch(r"/api/resolve-cache/(models|datasets)/([^/]+/[^/]+)/([^/]+)/(.+)", path)
        kind, name = (api[1], api[2]) if api else ("datasets" if file and file[1] else "models", file[2] if file else "")
        if small:
            kind, name = small[1], small[2]
        folder = self.hub.repositories.get((kind, name))
        is_known = self.headers["Authorization"] == f"Bearer {TOKEN}"
        if folder is None:
            return self.reply(404 if is_known else 401, X_Error_Code="RepoNotFound", X_Error_Message="Repository not found")
        if name in self.hub.gated and not is_known:
            return self.reply(401, X_Error_Code="GatedRepo", X_Error_Message="Access to model is restricted.")
        if api and api[4] not in ("main", "v1", COMMIT):
            return self.reply(404, X_Error_Code="RevisionNotFound", X_Error_Message="Invalid rev id")
        if api:
            listed = {"id": name, "sha": COMMIT, "siblings": []} if api[3] == "revision" else self.tree(folder)
            return self.reply(200, json.dumps(listed).encode(), Content_Type="application/json")
        self.send_file(folder, kind, name, (small or file)[4], bool(small))

    def tree(self, folder):
        entries = []
        for path in sorted(folder.rglob("*")):
            data = path.read_bytes() if path.is_file() else b""
            entry = {"type": "file" if path.is_file() else "directory", "path": path.relative_to(folder).as_posix(),
                     "oid": hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest(), "size": len(data)}
            if len(data) > LARGE:
                entry.update(oid="e" * 40, lfs={"oid": hashlib.sha256(data).hexdigest(), "size": len(data), "pointerSize": 134})
            entries.append(entry)
        return entries

    def send_file(self, folder, kind, name, path, is_small_cache):
        if not (folder / path).is_file():
            return self.reply(404, X_Error_Code="EntryNotFound", X_Error_Message="Entry not found", X_Repo_Commit=COMMIT)
        data = (folder / path).read_bytes()
        if len(data) > LARGE:
            sha256 = hashlib.sha256(data).hexdigest()
            return self.reply(302, Location=f"http://localhost:{self.hub.cdn.server_port}/cdn/{kind}/{name}/{path}?Signature=a~b,c", X_Repo_Commit=COMMIT,
                              X_Linked_Size=len(data), X_Linked_Etag=f'"{sha256}"', ETag='"pointer"')
        sha1 = hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()
        if not is_small_cache:
            return self.reply(307, Location=f"/api/resolve-cache/{kind}/{name}/{COMMIT}/{path}", X_Repo_Commit=COMMIT)
        self.reply(200, data, ETag=f'"{sha1}"', X_Repo_Commit=COMMIT)


class Cdn(Handler):
    def do_GET(self):
        self.note()
        _, kind, owner, name, path = self.path.split("?")[0].lstrip("/").split("/", 4)
        data = (self.hub.repositories[kind, f"{owner}/{name}"] / path).read_bytes()
        begin = int(re.match(r"bytes=(\d+)-", self.headers.get("Range", "bytes=0-"))[1])
        self.send_response(206 if begin else 200)
        if begin:
            self.send_header("Content-Range", f"bytes {begin}-{len(data) - 1}/{len(data)}")
        self.send_header("Content-Length", str(len(data) - begin))
        self.end_headers()
        stop = self.hub.stall_at or self.hub.cut_at
        if stop is None or begin >= stop:
            self.wfile.write(data[begin:])
            return
        self.wfile.write(data[begin:stop])
        self.wfile.flush()
        if self.hub.stall_at:
            self.rfile.read(1)  # until the client leaves
        self.close_connection = True


class HubNames(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.held = tempfile.TemporaryDirectory()
        cls.root = pathlib.Path(cls.held.name)
        torch.manual_seed(3)
        cls.tiny = cls.root / "tiny"
        tokenizer = qwen_like(source_files()[:5])[0]
        model_of("qwen2", vocab_size=tokenizer.get_vocab_size()).save_pretrained(cls.tiny, max_shard_size="150KB")
        PreTrainedTokenizerFast(tokenizer_object=tokenizer).save_pretrained(cls.tiny)
        (cls.tiny / "pytorch_model.bin").write_bytes(b"x" * 20_000)
        assert len(list(cls.tiny.glob("model-*-of-*.safetensors"))) > 1

    @classmethod
    def tearDownClass(cls):
        cls.held.cleanup()

    def setUp(self):
        self.hub = Hub(self.root)
        self.addCleanup(self.hub.close)
        self.hub.repositories["models", "owner/tiny"] = self.tiny
        held = tempfile.TemporaryDirectory(dir=self.root)
        self.addCleanup(held.cleanup)
        self.folder = pathlib.Path(held.name)

    def environment(self, **more):
        named = {name: value for name, value in os.environ.items() if not name.startswith(("HF_", "HUGGING"))}
        return {**named, "HF_ENDPOINT": self.hub.front.url, "HF_HOME": str(self.folder / "hf"), "HF_TOKEN": TOKEN,
                "SSL_CERT_FILE": str(self.hub.certificate), **more}

    def run_program(self, *words, code=0, **more):
        done = subprocess.run([BINARY, *map(str, words)], capture_output=True, text=True, env=self.environment(**more),
                              cwd=self.folder, timeout=100)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def run_python(self, text, **more):
        done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, env=self.environment(**more), timeout=200)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def score(self, model, **more):
        words = ["score", "--model", model, "--ids", "1,2,3,4", "--device", "cpu", "--json"]
        return self.run_program(*words, **more).stdout

    def snapshot(self):
        return self.folder / "hf/hub/models--owner--tiny/snapshots" / COMMIT

    def bytes_there(self, blobs):
        sizes = [0]
        for part in blobs.glob("*.incomplete"):
            try:
                sizes.append(part.stat().st_size)
            except FileNotFoundError:  # it became whole
                pass
        return max(sizes)

    def test_what_we_fetch_others_find(self):
        self.assertEqual(self.score("owner/tiny"), self.score(self.tiny))
        self.assertFalse((self.snapshot() / "pytorch_model.bin").exists())
        found = self.run_python("""
import huggingface_hub, transformers
print(huggingface_hub.snapshot_download("owner/tiny", local_files_only=True, allow_patterns=["*.json", "*.safetensors"]))
print(huggingface_hub.hf_hub_download("owner/tiny", "config.json", local_files_only=True))
model = transformers.AutoModelForCausalLM.from_pretrained("owner/tiny")
tokenizer = transformers.AutoTokenizer.from_pretrained("owner/tiny")
print(model.config.hidden_size, len(tokenizer("def f(x):")["input_ids"]) > 0)
""", HF_HUB_OFFLINE="1")
        self.assertEqual(found.split(), [str(self.snapshot()), str(self.snapshot() / "config.json"), "60", "True"])

    def test_what_others_fetch_we_find(self):
        self.run_python("import huggingface_hub; huggingface_hub.snapshot_download('owner/tiny', revision='v1')")
        asked = len(self.hub.asked)
        self.assertEqual(self.score("owner/tiny@v1", HF_HUB_OFFLINE="1"), self.score(self.tiny))
        self.assertEqual(len(self.hub.asked), asked)
        before = len(self.hub.downloads())
        self.score("owner/tiny@v1")
        self.assertEqual(len(self.hub.downloads()), before)
        # The list of the files of a snapshot is not in caches of older versions.
        for tree in self.folder.rglob("trees/*.json"):
            tree.unlink()
        self.score("owner/tiny@v1", HF_HUB_OFFLINE="1")

    def test_the_token_goes_to_the_hub_alone(self):
        self.hub.gated.add("owner/tiny")
        done = self.run_program("score", "--model", "owner/tiny", "--ids", "1,2", "--device", "cpu")
        for path, headers in self.hub.asked:
            self.assertEqual("Authorization" in headers, not path.startswith("/cdn/"), path)
        self.assertNotIn(TOKEN, done.stderr + done.stdout)

    def test_refusals_are_one_line(self):
        self.hub.gated.add("owner/tiny")
        (self.folder / "runs").mkdir()

        def refused(model, code=2, **more):
            done = self.run_program("score", "--model", model, "--ids", "1,2", "--device", "cpu", code=code, **more)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
            return done.stderr

        self.assertIn("owner/tiny is gated: accept its conditions", refused("owner/tiny", HF_TOKEN=""))
        self.assertIn("has nothing of this name", refused("owner/none"))
        self.assertIn("no such revision", refused("owner/tiny@v2"))
        self.assertIn("HF_HUB_OFFLINE is set", refused("owner/tiny", HF_HUB_OFFLINE="1"))
        self.assertIn("SSL_CERT_FILE", refused("owner/tiny", SSL_CERT_FILE="/dev/null"))
        asked = len(self.hub.asked)
        self.assertIn("runs/none", refused("runs/none"))
        self.assertEqual(len(self.hub.asked), asked)  # a folder of ours was meant

    def test_a_hub_that_is_away_leaves_the_cache(self):
        self.score("owner/tiny")
        done = self.run_program("score", "--model", "owner/tiny", "--ids", "1,2", "--device", "cpu", HF_ENDPOINT="http://127.0.0.1:9")
        self.assertIn(f"going on with commit {COMMIT} of the cache", done.stderr)

    def test_cut_downloads_go_on(self):
        self.hub.cut_at = 5_000
        self.assertEqual(self.score("owner/tiny"), self.score(self.tiny))
        ranges = [headers["Range"] for path, headers in self.hub.asked if "Range" in headers]
        self.assertGreater(len(ranges), 1)
        self.assertEqual(set(ranges), {"bytes=5000-"})

    def test_a_killed_download_goes_on(self):
        self.hub.stall_at = 7_000
        process = subprocess.Popen([BINARY, "score", "--model", "owner/tiny", "--ids", "1,2", "--device", "cpu"],
                                   env=self.environment(), stderr=subprocess.DEVNULL)
        blobs = self.folder / "hf/hub/models--owner--tiny/blobs"
        self.addCleanup(process.kill)
        while self.bytes_there(blobs) < 7_000:
            self.assertIsNone(process.poll())
        process.send_signal(signal.SIGKILL)
        process.wait()
        self.hub.stall_at = None
        self.assertEqual(self.score("owner/tiny"), self.score(self.tiny))
        self.assertIn("bytes=7000-", [headers.get("Range") for _, headers in self.hub.asked])

    def test_two_processes_fetch_each_file_once(self):
        words = [BINARY, "score", "--model", "owner/tiny", "--ids", "1,2", "--device", "cpu"]
        both = [subprocess.Popen(words, env=self.environment(), stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL) for _ in range(3)]
        self.assertEqual([process.wait(100) for process in both], [0, 0, 0])
        downloads = self.hub.downloads()
        self.assertEqual(len(downloads), len(set(downloads)))

    def dry_run(self, *more, **environment):
        (self.folder / "examples.jsonl").write_text(json.dumps({"prompt": [{"role": "user", "content": "x"}], "completion": "y"}) + "\n")
        return self.run_program("sft", TESTS.parent / "configs/sft-small.toml", "--dry-run", "--set", "model.path=owner/tiny",
                                "--set", f"data.examples={self.folder}/examples.jsonl", "--set", "data.heldout=",
                                "--set", "model.check_chat=false", "--set", "data.max_tokens=200", "--set", "run.dir=run",
                                *more, **environment)

    def test_training_records_the_commit(self):
        self.score("owner/tiny")
        self.assertIn(f'path = "{self.snapshot()}"', self.dry_run().stdout)

    def test_a_dry_run_asks_no_hub(self):
        done = self.dry_run()
        self.assertIn('model.path = "owner/tiny"', done.stdout)
        self.assertIn("would fetch owner/tiny from https://127.0.0.1", done.stderr)
        self.assertIn("nothing was started", done.stderr)
        self.assertEqual(self.hub.asked, [])
        # What needs no model is checked.
        self.assertIn("no.jsonl", self.dry_run("--set", "data.examples=no.jsonl", code=2).stderr)
        self.assertIn("HF_HUB_OFFLINE is set", self.dry_run(HF_HUB_OFFLINE="1", code=2).stderr)
        done = self.run_program("rl", TESTS.parent / "configs/rl-small.toml", "--dry-run", "--set", "model.path=owner/tiny",
                                "--set", "teacher.path=owner/big", "--set", "tasks.path=curriculum:train=5", "--set", "run.dir=run")
        self.assertIn("would fetch owner/tiny from https://127.0.0.1", done.stderr)
        self.assertIn(" and owner/big from ", done.stderr)
        self.assertEqual(self.hub.asked, [])
        self.score("owner/tiny")
        asked = len(self.hub.asked)
        self.assertIn("a call would look for a newer commit", self.dry_run().stderr)
        self.assertEqual(len(self.hub.asked), asked)

    def data_set(self):
        data = self.root / "data_set"
        (data / "data").mkdir(parents=True, exist_ok=True)
        module = ("import torch\n\nclass Model(torch.nn.Module):\n    def forward(self, x):\n        return x + {}\n\n"
                  "def get_inputs():\n    return [torch.rand(4)]\n\ndef get_init_inputs():\n    return []\n")
        for split, numbers in (("train", (1, 2)), ("test", (3,))):
            lines = [json.dumps({"python_code": module.format(i), "entry_point": "Model", "uuid": i}) for i in numbers]
            (data / f"data/{split}-00000-of-00001.jsonl").write_text("\n".join(lines) + "\n")
        (data / "README.md").write_text("---\nlicense: mit\n---\n")
        (data / "archive.zip").write_bytes(b"x")
        self.hub.repositories["datasets", "owner/set"] = data

    def test_a_data_set_by_its_name(self):
        self.data_set()
        words = ["tasks", "import", "--dataset", "owner/set", "--no-lint", "--out", self.folder / "tasks.jsonl"]
        done = self.run_program(*words)
        self.assertIn("2 tasks of 2 rows", done.stdout)
        task = json.loads((self.folder / "tasks.jsonl").read_text().splitlines()[0])
        self.assertEqual((task["suite"], task["origin"]["dataset"], task["origin"]["licenses"]), ("owner/set", "owner/set", ["mit"]))
        snapshot = self.folder / "hf/hub/datasets--owner--set/snapshots" / COMMIT
        self.assertEqual(sorted(path.name for path in snapshot.rglob("*") if path.is_file()), ["README.md", "train-00000-of-00001.jsonl"])
        found = self.run_python("import huggingface_hub as h; print(h.hf_hub_download('owner/set', 'data/train-00000-of-00001.jsonl', "
                                "repo_type='dataset', local_files_only=True))")
        self.assertEqual(found.strip(), str(snapshot / "data/train-00000-of-00001.jsonl"))
        self.run_program(*words, HF_HUB_OFFLINE="1")
        done = self.run_program(*words, "--split", "test", HF_HUB_OFFLINE="1", code=2)
        self.assertIn("test-00000-of-00001.jsonl of owner/set is not in the cache", done.stderr)
        done = self.run_program(*words, "--split", "level_1", code=2)
        self.assertIn("it has test, train", done.stderr)


if __name__ == "__main__":
    unittest.main()
