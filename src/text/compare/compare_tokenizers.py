"""Compares our tokenizer with the package `tokenizers`: ids, decoding and training, over a fuzz corpus.

    compare_tokenizers.py PROBE [--all]     PROBE is the built tokenizer_probe; --all tries every code point (minutes)

Exits non-zero at the first disagreement, which it prints.
"""
import glob
import json
import random
import struct
import subprocess
import sys
import tempfile
import unicodedata
from pathlib import Path

import tokenizers
from tokenizers import (AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors,
                        trainers)

PROBE = sys.argv[1]
EVERY_CODE_POINT = "--all" in sys.argv
QWEN2 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
         r"|\s+(?!\S)|\s+")
LLAMA3 = QWEN2.replace(r"|\p{N}|", r"|\p{N}{1,3}|")
QWEN_SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|object_ref_start|>", "<|object_ref_end|>",
                "<|box_start|>", "<|box_end|>", "<|quad_start|>", "<|quad_end|>", "<|vision_start|>", "<|vision_end|>",
                "<|vision_pad|>", "<|image_pad|>", "<|video_pad|>"]
QWEN_ADDED = ["<tool_call>", "</tool_call>", "<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>", "<|fim_pad|>",
              "<|repo_name|>", "<|file_sep|>", "<tool_response>", "</tool_response>", "<think>", "</think>"]
LLAMA_SPECIAL = (["<|begin_of_text|>", "<|end_of_text|>", "<|reserved_special_token_0|>", "<|reserved_special_token_1|>",
                  "<|finetune_right_pad_id|>", "<|reserved_special_token_2|>", "<|start_header_id|>",
                  "<|end_header_id|>", "<|eom_id|>", "<|eot_id|>", "<|python_tag|>"]
                 + [f"<|reserved_special_token_{i}|>" for i in range(3, 248)])


# --- talking to the probe ---------------------------------------------------------------------------------------

def probe(mode, argument, frames):
    stdin = b"".join(struct.pack("<I", len(f)) + f for f in frames)
    done = subprocess.run([PROBE, mode, argument], input=stdin, capture_output=True)
    if done.returncode:
        sys.exit(f"the probe failed: {done.stderr.decode()}")
    answers, at = [], 0
    while at < len(done.stdout):
        (size,) = struct.unpack_from("<I", done.stdout, at)
        answers.append(done.stdout[at + 4:at + 4 + size])
        at += 4 + size
    return answers


def ids_of(frame):
    return list(struct.unpack(f"<{len(frame) // 4}i", frame))


def pack_ids(ids):
    return struct.pack(f"<{len(ids)}i", *ids)


def disagree(what, given, ours, theirs):
    sys.exit(f"{what}: disagreement\n  given  {given!r}\n  ours   {ours!r}\n  theirs {theirs!r}")


# --- what is compared -------------------------------------------------------------------------------------------

def code_points(rng):
    everything = [c for c in range(0x110000) if not 0xD800 <= c <= 0xDFFF]
    if EVERY_CODE_POINT:
        return everything
    changed_lately = [c for c in everything if unicodedata.category(chr(c)) == "Cn" and c < 0x20000]
    return list(range(0x500)) + rng.sample(everything, 2500) + rng.sample(changed_lately, 1000)


def source_files():
    roots = {Path(tokenizers.__file__).parent, Path(json.__file__).parent}
    files = sorted(f for root in roots for f in glob.glob(f"{root}/**/*.py", recursive=True))
    try:
        import triton
        files += sorted(glob.glob(f"{Path(triton.__file__).parent}/language/**/*.py", recursive=True))
    except ImportError:
        pass
    return [Path(f).read_text() for f in files]


def fuzz_texts(rng, specials, count):
    combining = [chr(c) for c in range(0x110000)
                 if not 0xD800 <= c <= 0xDFFF and (unicodedata.combining(chr(c)) or unicodedata.decomposition(chr(c)))]
    scripts = [(0x20, 0x7F), (0x20, 0x7F), (0x20, 0x7F), (0xA0, 0x250), (0x370, 0x530), (0x590, 0x700), (0x900, 0xE00),
               (0x1100, 0x1200), (0x2000, 0x2070), (0x3040, 0x3100), (0x4E00, 0x9FFF), (0xAC00, 0xD7A4),
               (0x1F300, 0x1F700), (0x10FF00, 0x110000)]
    spice = ["\n", "\r\n", "\r", " ", "  ", "\t", "\u00a0", "\u180e", "\u2028", "\u3000", "\u0085", "'s", "'LL",
             "'\u017f", "'ve", "1234567", "x86", "_", "\u200d", "\ufeff", "\u0345", "e\u0301", "\u0000", "<|", "|>",
             "    ", "\n\n\n", " \n ", "\u212a"] + specials
    for _ in range(count):
        parts = []
        for _ in range(rng.randint(1, 12)):
            kind = rng.random()
            if kind < 0.4:
                parts.append(rng.choice(spice))
            elif kind < 0.5:
                parts.append("".join(rng.choice(combining) for _ in range(rng.randint(1, 4))))
            else:
                low, high = rng.choice(scripts)
                parts.append("".join(chr(rng.randrange(low, high)) for _ in range(rng.randint(1, 6))))
        yield "".join(parts)


