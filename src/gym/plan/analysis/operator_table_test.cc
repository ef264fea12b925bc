#include "gym/plan/operators/operator_table.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "gym/plan/operators/operator_traits.h"

namespace tritonsmith::gym::plan::operators {
namespace {

std::vector<c10::OperatorName> aten_operators() {
  std::vector<c10::OperatorName> all;
  for (const c10::OperatorName& name : c10::Dispatcher::singleton().getAllOpNames())
    if (name.name.starts_with("aten::")) all.push_back(name);
  return all;
}

std::set<std::string> base_names() {
  std::set<std::string> names;
  for (const c10::OperatorName& name : aten_operators())
    names.insert(std::string(aten_base_name(name.name)));
  return names;
}

using Question = std::function<bool(std::string_view base_name)>;

Question trait(Trait trait) {
  return [trait](std::string_view name) { return has_trait(name, trait); };
}

Question of_full_name(bool (*question)(std::string_view)) {
  return [question](std::string_view name) { return question(fmt::format("aten::{}", name)); };
}

// Maps the names in answers.txt to the questions.
std::map<std::string, Question> questions() {
  return {
      {"is_replayable", of_full_name(is_replayable)},
      {"only_allocates", of_full_name(only_allocates)},
      {"leaves_unwritten", of_full_name(leaves_unwritten)},
      {"only_arranges", of_full_name(only_arranges)},
      {"is_vendor_grade", of_full_name(is_vendor_grade)},
      {"runs_in_cudnn", of_full_name(runs_in_cudnn)},
      {"random", of_full_name(is_random_operator)},
      {"is_generator", trait(Trait::generator)},
      {"roofline_draws", trait(Trait::fills_by_chance)},
      {"roofline_leaves_drawn", trait(Trait::leaves_drawn)},
      {"keeps_as_drawn", trait(Trait::keeps_as_drawn)},
      {"with_number", trait(Trait::scales)},
      {"negates", trait(Trait::negates)},
      {"of_two_draws", trait(Trait::combines_draws)},
      {"elementwise", trait(Trait::elementwise)},
      {"linear", trait(Trait::linear)},
      {"rearranges", trait(Trait::rearranges)},
      {"product", trait(Trait::matrix_product)},
      {"reduces", trait(Trait::reduces)},
      {"of_a_statistic", trait(Trait::keeps_statistic)},
      {"combines", trait(Trait::combines)},
      {"normalises", trait(Trait::normalises)},
      {"orders", trait(Trait::orders)},
      {"softmax", trait(Trait::softmax)},
      {"scores_product", trait(Trait::scores)},
      {"attends", trait(Trait::attention)},
      {"evaluated_norm", trait(Trait::running_statistics)},
      {"dropout", trait(Trait::dropout)},
      {"lists_of_views", trait(Trait::lists_views)},
      {"for_candidates", trait(Trait::for_candidates)},
      {"into_tensors", trait(Trait::into_given)},
      {"recurrent", trait(Trait::recurrent)},
      {"overwrites", trait(Trait::overwrites)},
  };
}

std::set<std::string> words_of(std::istringstream text) {
  return {std::istream_iterator<std::string>(text), {}};
}

std::map<std::string, std::set<std::string>> recorded_answers() {
  std::ifstream file("src/gym/plan/operators/testing/answers.txt");
  std::map<std::string, std::set<std::string>> answers;
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(": ");
    if (!line.starts_with('#') && colon != std::string::npos)
      answers[line.substr(0, colon)] = words_of(std::istringstream(line.substr(colon + 2)));
  }
  return answers;
}

// A changed answer changes the judge's decisions. Edit answers.txt only if that is intended.
TEST(OperatorTable, AnswersAsRecordedForEveryOperatorOfTheDispatcher) {
  const auto answers = recorded_answers();
  const std::set<std::string> names = base_names();
  ASSERT_GT(names.size(), 1000U);
  const auto all = questions();
  ASSERT_EQ(answers.size(), all.size());
  for (const auto& [what, asks] : all) {
    ASSERT_TRUE(answers.contains(what)) << what;
    for (const std::string& name : names)
      EXPECT_EQ(asks(name), answers.at(what).contains(name)) << what << " of " << name;
  }
}

TEST(OperatorTable, SaysRandomOfWhatTheDispatcherTagsSo) {
  for (const c10::OperatorName& name : aten_operators()) {
    const auto handle = c10::Dispatcher::singleton().findSchema(name);
    if (!handle) continue;
    EXPECT_EQ(is_random_operator(name.name), handle->hasTag(at::Tag::nondeterministic_seeded))
        << name;
  }
}

TEST(OperatorTable, HasEachOperatorInOneRow) {
  std::set<std::string> seen;
  for (const OperatorRow& row : operator_rows())
    for (const std::string& name : words_of(std::istringstream(std::string(row.names))))
      EXPECT_TRUE(seen.insert(name).second) << name;
  EXPECT_GT(seen.size(), 900U);
}

TEST(OperatorTable, HasEveryTrainingFlagWhereTheSchemaHasIt) {
  int flags = 0;
  for (const c10::OperatorName& name : aten_operators()) {
    const TrainingFlag* flag = training_flag(aten_base_name(name.name));
    const auto handle = c10::Dispatcher::singleton().findSchema(name);
    if (flag == nullptr || !handle) continue;
    ++flags;
    const auto at = handle->schema().argumentIndexWithName(std::string(flag->keyword));
    ASSERT_TRUE(at) << name;
    EXPECT_EQ(static_cast<std::size_t>(*at), flag->position) << name;
  }
  EXPECT_GE(flags, 8);
}

}  // namespace
}  // namespace tritonsmith::gym::plan::operators
