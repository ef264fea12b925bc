"""Packs a study into a parcel, with only what it needs to go on elsewhere or to be summed up.

The parcel holds the records of finished phases, and also the newest checkpoint of a phase that was stopped. Samples that no
phase reads again lose their tokens. The parcel is a compressed tar, cut into files of at most PART_BYTES: FILE, FILE.1,
FILE.2 and so on. It does not hold the gym's folder. A fresh gym draws other secrets and judges again.
"""
import gzip
import hashlib
import io
import json
import pathlib
import tarfile

PART_BYTES = 15 << 20
DROPPED_OF_SAMPLES = ("prompt_tokens", "tokens", "logprobs")
MEASURED_OF_VERDICT = {"accepted", "aten", "compiled", "correct", "findings", "speedup"}  # measures.py
APPENDED = {"steps.jsonl", "samples.jsonl", "times.jsonl"}  # never linked, because a resumed run cuts and extends them
OPTIMIZER = {"optimizer.safetensors", "trainer.json"}


def part_path(file, number):
    return file if number == 0 else file.with_name(f"{file.name}.{number}")


class PartWriter:
    """A file that writes into one part after the other."""

    def __init__(self, file):
        self.file, self.number, self.stream = file, -1, None

    def write(self, data):
        written = len(data)
        while data:
            if self.stream is None or self.stream.tell() >= PART_BYTES:
                self.next_part()
            room = PART_BYTES - self.stream.tell()
            self.stream.write(data[:room])
            data = data[room:]
        return written

    def next_part(self):
        self.close()
        self.number += 1
        self.stream = part_path(self.file, self.number).open("wb")

    def flush(self):
        pass  # GzipFile calls it, but closing a part flushes it

    def close(self):
        if self.stream:
            self.stream.close()


class PartReader:
    def __init__(self, file):
        self.file, self.number, self.stream = file, 0, file.open("rb")

    def read(self, size):
        data = self.stream.read(size)
        while not data:
            self.number += 1
            if not part_path(self.file, self.number).exists():
                break
            self.stream.close()
            self.stream = part_path(self.file, self.number).open("rb")
            data = self.stream.read(size)
        return data

    def close(self):
        self.stream.close()


def without_tokens(file, of_distillation):
    """Returns the same lines, but removes from each sample what only training reads. Lines keep their numbers. The
    distillation study reads no kernels, so its samples lose them too."""
    lines = []
    for line in file.read_text().splitlines():
        try:
            sample = json.loads(line)
        except ValueError:
            break  # a kill cut off the last line
        sample["prompt"] = ""
        if not of_distillation:
            sample["completion"].update(dict.fromkeys(DROPPED_OF_SAMPLES, []))
        else:  # an earlier parcel may have dropped them
            sample.pop("completion", None)
            sample.pop("kernel", None)
            sample["verdict"] = {key: value for key, value in sample["verdict"].items() if key in MEASURED_OF_VERDICT}
        lines.append(json.dumps(sample, separators=(",", ":")))
    return "".join(line + "\n" for line in lines).encode()


def is_done(out, phase):
    return (out / "done" / phase).exists()


def run_files(run, is_finished, model_needed):
    """Returns a run's files: those it needs to go on or, if it has finished, those that are read later."""
    latest = (run / "checkpoints" / "latest")
    newest = latest.read_text().strip() if latest.exists() else ""
    for path in sorted(run.rglob("*")):
        name, parts = path.name, path.relative_to(run).parts
        if not path.is_file() or name == ".lock" or name.startswith("verdicts.sqlite"):
            continue
        if parts[0] != "checkpoints":
            if is_finished and name in ("tasks.jsonl", "examples.jsonl", "references.jsonl"):
                continue
            yield path
        elif len(parts) == 2:
            if model_needed or not is_finished:
                yield path
        elif parts[1] == newest and (not is_finished or (model_needed and name not in OPTIMIZER)):
            yield path
        elif parts[1] == "step-0" and not is_finished:
            yield path


