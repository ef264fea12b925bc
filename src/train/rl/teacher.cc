#include "train/rl/teacher.h"

#include "algorithm/kl.h"
#include "base/check.h"
#include "base/printable.h"
#include "model/checkpoint/checkpoint.h"

namespace tritonsmith::train {

namespace fs = std::filesystem;

Fields<TeacherSection> TeacherSection::fields() {
  using S = TeacherSection;
  return {field("path", &S::path,
                "A model directory with the student's tokenizer, or OWNER/NAME of the hub: each "
                "token's advantage is its log-probability there, less the student's. Empty: no "
                "teacher."),
          field("weight", &S::weight, "The weight of the teacher's advantages.", at_least(0.0)),
          field("alone", &S::alone,
                "Rewards give no advantages while the teacher teaches. false: both are added."),
          field("steps", &S::steps,
                "The teacher teaches in this many first steps. After them rewards alone count. 0: "
                "in all steps.",
                at_least<std::int64_t>(0))};
}

Status check_teacher(const TeacherSection& teacher, const StudentTokens& student) {
  if (!teacher.is_on()) return ok();
  const fs::path directory = teacher.path;
  const auto read = text::Tokenizer::from_file(directory / "tokenizer.json");
  if (!read) return tl::unexpected(read.error().within("teacher.path"));
  const text::Tokenizer& other = *read;
  const text::Tokenizer& own = student.tokenizer;
  if (other.id_limit() != own.id_limit())
    return fail(
        "teacher.path: {} has a tokenizer of {} ids, and the student's has {}; a teacher needs the "
        "student's tokenizer",
        teacher.path, other.id_limit(), own.id_limit());
  for (TokenId id = 0; id < static_cast<TokenId>(own.id_limit()); ++id)
    if (other.bytes_of(id) != own.bytes_of(id) || other.is_special(id) != own.is_special(id))
      return fail(
          "teacher.path: {} has another tokenizer: id {} is \"{}\" there, and \"{}\" in the "
          "student's; a teacher needs the student's tokenizer",
          teacher.path, id, printable(other.bytes_of(id)), printable(own.bytes_of(id)));
  return check_model_fits(directory, own.id_limit(), student.longest, "a rollout");
}

Result<std::optional<model::Transformer>> load_teacher(const TeacherSection& teacher,
                                                       const ModelSection& student,
                                                       c10::Device device) {
  if (!teacher.is_on()) return std::optional<model::Transformer>();
  TRY_ASSIGN(model::Transformer model, model::load_model(teacher.path, device));
  model.set_precision(student.precision);
  model.set_sums(student.sums);
  return std::optional(std::move(model));
}

TeacherKl apply_teacher(const TeacherSection& teacher, const TokenColumn& logprobs,
                        PolicyBatch& batch) {
  const TokenColumn& student = batch.old.empty() ? batch.sampler : batch.old;
  CHECK(logprobs.size() == student.size() && logprobs.size() == batch.advantages.size(),
        "{} segments of a teacher for {}", logprobs.size(), student.size());
  TeacherKl kl;
  for (std::size_t g = 0; g < logprobs.size(); ++g) {
    const auto from_teacher = algorithm::distillation_advantages(student[g], logprobs[g]);
    for (std::size_t t = 0; t < from_teacher.size(); ++t) {
      float& advantage = batch.advantages[g][t];
      const double rewarded = teacher.alone ? 0.0 : advantage;
      advantage = static_cast<float>(rewarded + teacher.weight * from_teacher[t]);
      if (batch.counts[g] == 0) continue;
      kl.sum -= from_teacher[t];
      ++kl.tokens;
    }
  }
  return kl;
}

}  // namespace tritonsmith::train
