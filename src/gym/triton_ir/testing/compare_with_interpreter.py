"""Compares the evaluator with Triton's own interpreter over the corpus beside this file.

    compare_with_interpreter.py EVALUATE_RUN [name part ...]

Triton chooses the interpreter when a kernel is decorated, so this needs three processes. One compiles every kernel to Triton
IR, without a GPU. One runs the kernels in the interpreter. EVALUATE_RUN evaluates the IR. If the interpreter is known to
differ from the chip, a case has its own reference. If any case differs, this prints the names and exits with 1.
"""
import json
import os
import pickle
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))


def run_child(mode, folder, names):
    environment = dict(os.environ, TRITON_CACHE_DIR=os.path.join(folder, "cache"), CUDA_VISIBLE_DEVICES="",
                       OMP_NUM_THREADS="1", PYTHONDONTWRITEBYTECODE="1")
    environment.pop("TRITON_INTERPRET", None)
    if mode == "interpret":
        environment["TRITON_INTERPRET"] = "1"
    command = [sys.executable, os.path.join(HERE, "corpus_process.py"), mode, folder, *names]
    return subprocess.Popen(command, env=environment)


def evaluate(program, folder, cases):
    launches = []
    for name, case in cases.items():
        ttir, data = os.path.join(folder, name + ".ttir"), os.path.join(folder, name + ".bin")
        with open(ttir, "w") as file:
            file.write(case["ttir"])
        with open(data, "wb") as file:
            for array in case["arrays"]:
                file.write(array.tobytes())
        launches.append(dict(name=name, ttir=ttir, data=data, grid=case["grid"], arguments=case["arguments"],
                             buffers=[dict(bytes=a.nbytes, element_bytes=a.itemsize) for a in case["arrays"]]))
    manifest = os.path.join(folder, "manifest.json")
    with open(manifest, "w") as file:
        json.dump(dict(launches=launches), file)
    done = subprocess.run([program, manifest], capture_output=True, text=True)
    reports = {}
    for line in done.stdout.splitlines():
        report = json.loads(line)
        reports[report["name"]] = report
    if done.returncode != 0:
        print(f"{program} ended with {done.returncode}: {done.stderr[-2000:]}")
    return reports


def main():
    program, names = sys.argv[1], sys.argv[2:]
    start = time.time()
    with tempfile.TemporaryDirectory(prefix="corpus-") as folder:
        keep = os.environ.get("KEEP_CORPUS")
        if keep:
            folder = keep
            os.makedirs(folder, exist_ok=True)
        from corpus import generate
        generate.write_all(folder)
        children = [run_child(mode, folder, names) for mode in ("compile", "interpret")]
        codes = [child.wait() for child in children]
        if any(codes):
            sys.exit(f"the corpus did not run: {codes}")
        with open(os.path.join(folder, "compiled.pickle"), "rb") as file:
            compiled = pickle.load(file)
        with open(os.path.join(folder, "expected.pickle"), "rb") as file:
            expected = pickle.load(file)
        cases = {name: case for name, case in compiled.items() if "ttir" in case}
        reports = evaluate(program, folder, cases)
        failures = []
        for name, case in compiled.items():
            problem = case.get("problem") or expected[name].get("problem")
            if problem is None:
                problem = compare(name, case, expected[name], reports.get(name), folder)
            if problem is not None:
                failures.append((name, problem))
        for name, problem in failures:
            print(f"FAILED {name}: {problem}")
        print(f"{len(compiled) - len(failures)} passed, {len(failures)} failed, {time.time() - start:.1f} s")
        sys.exit(1 if failures else 0)


def compare(name, case, expected, report, folder):
    from corpus.tolerance import difference
    if report is None:
        return "the evaluator died"
    if report["status"] != "completed":
        return f"{report['status']}: {report['message']} (line {report.get('line')})"
    with open(os.path.join(folder, name + ".bin"), "rb") as file:
        data = file.read()
    at = 0
    for index, array in enumerate(case["arrays"]):
        got = data[at:at + array.nbytes]
        at += array.nbytes
        problem = difference(got, expected["arrays"][index], case["dtypes"][index], case["tolerance"])
        if problem:
            return f"buffer {index}: {problem}"
    return None


if __name__ == "__main__":
    main()
