// Seconds and host memory of loading a checkpoint, and the pause of training while one is written.
// The model has the width of Qwen2.5-Coder-3B with LAYERS of its 36 layers and random weights.
//   checkpoint_speed load [LAYERS] [auto|cpu|cuda]   a bfloat16 checkpoint in shards, and a float32
//                                                    one in a single file
//   checkpoint_speed stop [LAYERS] [auto|cpu|cuda]   a snapshot of the learner, and its writing
//                                                    during training. With `crowded` at the end,
//                                                    the GPU has no room for the snapshot, and each
//                                                    way to prepare host memory is measured
// Each measurement is a process of its own. The files lie below $TMPDIR or /tmp. `stop 36` writes
// 43 GB there; TMPDIR=/dev/shm avoids a slow disk. The files were just written, so the page cache
// is warm. On a CPU the weights themselves (float32) are part of the host memory.
#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <future>

#include "base/clock.h"
#include "base/file.h"
#include "base/process.h"
#include "base/rng.h"
#include "base/temp_dir.h"
#include "model/checkpoint/checkpoint.h"
#include "model/memory/device.h"
#include "train/gradient/sft_gradient.h"

namespace tritonsmith::train {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

constexpr double kGb = 1e9;

model::ModelConfig shape(std::int64_t layers) {
  return {.vocab_size = 151936,
          .hidden_size = 2048,
          .intermediate_size = 11008,
          .num_hidden_layers = layers,
          .num_attention_heads = 16,
          .num_key_value_heads = 2,
          .head_dim = 128,
          .max_position_embeddings = 32768};
}

// Returns the peak memory of this process in bytes, its mapped files included.
double peak_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmHWM:")) return 1024 * std::stod(line.substr(6));
  return 0;
}

double bytes_in(const fs::path& directory) {
  double bytes = 0;
  for (const auto& entry : fs::directory_iterator(directory))
    if (entry.path().extension() == ".safetensors") bytes += static_cast<double>(entry.file_size());
  return bytes;
}

// Repeats the same random numbers, because drawing billions takes longer than the measurement.
at::Tensor random_like_weights(at::IntArrayRef sizes, c10::ScalarType dtype) {
  constexpr std::int64_t count = 1 << 22;
  static const at::Tensor drawn = at::empty({count}, at::kFloat).normal_(0, 0.02);
  const at::Tensor block = drawn.to(dtype);
  at::Tensor made = at::empty(sizes, dtype);
  const at::Tensor flat = made.view({-1});
  for (std::int64_t at = 0; at < flat.numel(); at += count) {
    const std::int64_t length = std::min(count, flat.numel() - at);
    flat.narrow(0, at, length).copy_(block.narrow(0, 0, length));
  }
  return made;
}

// Writes tensors of the model's shapes, one shard at a time.
Status write_random(const fs::path& directory, std::int64_t layers, c10::ScalarType dtype,
                    std::size_t shards) {
  const at::NoGradGuard no_grad;
  TRY(make_directories(directory));
  const model::ModelConfig config = shape(layers);
  TRY(write_file_atomic(directory / "config.json", to_json(config).dump(2)));
  const model::Transformer names(config, c10::kMeta);
  const auto& all = names.parameters();
  Json map = Json::object();
  for (std::size_t shard = 0; shard < shards; ++shard) {
    const std::string name = shards == 1 ? "model.safetensors"
                                         : fmt::format("model-{}-of-{}.safetensors", shard, shards);
    std::vector<model::NamedTensor> tensors;
    for (std::size_t i = shard * all.size() / shards; i < (shard + 1) * all.size() / shards; ++i) {
      tensors.push_back({all[i].name, random_like_weights(all[i].tensor.sizes(), dtype)});
      map[all[i].name] = name;
    }
    TRY(model::write_safetensors(directory / name, tensors));
  }
  if (shards == 1) return ok();
  return write_file_atomic(directory / "model.safetensors.index.json",
                           Json{{"weight_map", map}}.dump());
}

