#include "curriculum/zoo/zoo.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <unordered_set>

#include "base/hash.h"
#include "curriculum/zoo/module_source.h"
#include "curriculum/zoo/operators/operators.h"

namespace tritonsmith::curriculum::zoo {
namespace {

struct GroupShare {
  Group group;
  int weight;     // of the groups drawn at each step
  bool in_a_row;  // two operators of the group may follow each other
  const char* family;
};

// In the order in which they name a module's family.
constexpr std::array kGroups = {
    GroupShare{Group::convolution, 12, true, "convolution"},
    GroupShare{Group::product, 10, true, "matmul"},
    GroupShare{Group::loss, 3, false, "loss"},
    GroupShare{Group::norm, 7, false, "norm"},
    GroupShare{Group::softmax, 3, false, "softmax"},
    GroupShare{Group::scan, 1, false, "scan"},
    GroupShare{Group::pool, 5, false, "pool"},
    GroupShare{Group::reduction, 5, false, "reduction"},
    GroupShare{Group::activation, 11, false, "elementwise"},
    GroupShare{Group::arithmetic, 8, true, "elementwise"},
    GroupShare{Group::view, 4, false, "elementwise"},
};

const GroupShare& share_of(Group group) {
  return *std::ranges::find(kGroups, group, &GroupShare::group);
}

template <typename Items, typename Weight>
const auto& pick_weighted(Rng& rng, const Items& items, Weight weight) {
  std::uint64_t sum = 0;
  for (const auto& each : items) sum += static_cast<std::uint64_t>(weight(each));
  std::uint64_t at = rng.below(sum);
  for (const auto& each : items) {
    const auto own = static_cast<std::uint64_t>(weight(each));
    if (at < own) return each;
    at -= own;
  }
  return *items.begin();
}

std::string drawn(Sketch& s, const Shape& shape) {
  const std::string sizes = s.sizes().of(shape);
  const std::string function = pick(s, {"randn", "randn", "rand"});
  return fmt::format("torch.{}({})", function, sizes);
}

void begin_image(Sketch& s, const std::string& name) {
  const int batch = s.sizes().draw("batch_size", {1, 2, 4, 8});
  const int channels = s.sizes().draw(pick(s, {"in_channels", "channels"}), {3, 6, 12, 16, 32});
  const bool square = chance(s, 0.7);
  const int height =
      s.sizes().draw(square ? pick(s, {"image_size", "size"}) : "height", {7, 9, 10, 14, 18, 20});
  const int width = square ? height : s.sizes().draw("width", {5, 11, 13, 15, 22});
  const Shape shape = {batch, channels, height, width};
  s.begin({name, drawn(s, shape), shape}, {.shape = shape, .layout = Layout::image});
}

void begin_signal(Sketch& s, const std::string& name) {
  const int batch = s.sizes().draw("batch_size", {2, 4, 8, 10});
  const int channels = s.sizes().draw(pick(s, {"in_channels", "channels"}), {3, 6, 12, 16, 32});
  const int length = s.sizes().draw(pick(s, {"length", "sequence_length"}), {20, 50, 64, 100, 128});
  const Shape shape = {batch, channels, length};
  s.begin({name, drawn(s, shape), shape}, {.shape = shape, .layout = Layout::signal});
}

void begin_volume(Sketch& s, const std::string& name) {
  const int batch = s.sizes().draw("batch_size", {1, 2, 4});
  const int channels = s.sizes().draw("in_channels", {3, 6, 8, 16});
  const int depth = s.sizes().draw("depth", {5, 7, 10}), side = s.sizes().draw("size", {9, 11, 12});
  const Shape shape = {batch, channels, depth, side, side};
  s.begin({name, drawn(s, shape), shape}, {.shape = shape, .layout = Layout::volume});
}

void begin_rows(Sketch& s, const std::string& name) {
  const int batch = s.sizes().draw("batch_size", {4, 8, 10, 20, 50, 128});
  const int features = s.sizes().draw(pick(s, {"in_features", "input_size", "num_features", "dim"}),
                                      {16, 30, 32, 64, 100, 256});
  const Shape shape = {batch, features};
  s.begin({name, drawn(s, shape), shape}, {.shape = shape, .layout = Layout::rows});
}

void begin_sequence(Sketch& s, const std::string& name) {
  const int batch = s.sizes().draw("batch_size", {2, 4, 8});
  const int length = s.sizes().draw(pick(s, {"seq_len", "num_tokens"}), {5, 10, 12, 20, 24, 40});
  const int features =
      s.sizes().draw(pick(s, {"dim", "embed_dim", "d_model", "hidden_size"}), {16, 32, 48, 64});
  const Shape shape = {batch, length, features};
  s.begin({name, drawn(s, shape), shape}, {.shape = shape, .layout = Layout::sequence});
}

// Indices of a table of vectors, with learned positions or without.
void begin_tokens(Sketch& s) {
  const std::string name = pick(s, {"tokens", "input_ids", "ids", "indices"});
  const int batch = s.sizes().draw("batch_size", {2, 4, 8});
  const int length = s.sizes().draw("seq_len", {5, 10, 12, 20, 24});
  const int vocabulary =
      s.sizes().draw(pick(s, {"vocab_size", "num_embeddings"}), {50, 100, 200, 1000});
  const int features = s.sizes().draw(pick(s, {"embed_dim", "d_model"}), {16, 32, 48, 64});
  const Shape shape = {batch, length};
  s.begin({name,
           fmt::format("torch.randint(0, {}, ({}))", s.sizes().of(vocabulary), s.sizes().of(shape)),
           shape},
          {.shape = shape, .layout = Layout::other});
  const Value embedded{.shape = {batch, length, features}, .layout = Layout::sequence};
  s.become_layer(
      pick(s, {"embedding", "embed", "tok_emb"}),
      fmt::format("nn.Embedding({}, {})", s.sizes().of(vocabulary), s.sizes().of(features)),
      embedded);
  if (chance(s, 0.4)) {
    const std::string positions =
        s.parameter(pick(s, {"pos_emb", "position"}), {length, features}, "0.02");
    s.become(fmt::format("{} + {}", s.operand(), positions), embedded);
  }
  s.note_step("embedding");
}

void begin_heads(Sketch& s, const std::string& name) {
  const int batch = s.sizes().draw("batch_size", {1, 2});
  const int heads = s.sizes().draw("num_heads", {4, 6});
  const int length = s.sizes().draw("seq_len", {10, 12, 20});
  const int size = s.sizes().draw("head_dim", {8, 16, 32});
  const Shape shape = {batch, heads, length, size};
  s.begin({name, drawn(s, shape), shape}, {.shape = shape, .layout = Layout::other});
}

void begin(Sketch& s) {
  const std::string& name = s.style().argument;
  const int at = draw_between(s, 0, 99);
  if (at < 36) return begin_image(s, name);
  if (at < 54) return begin_rows(s, name);
  if (at < 70) return begin_sequence(s, name);
  if (at < 83) return begin_signal(s, name);
  if (at < 91) return begin_volume(s, name);
  if (at < 97) return begin_tokens(s);
  begin_heads(s, name);
}

class Composer {
 public:
  Composer(Rng& rng, int steps) : rng_(rng), sketch_(rng, draw_style(rng)), wanted_(steps) {}

