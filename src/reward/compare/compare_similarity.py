"""Compares our similarity with difflib.SequenceMatcher(None, a, b).ratio() on random strings and real code.

    compare_similarity.py PROBE     PROBE is the built similarity_probe

Exits non-zero at the first ratio that differs in any bit.
"""
import difflib
import glob
import random
import struct
import subprocess
import sys
from pathlib import Path


def random_string(rng):
    alphabet = rng.choice(["a", "ab", "abc", "abcdefghij", "".join(map(chr, range(32, 127))), "aé€😀\n"])
    return "".join(rng.choice(alphabet) for _ in range(rng.choice([0, 1, 5, 50, 199, 200, 201, 300, 700])))


def edited(rng, text):
    characters = list(text)
    for _ in range(rng.randint(0, 8)):
        if not characters:
            break
        at = rng.randrange(len(characters))
        kind = rng.random()
        if kind < 0.3:
            del characters[at:at + rng.randint(1, 40)]
        elif kind < 0.6:
            characters[at:at] = list(random_string(rng)[:30])
        else:
            other = rng.randrange(len(characters))
            characters[at:at] = characters[other:other + rng.randint(1, 60)]
    return "".join(characters)


def code_pieces(rng):
    files = sorted(glob.glob(f"{Path(difflib.__file__).parent}/*.py"))
    for path in rng.sample(files, 25):
        lines = Path(path).read_text(errors="replace").splitlines(keepends=True)
        for _ in range(12):
            at = rng.randrange(len(lines))
            yield "".join(lines[at:at + rng.randint(3, 60)])


def pairs(rng):
    for _ in range(5000):
        a = random_string(rng)
        yield a, edited(rng, a) if rng.random() < 0.6 else random_string(rng)
    pieces = list(code_pieces(rng))
    for a in pieces:
        yield a, edited(rng, a)
        yield a, rng.choice(pieces)


def main():
    rng = random.Random(20260102)
    given = list(pairs(rng))
    frames = b"".join(struct.pack("<I", len(t)) + t for pair in given for t in (s.encode() for s in pair))
    answer = subprocess.run([sys.argv[1]], input=frames, capture_output=True, check=True).stdout
    ours = struct.unpack(f"<{len(given)}d", answer)
    for (a, b), ratio in zip(given, ours):
        expected = difflib.SequenceMatcher(None, a, b).ratio()
        if ratio != expected:
            sys.exit(f"disagreement: ours {ratio}, difflib {expected}\n  a {a!r}\n  b {b!r}")
    print(f"{len(given)} pairs agree")


if __name__ == "__main__":
    main()
