#include "train/training_run.h"

#include <exception>

#include "base/file.h"
#include "base/log.h"

namespace tritonsmith::train {
namespace {

constexpr const char* kTrainerFile = "trainer.json";

}  // namespace

Result<RunOutlook> TrainingRun::outlook(const TrainingRunOptions& options) {
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
  TRY_ASSIGN(RunDirectory directory,
             RunDirectory::open(options.run.dir, options.command, options.settings));
  TRY_ASSIGN(CheckpointStore store,
             CheckpointStore::open(directory.checkpoints(), options.checkpoint));
  TRY_ASSIGN(const c10::Device device, model::open_device(options.model.device));
  TRY_ASSIGN(const auto latest, store.latest());
  auto learner =
      latest
          ? Learner::resume(store.path_of(*latest), device, first_model(options.run, options.model))
          : Learner::start(options.model.path, device, options.lora, options.run.seed);
  TRY(learner);
  learner->set_recompute(options.model.recompute);
  TrainingRun run(options, std::move(directory), CheckpointWriter(std::move(store)),
                  *std::move(learner));
  if (latest) {
    TRY(run.restore(*latest));
  } else {
    TRY(run.directory_.open_records({}));
    TRY(run.save());
    TRY(run.writer_.finish());
  }
  return run;
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
  if (step_ > 0) LOG("{}: going on after step {}", directory_.path().string(), step_);
  return ok();
}

Status TrainingRun::save() {
  TRY_ASSIGN(const RecordSizes sizes, directory_.sync_records());
  const Json trainer = {
      {"schema", 1}, {"step", step_}, {"state", state_}, {"records", to_json(sizes)}};
  TRY(writer_.finish());  // one snapshot at a time
  const auto snapshot = std::make_shared<const LearnerSnapshot>(learner_.snapshot());
  return writer_.begin(step_,
                       [=, origin = first_model(options_.run, options_.model)](
                           const std::filesystem::path& path) -> Status {
                         TRY(snapshot->save(path, origin));
                         return write_file_atomic(path / kTrainerFile, trainer.dump(2) + "\n");
                       });
}

Status TrainingRun::finish_step(const Metrics& metrics, const StopFlag& stop) {
  ++step_;
  TRY(directory_.append(StepRecord{.step = step_, .phase = options_.command, .metrics = metrics}));
  const bool is_last = is_finished() || stop;
  if (is_last || writer_.store().is_due(step_)) TRY(save());
  return is_last ? writer_.finish() : ok();
}

Status without_exceptions(const std::function<Status()>& body) {
  try {
    return body();
  } catch (const std::exception& error) {
    std::string message = error.what();
    message.resize(std::min(message.find('\n'), message.size()));  // the rest is a stack trace
    return fail("LibTorch: {}", message);
  }
}

}  // namespace tritonsmith::train
