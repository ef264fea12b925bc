#include "gym/plan/operators/operator_table.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "gym/plan/operators/operator_arguments.h"
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
      {"gives_first_indices",
       [](std::string_view name) {
         return has_trait(name, Trait::reduces) && (has_trait(name, Trait::gives_indices) ||
                                                    has_trait(name, Trait::indices_along_dim));
       }},
      {"reduces_along_dimension",
       [](std::string_view name) {
         return reduced_dimensions(name) == 1 && !has_trait(name, Trait::any_or_all) &&
                (has_trait(name, Trait::reduces) || has_trait(name, Trait::asks_of_all));
       }},
      {"multiplies_alone",
       [](std::string_view name) {
         return !has_trait(name, Trait::adds_to_product) &&
                (has_trait(name, Trait::matrix_product) || has_trait(name, Trait::vector_product));
       }},
      {"tables", trait(Trait::tables)},
      {"filled", trait(Trait::filled)},
      {"keeps_elements", trait(Trait::keeps_elements)},
      {"joins", trait(Trait::joins)},
      {"compares", trait(Trait::compares)},
      {"asks_for_zeros", trait(Trait::asks_for_zeros)},
      {"keeps_whole", trait(Trait::keeps_whole)},
      {"of_two", trait(Trait::of_two)},
      {"clamps", trait(Trait::clamps)},
      {"takes_maximum", trait(Trait::takes_maximum)},
      {"moves", trait(Trait::moves)},
      {"counts", trait(Trait::counts)},
      {"unnamed", trait(Trait::unnamed)},
      {"called_to_compute", trait(Trait::called_to_compute)},
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

// The schema of any overload that has so many arguments must agree.
bool has_number_at(const c10::OperatorName& name, std::size_t position) {
  const auto handle = c10::Dispatcher::singleton().findSchema(name);
  if (!handle || handle->schema().arguments().size() <= position) return false;
  c10::TypePtr type = handle->schema().arguments()[position].type();
  if (const auto optional = type->cast<c10::OptionalType>()) type = optional->getElementType();
  const c10::TypeKind kind = type->kind();
  return kind == c10::TypeKind::NumberType || kind == c10::TypeKind::FloatType ||
         kind == c10::TypeKind::IntType || kind == c10::TypeKind::SymIntType;
}

TEST(OperatorArguments, NameNumbersWhereASchemaHasThem) {
  const auto all = aten_operators();
  for (const NumberArgument& number : number_arguments())
    EXPECT_TRUE(std::ranges::any_of(all,
                                    [&](const c10::OperatorName& name) {
                                      return aten_base_name(name.name) == number.name &&
                                             has_number_at(name, number.position);
                                    }))
        << number.name << " " << number.position;
}

TEST(OperatorArguments, NameEpsilonsWhereTheSchemaHasThem) {
  int seen = 0;
  for (const c10::OperatorName& name : aten_operators())
    for (const Meaning meaning :
         {Meaning::epsilon, Meaning::batch_epsilon, Meaning::divisor_epsilon}) {
      const auto* number = number_argument(aten_base_name(name.name), meaning);
      const auto handle = c10::Dispatcher::singleton().findSchema(name);
      if (number == nullptr || !handle) continue;
      const std::string& at = handle->schema().arguments().at(number->position).name();
      EXPECT_TRUE(at == "eps" || at == "epsilon") << name << " has " << at;
      ++seen;
    }
  EXPECT_GE(seen, 9);
}

TEST(OperatorArguments, NameLookupsWhereTheSchemaHasThem) {
  int seen = 0;
  for (const c10::OperatorName& name : aten_operators()) {
    const LookupArguments* lookup = lookup_arguments(aten_base_name(name.name));
    const auto handle = c10::Dispatcher::singleton().findSchema(name);
    if (lookup == nullptr || !handle || name.overload_name.starts_with("dimname")) continue;
    const std::string& indices = handle->schema().arguments().at(lookup->indices).name();
    EXPECT_TRUE(indices == "index" || indices == "indices") << name << " has " << indices;
    if (lookup->dimension) {
      EXPECT_EQ(handle->schema().arguments().at(*lookup->dimension).name(), "dim") << name;
    }
    ++seen;
  }
  EXPECT_GE(seen, 7);
}

}  // namespace
}  // namespace tritonsmith::gym::plan::operators
