"""The phases of the distillation study. Each is one call of the program, which goes on where an earlier call was stopped."""
import concurrent.futures
import json
import math
import struct

from arms import ARMS, REINFORCE, model_settings
from measures import records
from phases import OutOfTime, Study

# The teacher is wider than the student by more than the square root of this, so its rates are lower.
TEACHER_SFT_RATE, TEACHER_RL_RATE = 1.5e-3, 1e-4
STUDENT_SFT_RATE, STUDENT_MORE_RATE, STUDENT_RL_RATE = 3e-3, 1e-3, 3e-4


def parameters_of(model):
    """Counts the numbers in a model directory's weights, by the files' headers alone."""
    count = 0
    for file in sorted(model.glob("*.safetensors")):
        if file.name.startswith("optimizer"):
            continue
        with file.open("rb") as stream:
            header = json.loads(stream.read(struct.unpack("<Q", stream.read(8))[0]))
        count += sum(math.prod(each["shape"]) for name, each in header.items() if name != "__metadata__")
    return count


class Distillation(Study):
    """The models of the study lie in runs/NAME. A student's NAME is its stages and its seed: answers-rl-seed2."""

    def run_dir(self, name):
        return self.out / "runs" / name

    def steps_of(self, stages):
        scale = self.scale
        steps = {"more": scale.more_steps, "answers": scale.more_steps, "on-policy": scale.on_policy_steps,
                 "rl": scale.rl_steps}
        return steps[stages[-1]] if stages else scale.warm_up_steps

    @staticmethod
    def student(stages, seed):
        return f"{'-'.join(stages) or 'warm-up'}-seed{seed}"

    def trained(self, name, steps):
        return self.run_dir(name) / "checkpoints" / f"step-{steps}"

    def student_model(self, stages, seed):
        return self.trained(self.student(stages, seed), self.steps_of(stages))

    @property
    def teacher(self):
        return self.trained("teacher-rl", self.scale.teacher_rl_steps)

    @property
    def heldout(self):
        return f"quickstart:seed=1,heldout={self.scale.heldout}"

    # The phases.
    def make_data(self):
        self.call("tasks", "tasks", "make", "--quickstart", "--seed", 1, "--train", self.scale.train, "--heldout",
                  self.scale.heldout, "--out", self.out / "tasks.jsonl")
        self.call("teach", "tasks", "teach", "--quickstart", "--set", f"curriculum.train={self.scale.train}", "--set",
                  'teacher.styles=["compact"]', "--set", "teacher.per_task=1", "--set", "teacher.mistakes=0.5",
                  "--out", self.out / "examples.jsonl")

    def make_start(self, name, seed, width, layers):
        """Writes an untrained model. Its tokenizer is learnt from the same examples, so it is the same for all."""
        settings = [f"seed={seed}", f"vocabulary={self.scale.vocabulary}", *model_settings(width, layers)]
        model = self.out / "start" / name
        self.make_model(f"make-{name}", model, settings)
        if not any(each["model"] == name.partition("-")[0] for each in records(self.out / "models.jsonl")):
            line = {"model": name.partition("-")[0], "parameters": parameters_of(model)}
            with (self.out / "models.jsonl").open("a") as models:
                models.write(json.dumps(line) + "\n")
        return model

    def supervise(self, name, seed, model, examples, steps, rate):
        config = {
            "run.dir": str(self.run_dir(name)), "run.seed": seed, "run.steps": steps, "model.path": str(model),
            "model.device": self.device, "data.examples": str(self.out / examples),
            "data.step_tokens": self.scale.step_tokens, "data.max_tokens": 512, "optimizer.learning_rate": rate,
            "optimizer.warmup_updates": 50, "checkpoint.every": 200, "checkpoint.keep_last": 1,
        }
        self.call(f"train-{name}", "sft", self.write_config(name, config))

    def reinforce(self, name, seed, model, steps, rate, more):
        config = {
            **REINFORCE, "run.dir": str(self.run_dir(name)), "run.seed": seed, "run.steps": steps,
            "model.path": str(model), "model.device": self.device, "tasks.path": str(self.out / "tasks.jsonl"),
            "rollout.prompts": self.scale.prompts, "rollout.samples": self.scale.group,
            "rollout.max_new_tokens": self.scale.new_tokens, "judge.trials": self.scale.trials,
            "optimizer.learning_rate": rate, **more,
        }
        self.call(f"train-{name}", "rl", self.write_config(name, config), "--gym", self.url)

    def evaluate_model(self, name, model):
        self.call(f"eval-{name}", "eval", "--suite", self.heldout, "--model", model, "--out", self.out / "eval" / name,
                  "--name", name, "--samples", self.scale.samples, "--max-tokens", self.scale.new_tokens,
                  "--prompt-style", "compact", "--trials", self.scale.trials, "--backend", "evaluate", "--device",
                  self.device, "--gym", self.url)

    def make_teacher(self):
        scale = self.scale
        start = self.make_start("teacher", 1, scale.teacher_width, scale.teacher_layers)
        self.supervise("teacher-sft", 1, start, "examples.jsonl", scale.teacher_sft_steps, TEACHER_SFT_RATE)
        sft = self.trained("teacher-sft", scale.teacher_sft_steps)
        self.evaluate_model("teacher-sft", sft)
        self.reinforce("teacher-rl", 1, sft, scale.teacher_rl_steps, TEACHER_RL_RATE, {})
        self.evaluate_model("teacher-rl", self.teacher)

    def ask_teacher(self):
        self.call("distil", "tasks", "distil", "--suite", f"quickstart:seed=1,train={self.scale.asked},heldout=0",
                  "--model", self.teacher, "--out", self.out / "distil", "--prompts", "compact", "--samples",
                  self.scale.answers, "--turns", 1, "--max-tokens", self.scale.new_tokens, "--trials",
                  self.scale.trials, "--at-once", 256, "--backend", "evaluate", "--device", self.device, "--gym", self.url)
        self.call("curate", "tasks", "curate", self.out / "distil", "--want", "all", "--away-from", self.heldout, "--out",
                  self.out / "answers.jsonl")

    def train_student(self, stages, seed):
        name, scale = self.student(stages, seed), self.scale
        if not stages:
            start = self.make_start(f"student-seed{seed}", seed, scale.student_width, scale.student_layers)
            self.supervise(name, seed, start, "examples.jsonl", scale.warm_up_steps, STUDENT_SFT_RATE)
        elif stages[-1] in ("more", "answers"):
            examples = "examples.jsonl" if stages[-1] == "more" else "answers.jsonl"
            self.supervise(name, seed, self.student_model(stages[:-1], seed), examples, scale.more_steps,
                           STUDENT_MORE_RATE)
        else:
            more = {"teacher.path": str(self.teacher)} if stages[-1] == "on-policy" else {}
            self.reinforce(name, seed, self.student_model(stages[:-1], seed), self.steps_of(stages), STUDENT_RL_RATE, more)
        self.evaluate_model(name, self.student_model(stages, seed))

    def train_students(self, names, seed):
        """Runs the chains of one seed. A stage that several arms share is run once."""
        self.train_student((), seed)
        for name in names:
            for end in range(1, len(ARMS[name]) + 1):
                self.train_student(ARMS[name][:end], seed)

    def models_needed(self, names, seeds):
        """Returns the runs whose models a phase still reads."""
        def left(phases):
            return not all((self.out / "done" / phase).exists() for phase in phases)
        chains = {ARMS[name][:end] for name in names for end in range(len(ARMS[name]) + 1)}
        needed = {name for name in [self.student(chain, seed) for chain in chains for seed in seeds] if left([f"eval-{name}"])}
        for seed in seeds:
            for chain in chains:
                if chain and left([f"train-{self.student(chain, seed)}"]):
                    needed.add(self.student(chain[:-1], seed))
                    needed.update(["teacher-rl"] if chain[-1] == "on-policy" else [])
        needed.update(["teacher-sft"] if left(["train-teacher-rl", "eval-teacher-sft"]) else [])
        return needed | ({"teacher-rl"} if left(["distil", "eval-teacher-rl"]) else set())

    def run(self, names, seeds):
        self.make_data()
        self.make_teacher()
        self.ask_teacher()
        # A student is too small to fill a GPU, so the seeds run side by side.
        with concurrent.futures.ThreadPoolExecutor(len(seeds)) as pool:
            students = [pool.submit(self.train_students, names, seed) for seed in seeds]
        failures = [each.exception() for each in students if each.exception()]
        failures.sort(key=lambda each: isinstance(each, OutOfTime))  # a real failure is told first
        if failures:
            raise failures[0]