  // Returns false if no operator fits.
  bool compose() {
    begin(sketch_);
    const auto keep_at = static_cast<std::size_t>(draw_between(sketch_, 0, 2 * wanted_));
    while (sketch_.parts().path.size() < static_cast<std::size_t>(wanted_)) {
      const std::size_t left = static_cast<std::size_t>(wanted_) - sketch_.parts().path.size();
      sketch_.set_last(left == 1);
      if (sketch_.parts().path.size() == keep_at && left >= 2) sketch_.keep();
      if (!add_operator()) return false;
    }
    sketch_.finish();
    return true;
  }

  const Sketch& sketch() const { return sketch_; }
  const std::vector<Group>& groups() const { return groups_; }

 private:
  bool add_operator() {
    const bool may_join = sketch_.earlier_value() && !sketch_.earlier_value()->used;
    for (int tries = 0; tries < 60; ++tries) {
      const Group group =
          may_join && tries < 2 && chance(sketch_, 0.6) ? Group::arithmetic : draw_group();
      if (!groups_.empty() && groups_.back() == group && !share_of(group).in_a_row) continue;
      const Operator& drawn = draw_operator(group);
      if (!sketch_.parts().path.empty() && sketch_.parts().path.back() == drawn.name) continue;
      if (!drawn.apply(sketch_)) continue;
      sketch_.note_step(drawn.name);
      groups_.push_back(group);
      return true;
    }
    return false;
  }

