#include "train/run/training_run.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <utility>

#include "base/file.h"
#include "base/hash.h"
#include "base/log.h"

namespace tritonsmith::train {
namespace {

constexpr const char* kTrainerFile = "trainer.json";

Status same_on_all(distributed::Ranks& ranks, std::string_view what, std::string_view content) {
  if (ranks.is_alone()) return ok();
  TRY_ASSIGN(const auto keys, ranks.gather(content_key(content), what));
  for (std::size_t rank = 1; rank < keys.size(); ++rank)
    if (keys[rank] != keys[0])
      return fail("rank {} has another {} than rank 0; start every rank with the same call", rank,
                  what);
  return ok();
}

Status check_masters(const TrainingRunOptions& options) {
  if (options.model.masters == Masters::whole || options.lora.rank == 0) return ok();
  return fail(
      "model.masters = sharded goes with training all weights: an adapter's are few, and what it "
      "is "
      "added to must be whole");
}

Result<RunFiles> make_files(const TrainingRunOptions& options) {
  TRY_ASSIGN(RunDirectory directory,
             RunDirectory::open(options.run.dir, options.command, options.settings));
  TRY_ASSIGN(CheckpointStore store,
             CheckpointStore::open(directory.checkpoints(), options.checkpoint));
  TRY_ASSIGN(const auto latest, store.latest());
  return RunFiles{.directory = std::move(directory), .store = std::move(store), .latest = latest};
}

// The first rank makes the directory or finds the run in it. The other ranks follow its result.
Result<RunFiles> open_files(const TrainingRunOptions& options) {
  distributed::Ranks& ranks = *options.ranks;
  if (ranks.is_first()) {
    auto files = make_files(options);
    TRY(ranks.agree(files ? ok() : Status(tl::unexpected(files.error())), "opening the run"));
    TRY(ranks.from_first(files->latest ? std::to_string(*files->latest) : "", "the last step"));
    return files;
  }
  TRY(ranks.agree(ok(), "opening the run"));
  TRY_ASSIGN(const std::string latest, ranks.from_first({}, "the last step"));
  RunDirectory directory = RunDirectory::of_first_rank(options.run.dir);
  CheckpointStore store =
      CheckpointStore::of_first_rank(directory.checkpoints(), options.checkpoint);
  RunFiles files{.directory = std::move(directory), .store = std::move(store), .latest = {}};
  if (!latest.empty()) files.latest = std::stoll(latest);
  return files;
}

}  // namespace

Result<RunOutlook> TrainingRun::outlook(const TrainingRunOptions& options) {
  TRY(check_masters(options));
  RunOutlook outlook{.model = options.model.path};
  TRY_ASSIGN(const bool goes_on,
             RunDirectory::would_go_on(options.run.dir, options.command, options.settings));
  const std::filesystem::path checkpoints = std::filesystem::path(options.run.dir) / "checkpoints";
  if (goes_on) {
    TRY_ASSIGN(outlook.step, CheckpointStore::latest_in(checkpoints));
  }
  TRY(model::open_device(options.model.device));
  if (outlook.step) {
    outlook.model = first_model(options.run, options.model);
    TRY(Learner::resume(checkpoints / fmt::format("step-{}", *outlook.step), c10::kCPU,
                        outlook.model));
  } else {
    TRY(Learner::start(outlook.model, c10::kCPU, options.lora, options.run.seed));
  }
  return outlook;
}

Result<TrainingRun> TrainingRun::open(const TrainingRunOptions& options) {
  TRY(check_masters(options));
  distributed::Ranks& ranks = *options.ranks;
  TRY(same_on_all(ranks, "config", toml_from_settings(options.settings)));
  TRY_ASSIGN(RunFiles files, open_files(options));
  const bool is_new = !files.latest;
  auto run = open_in(options, std::move(files));
  TRY(ranks.agree(run ? ok() : Status(tl::unexpected(run.error())), "opening the run"));
  TRY(same_on_all(ranks, "kind of device (model.device)",
                  c10::DeviceTypeName(run->learner_.model().device().type())));
  if (is_new) TRY(run->begin());
  if (!run->is_finished())
    TRY(run->directory_.append_call(options.command, options.program, run->step_));
  return run;
}

// Opens the run on each rank, after the ranks have agreed on the files.
Result<TrainingRun> TrainingRun::open_in(const TrainingRunOptions& options, RunFiles files) {
  TRY_ASSIGN(const c10::Device device, model::open_device(options.model.device));
  LearnerOptions learner_options(device, *options.ranks);
  learner_options.precision = options.model.precision;
  learner_options.masters = options.model.masters;
  auto learner = files.latest ? Learner::resume(files.store.path_of(*files.latest), learner_options,
                                                first_model(options.run, options.model))
                              : Learner::start(options.model.path, learner_options, options.lora,
                                               options.run.seed);
  TRY(learner);
  learner->set_recompute(options.model.recompute);
  learner->set_sums(options.model.sums);
  TrainingRun run(options, std::move(files.directory), CheckpointWriter(std::move(files.store)),
                  *std::move(learner));
  if (files.latest) TRY(run.restore(*files.latest));
  return run;
}

Status TrainingRun::begin() {
  TRY(directory_.open_records({}));
  TRY(save());
  return publish();
}

Status TrainingRun::restore(std::int64_t step) {
  const std::filesystem::path file = writer_.store().path_of(step) / kTrainerFile;
  TRY_ASSIGN(const std::string text, read_file(file));
  TRY_ASSIGN(const Json json, parse_json(text));
  JsonReader reader(json);
  step_ = reader.integer("step");
  state_ = reader.object("state");
  TRY_WITHIN(file.string(), reader.status());
  TRY_ASSIGN(const RecordSizes kept, record_sizes_from_json(reader.object("records")));
  TRY(directory_.open_records(kept));
  TRY_ASSIGN(recent_, directory_.last_steps(kRecentSteps));
  if (step_ > 0) LOG("{}: going on after step {}", directory_.path().string(), step_);
  return ok();
}

Status TrainingRun::save() {
  TRY_ASSIGN(const RecordSizes sizes, directory_.sync_records());
  if (!has_checkpoints()) return ok();
  const Json trainer = {
      {"schema", 1}, {"step", step_}, {"state", state_}, {"records", to_json(sizes)}};
  TRY(publish());  // there is only one snapshot at a time
  TRY_ASSIGN(LearnerSnapshot taken, learner_.snapshot());
  const auto snapshot = std::make_shared<const LearnerSnapshot>(std::move(taken));
  const auto write = [=, is_first = ranks().is_first(), companions = options_.companions,
                      origin = first_model(options_.run, options_.model)](
                         const std::filesystem::path& path) -> Status {
    TRY(snapshot->save(path, origin));
    if (!is_first) return ok();
    for (const auto& [name, content] : companions) TRY(write_file_atomic(path / name, content));
    return write_file_atomic(path / kTrainerFile, trainer.dump(2) + "\n");
  };
  if (ranks().is_alone()) return writer_.begin(step_, write);
  TRY(writer_.begin_part({.step = step_, .rank = ranks().rank()}, write));
  unpublished_ = step_;
  return ok();
}

// Waits until every rank has written its part or failed. If one rank failed, all fail.
Status TrainingRun::publish() {
  TRY(ranks().agree(writer_.finish(), "the checkpoint"));
  if (!unpublished_) return ok();
  const std::int64_t step = *std::exchange(unpublished_, std::nullopt);
  const Status published =
      ranks().is_first() ? writer_.store().publish(step, ranks().size()) : ok();
  return ranks().agree(published, "the checkpoint");
}

// Publishes between steps if all parts are written.
Status TrainingRun::publish_if_written() {
  if (!unpublished_) return ok();
  TRY_ASSIGN(const bool is_busy, ranks().any(writer_.is_busy(), "the checkpoint"));
  return is_busy ? ok() : publish();
}

Status TrainingRun::keep_data(const std::string& name, std::string_view bytes) {
  TRY(same_on_all(ranks(), name, bytes));
  return ranks().agree(directory_.keep_data(name, bytes), name);
}

Result<bool> TrainingRun::goes_on(const StopFlag& stop) {
  if (!is_stopping_) {
    TRY_ASSIGN(is_stopping_, ranks().any(stop, "the first step"));
  }
  return !is_finished() && !*is_stopping_;
}

Status TrainingRun::finish_step(const Metrics& metrics, const StopFlag& stop) {
  ++step_;
  recent_.push_back(metrics);
  if (recent_.size() > kRecentSteps) recent_.pop_front();
  TRY(directory_.append(StepRecord{.step = step_, .phase = options_.command, .metrics = metrics}));
  TRY_ASSIGN(is_stopping_, ranks().any(stop, "the end of the step"));
  const bool is_last = is_finished() || *is_stopping_;
  TRY(publish_if_written());
  expect_checkpoint();  // the step has shown how much GPU memory it needs
  if (is_last || writer_.store().is_due(step_)) TRY(save());
  return is_last ? publish() : ok();
}

double recent_mean(const std::deque<Metrics>& recent, std::string_view name) {
  double sum = 0, count = 0;
  for (const Metrics& metrics : recent) {
    const auto value = metric_of(metrics, name);
    if (!value || !std::isfinite(*value)) continue;
    sum += *value;
    count += 1;
  }
  return count > 0 ? sum / count : 0;
}

Status without_exceptions(const std::function<Status()>& body) {
  try {
    return body();
  } catch (const std::exception& error) {
    std::string message = error.what();
    message.resize(std::min(message.find('\n'), message.size()));  // the rest is a stack trace
    return fail_by_fault("LibTorch: {}", message);
  }
}

}  // namespace tritonsmith::train