Status load(const fs::path& directory, c10::Device device) {
  const double before = peak_bytes();
  const Stopwatch watch;
  TRY_ASSIGN(const auto model, model::load_model(directory, device));
  const double seconds = watch.seconds(), file = bytes_in(directory), peak = peak_bytes();
  double weights = 0;
  for (const auto& each : model.parameters()) weights += static_cast<double>(each.tensor.nbytes());
  fmt::print(
      "{}: {:.2f} GB in {:.1f} s ({:.2f} GB/s); host memory at most {:.2f} GB ({:.2f} of the "
      "file), "
      "{:.2f} GB before; weights {:.2f} GB on {}\n",
      directory.filename().string(), file / kGb, seconds, file / kGb / seconds, peak / kGb,
      peak / file, before / kGb, weights / kGb, device.str());
  return ok();
}

// Training steps that are as short as possible, in which a pause would show.
class Training {
 public:
  explicit Training(Learner& learner) : learner_(learner) {
    const std::size_t length = learner.model().device().is_cuda() ? 1024 : 64;
    Rng rng(1, "checkpoint speed", 0);
    for (std::size_t t = 0; t <= length; ++t)
      sequences_[0].tokens.push_back(static_cast<TokenId>(rng.below(1024)));
    sequences_[0].prompt_length = 1;
  }

  Result<double> step() {
    const Stopwatch watch;
    constexpr std::size_t kAll[] = {0};
    set_sft_gradient(learner_, sequences_, kAll, {.budget = 8192});
    TRY(learner_.update({.learning_rate = 1e-6}, 1000));
    return watch.seconds();
  }

  // Runs steps until `is_done`, but at least `least` of them.
  Status steps_until(const std::function<bool()>& is_done, std::size_t least, const char* when) {
    std::vector<double> seconds;
    while (seconds.size() < least || !is_done()) {
      TRY_ASSIGN(const double taken, step());
      seconds.push_back(taken);
    }
    std::ranges::sort(seconds);
    fmt::print("{} steps {}: {:.3f} s in the median, {:.3f} s at most\n", seconds.size(), when,
               seconds[seconds.size() / 2], seconds.back());
    std::fflush(stdout);
    return ok();
  }

 private:
  Learner& learner_;
  std::vector<TrainingSequence> sequences_{1};
};

// Allocates nearly all of the GPU's memory, as an engine's cache does.
at::Tensor crowd(c10::Device device) {
  constexpr std::size_t kLeft = std::size_t{12} << 30;
  const std::size_t spare = model::spare_bytes(device);
  return at::empty({static_cast<std::int64_t>(spare > kLeft ? spare - kLeft : 0)},
                   at::TensorOptions(at::kByte).device(device));
}

// Whether the GPU is also used by others.
enum class Company { none, crowd };

template <typename T>
bool is_done(const std::future<T>& what) {
  return what.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}

// Measures the longest step while host memory for a snapshot is prepared: pinned at once, then in
// an arena's default pieces. Last, the learner prepares it, as a run does before its first step.
Status make_host_memory_ready(Learner& learner, Training& training) {
  std::size_t bytes = 0;  // weights and two moments
  for (const auto& each : learner.model().parameters()) bytes += 3 * each.tensor.nbytes();
  bytes = model::HostArena::room_for(bytes);
  for (const auto& [piece, when] :
       {std::pair{bytes, "while host memory is made ready, pinned at once"},
        std::pair{model::Pinning().piece, "the same, pinned in pieces"}}) {
    model::ComingArena arena({.piece = piece});
    arena.expect(bytes);
    std::future<void> made = std::async(std::launch::async, [&] { arena.get(bytes); });
    TRY(training.steps_until([&] { return is_done(made); }, 1, when));
    // throws without the memory and ends the benchmark, because there is no result then
    made.get();
  }
  constexpr double kSeconds = 15;
  learner.expect_snapshot();
  const Stopwatch since;
  return training.steps_until([&] { return since.seconds() > kSeconds; }, 1,
                              "the same, by the learner");
}