def invalid_utf8(rng, count):
    for _ in range(count):
        good = "aé€😀\ud7ffπ".encode() * 3
        cut = bytearray(good[rng.randrange(10):rng.randrange(10, len(good))])
        for _ in range(rng.randint(0, 4)):
            cut[rng.randrange(len(cut))] = rng.randrange(256)
        yield bytes(cut)


def corpus_of_texts(rng, specials):
    for c in code_points(rng):
        for text in (chr(c), "a " + chr(c), "a" + chr(c) + "1", chr(c) + "\n"):
            yield text.encode()
    for text in source_files():
        yield text.encode()
        yield text.replace("\n", "\r\n").encode()
    for text in fuzz_texts(rng, specials, 200000 if EVERY_CODE_POINT else 6000):
        yield text.encode()
    yield from invalid_utf8(rng, 1000)
    yield from (b"", b" ", b"\n", b"   " * 1000, b"ab" * 5000, b"\n \n" * 500)


# --- comparisons ------------------------------------------------------------------------------------------------

def compare_texts(name, path, rng, specials):
    theirs = Tokenizer.from_file(path)
    texts = list(corpus_of_texts(rng, specials))
    answers = probe("encode", path, texts)
    expected = theirs.encode_batch([t.decode(errors="replace") for t in texts])
    for i, (text, encoding) in enumerate(zip(texts, expected)):
        ids = ids_of(answers[4 * i])
        if ids != encoding.ids:
            disagree(f"{name}: encode", text, ids, encoding.ids)
        compare_decoded(name, theirs, ids, answers[4 * i + 1:4 * i + 4])
    size = theirs.get_vocab_size()
    lists = [[rng.randrange(-1 + 1, size + 3) for _ in range(rng.randint(0, 30))] for _ in range(2000)]
    answers = probe("decode", path, [pack_ids(ids) for ids in lists])
    for i, ids in enumerate(lists):
        compare_decoded(name, theirs, ids, answers[3 * i:3 * i + 3])
    return len(texts)


def compare_decoded(name, theirs, ids, ours):
    whole = theirs.decode(ids, skip_special_tokens=False)
    for what, mine, other in (("decode", ours[0], whole), ("streamed decode", ours[2], whole),
                              ("decode without special tokens", ours[1], theirs.decode(ids))):
        if mine.decode() != other:
            disagree(f"{name}: {what}", ids, mine.decode(), other)


def byte_level(**options):
    return pre_tokenizers.ByteLevel(**{"add_prefix_space": False, "use_regex": False, **options})


def split(pattern, behavior="isolated", invert=False):
    return pre_tokenizers.Split(Regex(pattern), behavior, invert)


