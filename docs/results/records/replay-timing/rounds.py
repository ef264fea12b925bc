#!/usr/bin/env python3
"""What the rounds printed at the end of repeats.txt and repeats_silu.txt here say of a median's worth: the two heaps, how means of
successive rounds scatter, and how far twenty medians lie apart (a block bootstrap, blocks of 12 rounds, 60 experiments of each kind)."""
import pathlib
import random
import re
import statistics


def rounds(file):
    lines = [line.split(":", 1)[1].split() for line in file.read_text().splitlines() if line.startswith("judgement")]
    return [[float(re.sub("[*r]", "", word)) for word in words] for words in lines]


def means(values, of):
    return [sum(values[i:i + of]) / of for i in range(0, len(values) - of + 1, of)]


def correlation(values):
    mean = statistics.mean(values)
    return sum((a - mean) * (b - mean) for a, b in zip(values, values[1:])) / sum((a - mean) ** 2 for a in values)


def drawn(pool, count, block=12):
    out = []
    while len(out) < count:
        judgement = random.choices(pool, [len(one) for one in pool])[0]
        start = random.randrange(len(judgement) - block + 1)
        out += judgement[start:start + block]
    return out[:count]


here = pathlib.Path(__file__).parent
judged = rounds(here / "repeats.txt") + rounds(here / "repeats_silu.txt")
middle = 68.15
low = [x for one in judged for x in one if x <= middle]
high = [x for one in judged for x in one if x > middle]
changes = sum((a > middle) != (b > middle) for one in judged for a, b in zip(one, one[1:]))
print(f"{len(judged)} judgements of {[len(one) for one in judged]} rounds; heaps: {statistics.median(low):.1f} us "
      f"({len(low) / (len(low) + len(high)):.0%}) and {statistics.median(high):.1f} us; "
      f"{changes / sum(len(one) - 1 for one in judged):.0%} of the rounds lie in the other heap than the one before")
relative = [[x / statistics.mean(one) for x in one] for one in judged]
for of in (1, 2, 3, 4):
    scatter = statistics.pstdev(x for one in relative for x in means(one, of)) * of ** 0.5
    print(f"means of {of}: scatter like {scatter:.2%} a round; correlation {statistics.mean(correlation(means(one, of)) for one in judged):.2f}")
random.seed(1)
pool = [one for one in relative if len(one) >= 28]
for of in (1, 2):
    for count in (24, 48, 96):
        apart = []
        for _ in range(60):
            medians = [statistics.median(means(drawn(pool, count), of)) for _ in range(20)]
            apart.append((max(medians) - min(medians)) / statistics.mean(medians))
        print(f"twenty medians of {count} rounds as means of {of}: {statistics.mean(apart):.2%} apart")