  Group draw_group() {
    return pick_weighted(rng_, kGroups, [](const GroupShare& each) { return each.weight; }).group;
  }

  const Operator& draw_operator(Group group) {
    return pick_weighted(rng_, all_operators(), [&](const Operator& each) {
      return each.group == group ? each.weight : 0;
    });
  }

  Rng& rng_;
  Sketch sketch_;
  int wanted_;
  std::vector<Group> groups_;
};

std::string family_of(const std::vector<Group>& groups) {
  for (const GroupShare& each : kGroups)
    if (std::ranges::find(groups, each.group) != groups.end()) return each.family;
  return "elementwise";
}

// Returns a text in which two modules differ, whatever their names and manner of writing.
std::string identity_of(const Sketch& sketch) {
  std::string text = fmt::format("{}", fmt::join(sketch.parts().path, " "));
  for (const Layer& layer : sketch.parts().layers) {
    if (layer.parts.empty()) text += "\n" + with_numbers(layer.maker, sketch);
    for (const std::string& part : layer.parts) text += "\n" + with_numbers(part, sketch);
  }
  for (const InputLine& input : sketch.parts().inputs)
    text += fmt::format("\n{}", fmt::join(input.shape, " "));
  return text;
}

Task task_of(const Composer& composer, Rng& rng) {
  const Sketch& sketch = composer.sketch();
  std::int64_t size = elements(sketch.x().shape);
  for (const InputLine& input : sketch.parts().inputs) size += elements(input.shape);
  Task task;
  task.suite = "zoo";
  task.source = module_source(sketch, rng);
  task.family = family_of(composer.groups());
  task.composition = fmt::format("{}", fmt::join(sketch.parts().path, " > "));
  task.scale = size <= 8192 ? TaskScale::small : TaskScale::gpu;
  task.id =
      fmt::format("zoo{}-{}", sketch.parts().path.size(), content_key(task.source).substr(0, 10));
  return task;
}

}  // namespace

Fields<ZooOptions> ZooOptions::fields() {
  return {field("seed", &ZooOptions::seed, "Other seeds give other modules."),
          field("count", &ZooOptions::count, "How many modules there are.", between(1, 1'000'000)),
          field("min_operators", &ZooOptions::min_operators, "The fewest operators of a module.",
                between(1, 12)),
          field("max_operators", &ZooOptions::max_operators, "The most operators of a module.",
                between(1, 12))};
}

std::vector<Task> make_zoo(const ZooOptions& options) {
  std::vector<Task> tasks;
  std::unordered_set<std::string> known;
  const int fewest = options.min_operators, most = std::max(fewest, options.max_operators);
  int barren = 0;
  for (std::uint64_t index = 0;
       tasks.size() < static_cast<std::size_t>(options.count) && barren < 5000; ++index) {
    Rng rng(options.seed, "zoo", index);
    ++barren;
    Composer composer(
        rng, fewest + static_cast<int>(rng.below(static_cast<std::uint64_t>(most - fewest + 1))));
    if (!composer.compose()) continue;
    Task task = task_of(composer, rng);
    if (!known.insert(identity_of(composer.sketch())).second || !known.insert(task.id).second)
      continue;
    tasks.push_back(std::move(task));
    barren = 0;
  }
  return tasks;
}

}  // namespace tritonsmith::curriculum::zoo