def trained_by_them(corpus, pre_tokenizer, specials=(), normalizer=None, size=3000, **model):
    theirs = Tokenizer(models.BPE(**model))
    theirs.pre_tokenizer = pre_tokenizer
    if normalizer:
        theirs.normalizer = normalizer
    theirs.decoder = decoders.ByteLevel()
    theirs.post_processor = processors.ByteLevel(trim_offsets=False)
    theirs.train_from_iterator(corpus, trainers.BpeTrainer(
        vocab_size=size, min_frequency=2, show_progress=False, special_tokens=list(specials),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    return theirs


def qwen_like(corpus):
    t = trained_by_them(corpus, pre_tokenizers.Sequence([split(QWEN2), byte_level()]), normalizer=normalizers.NFC())
    t.add_special_tokens([AddedToken(s, normalized=False, special=True) for s in QWEN_SPECIAL])
    t.add_tokens([AddedToken(s, normalized=False) for s in QWEN_ADDED])
    return t, QWEN_SPECIAL + QWEN_ADDED


def llama_like(corpus):
    t = trained_by_them(corpus, pre_tokenizers.Sequence([split(LLAMA3), byte_level()]), ignore_merges=True)
    t.add_special_tokens([AddedToken(s, normalized=False, special=True) for s in LLAMA_SPECIAL])
    bos = t.token_to_id("<|begin_of_text|>")
    t.post_processor = processors.Sequence([processors.ByteLevel(trim_offsets=False), processors.TemplateProcessing(
        single="<|begin_of_text|> $A", special_tokens=[("<|begin_of_text|>", bos)])])
    return t, LLAMA_SPECIAL[:12]


def llama_with_words(corpus):
    """Tests ignore_merges. It matters if the vocabulary has words that no merge produces."""
    t, specials = llama_like(corpus)
    data = json.loads(t.to_str())
    data["model"]["merges"] = [" ".join(m) for m in data["model"]["merges"][::3]]
    tokens = {a + b for a, b in (m.split(" ") for m in data["model"]["merges"])}
    kept = [m for m in data["model"]["merges"] if all(len(p) == 1 or p in tokens for p in m.split(" "))]
    data["model"]["merges"] = kept
    return Tokenizer.from_str(json.dumps(data)), specials


def gpt2_like(corpus):
    return trained_by_them(corpus, byte_level(use_regex=True, add_prefix_space=True), ["<|endoftext|>"]), ["<|endoftext|>"]


def deepseek_like(corpus):
    return trained_by_them(corpus, pre_tokenizers.Sequence(
        [split(r"[\r\n]"), split(r"\s?[\p{L}\p{M}]+", "merged_with_previous"), split(r"\p{P}", "contiguous"),
         split(r"[一-龥]+", "merged_with_next"), pre_tokenizers.Digits(individual_digits=True),
         split(r"[^\s]+", "isolated", True), byte_level()])), []


def flags_of_all_kinds(corpus):
    t = trained_by_them(corpus, pre_tokenizers.Sequence([split(QWEN2), byte_level()]), normalizer=normalizers.NFC())
    added = [AddedToken("[L]", lstrip=True, normalized=False), AddedToken("[R]", rstrip=True, normalized=False),
             AddedToken("[LR]", lstrip=True, rstrip=True, normalized=False, special=True),
             AddedToken("word", single_word=True, normalized=False), AddedToken("wordy", normalized=False),
             AddedToken("e\u0301tat", normalized=True), AddedToken("two words", normalized=False),
             AddedToken("[N]", normalized=True, rstrip=True, special=True), AddedToken("\u00e9", normalized=False)]
    t.add_tokens(added)
    return t, [a.content for a in added] + ["\u00e9tat"]


def train_ours(corpus, **settings):
    (answer,) = probe("train", json.dumps(settings), [d.encode() for d in corpus])
    return Tokenizer.from_str(answer.decode()), settings.get("special", [])


def compare_training(corpus):
    pairs = {"gpt2": byte_level(use_regex=True), "qwen2": pre_tokenizers.Sequence([split(QWEN2), byte_level()]),
             "lines": pre_tokenizers.Sequence([split(r"\n*[^\n]+|\n+"), byte_level()])}
    for pieces, pre_tokenizer in pairs.items():
        ours, _ = train_ours(corpus, pieces=pieces, vocabulary_size=2000, special=["<|a|>", "<|b|>"])
        theirs = trained_by_them(corpus, pre_tokenizer, ["<|a|>", "<|b|>"], size=2000)
        mine, other = (json.loads(t.to_str())["model"] for t in (ours, theirs))
        for part in ("merges", "vocab"):
            if mine[part] != other[part]:
                disagree(f"training with {pieces}: {part}", "", str(mine[part])[:400], str(other[part])[:400])
        print(f"training with {pieces}: the same {len(other['merges'])} merges")


def main():
    rng = random.Random(20260101)
    corpus = source_files() + list(fuzz_texts(rng, [], 3000))
    compare_training(corpus)
    subjects = {
        "qwen": qwen_like(corpus), "llama": llama_like(corpus), "llama, words without merges": llama_with_words(corpus),
        "gpt2": gpt2_like(corpus), "deepseek": deepseek_like(corpus), "flags": flags_of_all_kinds(corpus),
        "ours, lines": train_ours(corpus, pieces="lines", vocabulary_size=1500, special=["<|im_end|>"]),
        "ours, phrases": train_ours(corpus, pieces="phrases", vocabulary_size=1500, special=["<|im_end|>"]),
        "ours, whole": train_ours(corpus, pieces="whole", vocabulary_size=1500, special=["<|im_end|>"]),
        "ours, qwen2": train_ours(corpus, pieces="qwen2", nfc=True, vocabulary_size=1500, special=["<|im_end|>"]),
    }
    if EVERY_CODE_POINT:
        subjects = {name: subjects[name] for name in ("qwen", "llama", "deepseek")}
    with tempfile.TemporaryDirectory() as folder:
        for name, (subject, specials) in subjects.items():
            path = f"{folder}/tokenizer.json"
            subject.save(path)
            count = compare_texts(name, path, rng, specials)
            print(f"{name}: {count} texts agree")


if __name__ == "__main__":
    main()
