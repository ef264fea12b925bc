#include "curriculum/tasks.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/hash.h"
#include "curriculum/split.h"
#include "curriculum/trial.h"

namespace tritonsmith::curriculum {
namespace {

const std::set<Op>& basic_words() {
  static const std::set<Op> words = {
      Op::relu,         Op::leaky_relu,    Op::sigmoid,  Op::tanh,
      Op::silu,         Op::gelu,          Op::softplus, Op::softsign,
      Op::exp,          Op::square,        Op::abs,      Op::neg,
      Op::sin,          Op::cos,           Op::sqrt_abs, Op::log1p_abs,
      Op::reciprocal,   Op::hardtanh,      Op::erf,      Op::add_constant,
      Op::mul_constant, Op::subtract_from, Op::add,      Op::sub,
      Op::mul,          Op::maximum,       Op::minimum,  Op::squared_difference,
      Op::sum,          Op::mean,          Op::max,      Op::min};
  return words;
}

Status check_families(const std::vector<std::string>& families) {
  if (families.empty()) return fail("must name at least one of {}", all_names<Family>());
  for (const std::string& each : families) TRY(enum_from_name<Family>(each));
  return ok();
}

std::string family_code(Family family) {
  switch (family) {
    case Family::elementwise:
      return "ew";
    case Family::reduction:
      return "red";
    case Family::softmax:
      return "sm";
    case Family::norm:
      return "norm";
    case Family::matmul:
      return "mm";
  }
  return "";
}

// The maximum of many values is nearly always the same. The maximum of few values varies.
bool rows_are_long(const Program& program) {
  const Expression* core = find_core(program.root);
  return core && (core->op == Op::max || core->op == Op::min || core->op == Op::peak_normalize);
}

// Only a few shapes, so that a small model sees each one often.
Sizes draw_basic_sizes(Rng& rng) {
  static const std::vector<Sizes> kShapes = {{{16}, 128}, {{32}, 64}, {{8}, 256}, {{16}, 100}};
  return rng.pick(kShapes);
}

class Maker {
 public:
  explicit Maker(const CurriculumOptions& options) : options_(options) {
    for (const std::string& each : options.families)
      families_.push_back(*enum_from_name<Family>(each));
  }

  std::vector<GeneratedTask> make() {
    fill(TaskSplit::train, options_.train);
    fill(TaskSplit::heldout, options_.heldout);
    return std::move(generated_);
  }

 private:
  // Draws until the split has `wanted` compositions, or until many draws have given nothing new.
  void fill(TaskSplit split, int wanted) {
    int made = 0;
    std::uint64_t barren = 0;
    for (std::uint64_t i = 0; made < wanted && barren < 20000; ++i) {
      Rng rng(options_.seed, name_of(split), i);
      ++barren;
      const auto program = draw(rng, i, split);
      if (!program || split_of(program->root) != split) continue;
      if (++seen_[canonical_form(program->root)] > options_.variants) continue;
      if (is_nearly_constant(try_out(*program, 4, rows_are_long(*program) ? 512 : 48, rng)))
        continue;
      if (!add(*program, split, rng)) continue;
      ++made;
      barren = 0;
    }
  }

  std::optional<Program> draw(Rng& rng, std::uint64_t index, TaskSplit split) {
    const bool basic = options_.vocabulary == Vocabulary::basic;
    const int most = std::max(options_.min_operators, options_.max_operators);
    // A composition of fewer than three operators is never held out.
    const int fewest = split == TaskSplit::train ? options_.min_operators
                                                 : std::clamp(3, options_.min_operators, most);
    const auto span = static_cast<std::uint64_t>(most - fewest + 1);
    GrammarRules rules{.family = families_[index % families_.size()],
                       .operators = fewest + static_cast<int>(rng.below(span))};
    if (basic) {
      rules.words = basic_words();
      rules.most_inputs = 2;
      rules.broadcast = rules.branches = false;
    }
    auto program = draw_program(rng, rules);
    if (basic && program) program->keepdim = false;
    return program;
  }