Status stop(const fs::path& directory, c10::Device device, Company company) {
  TRY_ASSIGN(Learner learner, Learner::start(directory, device));
  Training training(learner);
  const auto at_once = [] { return true; };
  // These steps choose the kernels of frequent products.
  TRY(training.steps_until(at_once, 12, "to warm up"));
  at::Tensor others;
  if (company == Company::crowd && device.is_cuda()) others = crowd(device);
  TRY(training.steps_until(at_once, 5, "with nothing beside"));
  if (others.defined()) TRY(make_host_memory_ready(learner, training));
  std::optional<LearnerSnapshot> snapshot;
  for (int i = 0; i < 3; ++i) {  // on the GPU, the first one allocates the memory
    snapshot.reset();
    const Stopwatch watch;
    TRY_ASSIGN(snapshot, learner.snapshot());
    fmt::print("the training stands for {:.3f} s, the snapshot lies on {}\n", watch.seconds(),
               snapshot->device().str());
    std::fflush(stdout);
  }
  const fs::path out = directory / "written";
  TRY(make_directories(out));
  const Stopwatch watch;
  std::future<Status> writing =
      std::async(std::launch::async, [&] { return snapshot->save(out, directory); });
  TRY(training.steps_until([&] { return is_done(writing); }, 1, "while it is written"));
  TRY(writing.get());
  fmt::print("{:.1f} GB written in {:.1f} s\n", bytes_in(out) / kGb, watch.seconds());
  return ok();
}

Status in_own_process(const Words& words) {
  Words argv = {fs::read_symlink("/proc/self/exe").string()};
  argv.insert(argv.end(), words.begin(), words.end());
  std::fflush(stdout);
  TRY_ASSIGN(Process child,
             Process::spawn({.argv = argv,
                             .environment = {},
                             .fds = {{.ours = 1, .theirs = 1}, {.ours = 2, .theirs = 2}}}));
  TRY_ASSIGN(const ExitStatus status, child.wait(Deadline::after(std::chrono::hours(1))));
  if (!status.success()) return fail("{}: {}", fmt::join(words, " "), describe(status));
  return ok();
}

struct Wish {
  std::string layers, device, crowded;
};

Status measure(const std::string& what, const Wish& wish) {
  const auto& [layers, device, crowded] = wish;
  TRY_ASSIGN(const TempDir scratch, TempDir::make("checkpoint-speed"));
  const std::string sharded = scratch.path() / "bfloat16", single = scratch.path() / "float32";
  TRY(in_own_process({"make", sharded, layers, "bfloat16"}));
  TRY(in_own_process({"one", what, sharded, device, crowded}));
  if (what == "stop") return ok();
  fs::remove_all(sharded);
  TRY(in_own_process({"make", single, layers, "float32"}));
  return in_own_process({"one", what, single, device, crowded});
}

Status run(const Words& words) {
  const auto word = [&](std::size_t i, const char* otherwise) {
    return words.size() > i ? words[i] : std::string(otherwise);
  };
  if (word(0, "") == "make")
    return words[3] == "float32" ? write_random(words[1], std::stol(words[2]), at::kFloat, 1)
                                 : write_random(words[1], std::stol(words[2]), at::kBFloat16, 4);
  if (word(0, "") == "one") {
    TRY_ASSIGN(const auto choice, enum_from_name<model::DeviceChoice>(words[3]));
    TRY_ASSIGN(const c10::Device device, model::open_device(choice));
    return words[1] == "load"
               ? load(words[2], device)
               : stop(words[2], device, words[4].empty() ? Company::none : Company::crowd);
  }
  if (word(0, "load") == "load") return measure("load", {word(1, "9"), word(2, "auto"), ""});
  if (words[0] == "stop") return measure("stop", {word(1, "2"), word(2, "auto"), word(3, "")});
  return fail("checkpoint_speed load|stop [LAYERS] [auto|cpu|cuda] [crowded]");
}

}  // namespace
}  // namespace tritonsmith::train

int main(int argc, char** argv) {
  const auto status = tritonsmith::train::run({argv + 1, argv + argc});
  if (!status) fmt::print(stderr, "{}\n", status.error().message);
  return status ? 0 : 1;
}