def study_files(out):
    """Returns every file of the parcel."""
    for folder in ("done", "logs", "configs"):
        yield from sorted(path for path in (out / folder).glob("*") if path.is_file())
    yield from sorted(path for path in out.glob("*") if path.is_file() and path.suffix in (".jsonl", ".md", ".html"))
    if not is_done(out, "sft"):
        yield from sorted(path for path in (out / "start").glob("*") if path.is_file())
    yield from run_files(out / "sft", is_done(out, "sft"), model_needed=True)
    for run in sorted((out / "cells").glob("*")):
        yield from run_files(run, is_done(out, f"rl-{run.name}"), model_needed=not is_done(out, f"eval-{run.name}"))
    for evaluation in sorted((out / "eval").glob("*")):
        yield from sorted(path for path in evaluation.glob("*") if path.is_file())


def distillation_files(out, models_needed):
    """Returns every file of the parcel of a distillation study. `models_needed` names runs whose models are still read."""
    for folder in ("done", "logs", "configs"):
        yield from sorted(path for path in (out / folder).glob("*") if path.is_file())
    yield from sorted(path for path in out.glob("*") if path.is_file() and path.suffix in (".jsonl", ".md"))
    for start in sorted((out / "start").glob("*")):
        of_run = {"teacher": "teacher-sft"}.get(start.name, start.name.replace("student", "warm-up"))
        if not is_done(out, f"train-{of_run}"):
            yield from sorted(path for path in start.glob("*") if path.is_file())
    for run in sorted((out / "runs").glob("*")):
        yield from run_files(run, is_done(out, f"train-{run.name}"), run.name in models_needed)
    if not is_done(out, "curate"):
        yield from sorted(path for path in (out / "distil").glob("*") if path.is_file())
    for evaluation in sorted((out / "eval").glob("*")):
        yield from sorted(path for path in evaluation.glob("*") if path.is_file())


PHASES_OF_FOLDERS = {"cells": "rl", "runs": "train", "eval": "eval"}


def is_read_no_more(out, path):
    """Whether the file holds samples of a finished phase. Only reports and summaries read these."""
    if path.name != "samples.jsonl" or path.parts[-3] not in PHASES_OF_FOLDERS:
        return False
    return is_done(out, f"{PHASES_OF_FOLDERS[path.parts[-3]]}-{path.parts[-2]}")


def add(archive, out, path, known):
    """Adds a file. If the parcel holds an equal file already, such as a cell's warmed-up model, this adds a link to it."""
    entry = archive.gettarinfo(str(path), arcname=str(path.relative_to(out)))
    entry.type, entry.linkname = tarfile.REGTYPE, ""  # links on the disk are not links in the parcel
    data = without_tokens(path, (out / "runs").exists()) if is_read_no_more(out, path) else path.read_bytes()
    entry.size = len(data)
    key = hashlib.sha256(data).digest()
    if len(data) > 4096 and path.name not in APPENDED and key in known:
        entry.type, entry.linkname, entry.size = tarfile.LNKTYPE, known[key], 0
        archive.addfile(entry)
        return
    known.setdefault(key, entry.name)
    archive.addfile(entry, io.BytesIO(data))


def pack(out, file, files=study_files):
    """Writes the parcel and returns its size in bytes. It replaces an older parcel when the new one is complete."""
    out, file = pathlib.Path(out), pathlib.Path(file)
    file.parent.mkdir(parents=True, exist_ok=True)
    fresh = file.with_name(file.name + ".new")
    writer = PartWriter(fresh)
    known = {}
    with gzip.GzipFile(filename="", fileobj=writer, mode="wb", compresslevel=6) as squeezed:
        with tarfile.open(fileobj=squeezed, mode="w|", format=tarfile.PAX_FORMAT) as archive:
            for path in files(out):
                add(archive, out, path, known)
    writer.close()
    number = writer.number + 1
    size = sum(part_path(fresh, part).stat().st_size for part in range(number))
    for part in range(number):
        part_path(fresh, part).rename(part_path(file, part))
    while part_path(file, number).exists():
        part_path(file, number).unlink()
        number += 1
    return size


def unpack(file, out):
    file, out = pathlib.Path(file), pathlib.Path(out)
    out.mkdir(parents=True, exist_ok=True)
    reader = PartReader(file)
    with tarfile.open(fileobj=reader, mode="r|gz") as archive:
        safe = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
        archive.extractall(out, **safe)
    reader.close()