  bool add(const Program& program, TaskSplit split, Rng& rng) {
    bool added = false;
    for (const TaskScale scale : {TaskScale::small, TaskScale::gpu}) {
      if (options_.scale == (scale == TaskScale::small ? Scales::gpu : Scales::small)) continue;
      const Sizes sizes = scale == TaskScale::small && options_.vocabulary == Vocabulary::basic
                              ? draw_basic_sizes(rng)
                              : draw_sizes(rng, program, scale);
      Task task{.id = "",
                .suite = "curriculum",
                .source = torch_source(program, sizes, options_.idioms, rng),
                .instruction = instruction(program, sizes),
                .family = std::string(name_of(program.family)),
                .composition = canonical_form(program.root),
                .scale = scale,
                .split = split,
                .tolerance = std::nullopt};
      task.id = fmt::format("{}{}-{}-{}", family_code(program.family), operator_count(program.root),
                            content_key(task.source).substr(0, 10), name_of(scale));
      if (!ids_.insert(task.id).second) continue;
      generated_.push_back({std::move(task), program, sizes});
      added = true;
    }
    return added;
  }

  const CurriculumOptions& options_;
  std::vector<Family> families_;
  std::map<std::string, int> seen_;
  std::set<std::string> ids_;
  std::vector<GeneratedTask> generated_;
};

}  // namespace

Fields<CurriculumOptions> CurriculumOptions::fields() {
  using Options = CurriculumOptions;
  return {
      field("seed", &Options::seed, "Other seeds give other tasks. The split stays the same."),
      field("families", &Options::families,
            "The families of tasks, of " + all_names<Family>() + ".", check_families),
      field("train", &Options::train, "How many training compositions there are.", at_least(0)),
      field("heldout", &Options::heldout, "How many held-out compositions there are.", at_least(0)),
      field("scale", &Options::scale, "The sizes of tasks: " + all_names<Scales>() + "."),
      field("min_operators", &Options::min_operators, "The fewest operators of a task.",
            between(1, 12)),
      field("max_operators", &Options::max_operators, "The most operators of a task.",
            between(1, 12)),
      field("vocabulary", &Options::vocabulary,
            "The set of operators and shapes: " + all_names<Vocabulary>() + "."),
      field("idioms", &Options::idioms, "How PyTorch is written: " + all_names<Idioms>() + "."),
      field("variants", &Options::variants,
            "How many tasks one composition gives. They differ in constants and shapes.",
            at_least(1)),
  };
}

CurriculumOptions quickstart_options(std::uint64_t seed) {
  return {.seed = seed,
          .families = {"elementwise", "reduction"},
          .train = 6000,
          .heldout = 120,
          .scale = Scales::small,
          .min_operators = 1,
          .max_operators = 3,
          .vocabulary = Vocabulary::basic,
          .idioms = Idioms::plain,
          .variants = 2};
}

std::vector<Task> relatives(const GeneratedTask& generated, std::uint64_t seed) {
  const Program& program = generated.program;
  Rng rng(seed, "relatives of " + generated.task.id, 0);
  std::vector<Task> found;
  const auto add = [&](std::string_view what, const Sizes& sizes, Draws draws) {
    Task task = generated.task;
    task.id += fmt::format("+{}", what);
    task.source = torch_source(program, sizes, Idioms::plain, rng, draws);
    task.instruction = instruction(program, sizes);
    found.push_back(std::move(task));
  };
  std::vector<Sizes> known = {generated.sizes};
  for (int tries = 0; found.size() < 2 && tries < 64; ++tries) {
    const Sizes sizes = draw_sizes(rng, program, generated.task.scale);
    const bool is_new = std::ranges::none_of(
        known, [&](const Sizes& each) { return each.n == sizes.n && each.lead == sizes.lead; });
    if (!is_new || sizes.lead.size() != generated.sizes.lead.size()) continue;
    known.push_back(sizes);
    add(found.empty() ? "sizes" : "sizes2", sizes, Draws::usual);
  }
  add("flat", generated.sizes, Draws::flat);
  add("shifted", generated.sizes, Draws::shifted);
  return found;
}

std::vector<GeneratedTask> generate_tasks(const CurriculumOptions& options) {
  return Maker(options).make();
}

std::vector<Task> make_curriculum(const CurriculumOptions& options) {
  std::vector<Task> tasks;
  for (GeneratedTask& generated : generate_tasks(options))
    tasks.push_back(std::move(generated.task));
  return tasks;
}

}  // namespace tritonsmith::curriculum
