// Asks the teacher of on-policy distillation, a frozen model that reads what the student writes.
// Each token's advantage is the teacher's log-probability less the student's, so that the update
// follows the gradient of the reverse KL, KL(student || teacher), over the student's own samples
// (algorithm/kl.h). Both models must have the same tokenizer, because the teacher reads token ids.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "base/config.h"
#include "model/transformer/transformer.h"
#include "text/tokenizer.h"
#include "train/config/sections.h"
#include "train/gradient/policy_gradient.h"

namespace tritonsmith::train {

// The [teacher] table of a reinforcement learning config.
struct TeacherSection {
  std::string path;        // a model directory; empty: there is no teacher
  double weight = 1.0;     // of the teacher's advantages
  bool alone = true;       // rewards give no advantages while the teacher teaches
  std::int64_t steps = 0;  // the teacher teaches in this many first steps; 0: in all
  static Fields<TeacherSection> fields();

  bool is_on() const { return !path.empty(); }
  // `finished` is the number of steps that the run has finished.
  bool teaches_after(std::int64_t finished) const {
    return is_on() && (steps == 0 || finished < steps);
  }
  // Says whether no step uses rewards.
  bool replaces_rewards() const { return is_on() && alone && steps == 0; }
};

// StudentTokens says how the student writes its tokens.
struct StudentTokens {
  const text::Tokenizer& tokenizer;
  std::int64_t longest = 0;  // the most tokens of a prompt and what the student writes
};

// Refuses a teacher that reads other tokens than the student writes, in one line.
Status check_teacher(const TeacherSection& teacher, const StudentTokens& student);

// Loads the teacher onto the student's device, with the student's precision. Returns nothing if the
// config names no teacher.
Result<std::optional<model::Transformer>> load_teacher(const TeacherSection& teacher,
                                                       const ModelSection& student,
                                                       c10::Device device);

// The sum of log(student / teacher) over tokens that are trained on: an estimate of the reverse KL.
struct TeacherKl {
  double sum = 0;
  std::int64_t tokens = 0;
};

// Changes the advantages of a batch to the teacher's, or adds these. `logprobs` are the teacher's,
// [G].
TeacherKl apply_teacher(const TeacherSection& teacher, const TokenColumn& logprobs,
                        PolicyBatch& batch);

}  // namespace tritonsmith::train
