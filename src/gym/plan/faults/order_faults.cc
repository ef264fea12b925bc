// Faults of order: another dimension, exchanged dimensions or arguments, a broadcast along the wrong
// dimension.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "gym/plan/faults/faults.h"
#include "gym/plan/operators/operator_arguments.h"
#include "gym/plan/operators/operator_table.h"

namespace tritonsmith::gym::plan::faults {
namespace {

using operators::has_trait;
using operators::Trait;

// The result keeps its shape for any dimension (argument 1).
bool keeps_shape_along_any(std::string_view family) {
  return has_trait(family, Trait::softmax) || has_trait(family, Trait::scans) || family == "sort";
}

// Argument 1 names the dimension that the operator reduces. Other results than any() and all()
// nearly always depend on it.
bool reduces_along_dimension(std::string_view family) {
  return operators::reduced_dimensions(family) == 1 && !has_trait(family, Trait::any_or_all) &&
         (has_trait(family, Trait::reduces) || has_trait(family, Trait::asks_of_all));
}

class OrderFaults {
 public:
  OrderFaults(const Site& site, std::vector<Fault>& faults)
      : site_(site), call_(site.call()), family_(family_of(site.call())), faults_(faults) {}

  void add_all() {
    const PlanTensor* x = tensor_argument(site_.plan, call_, 0);
    if (keeps_shape_along_any(family_) && x != nullptr) add_other_dimension(*x, false);
    if (reduces_along_dimension(family_) && x != nullptr) add_other_dimension(*x, true);
    if (has_trait(family_, Trait::of_two)) add_broadcast();
    if (family_ == "sub" || family_ == "div") add_exchange(0, 1);
    if (has_trait(family_, Trait::matrix_product)) add_transposed_factor();
    if (family_ == "permute" && x != nullptr) add_permutation(*x);
    if (has_trait(family_, Trait::joins)) add_joined_backwards();
  }

 private:
  void add(std::string how, std::function<void(PlanEditor&)> edit) {
    faults_.push_back({.kind = FaultKind::order,
                       .what = fmt::format("{}: {}", site_.where, how),
                       .step = site_.step,
                       .edit = std::move(edit)});
  }

  // Reads one dimension from argument 1: a number, or a list of one number.
  std::optional<std::int64_t> dimension() const {
    if (call_.args.size() < 2) return std::nullopt;
    if (const auto* one = std::get_if<std::int64_t>(&call_.args[1].data)) return *one;
    const auto* list = std::get_if<List>(&call_.args[1].data);
    if (list == nullptr || list->items.size() != 1) return std::nullopt;
    const auto* only = std::get_if<std::int64_t>(&list->items[0].data);
    return only == nullptr ? std::nullopt : std::optional(*only);
  }

  void add_other_dimension(const PlanTensor& x, bool must_be_as_long) {
    const auto named = dimension();
    if (!named || x.shape.size() < 2) return;
    const std::int64_t d = from_front(*named, x.shape.size());
    if (d < 0 || d >= static_cast<std::int64_t>(x.shape.size())) return;
    for (std::int64_t other = static_cast<std::int64_t>(x.shape.size()) - 1; other >= 0; --other) {
      const std::int64_t size = x.shape[static_cast<std::size_t>(other)];
      if (other == d || size < 2) continue;
      if (must_be_as_long && size != x.shape[static_cast<std::size_t>(d)]) continue;
      add(fmt::format("along dimension {} instead of {}", other, d), [other](PlanEditor& editor) {
        Value& given = editor.call().args[1];
        given = std::holds_alternative<List>(given.data) ? whole_list({other}) : whole(other);
      });
      return;
    }
  }

  // A vector, or a column of numbers, that is broadcast along the other of two equal dimensions.
  void add_broadcast() {
    const PlanTensor& result = site_.plan.tensors.at(static_cast<std::size_t>(call_.outputs.at(0)));
    const std::size_t n = result.shape.size();
    if (n < 2 || result.shape[n - 1] != result.shape[n - 2] || result.shape[n - 1] < 2) return;
    for (std::size_t position = 0; position < 2; ++position) {
      const PlanTensor* narrow = tensor_argument(site_.plan, call_, position);
      if (narrow == nullptr || narrow->shape.empty()) continue;
      const std::size_t dims = narrow->shape.size();
      const bool is_vector = dims == 1 && narrow->shape[0] == result.shape[n - 1];
      const bool is_one_wide =
          dims > 1 && (narrow->shape[dims - 1] == 1) != (narrow->shape[dims - 2] == 1);
      if (!is_vector && !is_one_wide) continue;
      add("a factor or term is broadcast along the other dimension",
          [position, is_vector](PlanEditor& editor) {
            const int given = editor.argument(position);
            PlanTensor form = editor.tensor(given);
            if (is_vector)
              form.shape.push_back(1);
            else
              std::swap(form.shape[form.shape.size() - 1], form.shape[form.shape.size() - 2]);
            const int transposed =
                is_vector ? editor.before("aten::unsqueeze", {tensor_value(given), whole(-1)},
                                          form.shape, form.dtype)
                          : editor.before("aten::transpose.int",
                                          {tensor_value(given), whole(-1), whole(-2)}, form.shape,
                                          form.dtype);
            editor.call().args[position] = tensor_value(transposed);
          });
    }
  }

  void add_exchange(std::size_t one, std::size_t other) {
    const PlanTensor* first = tensor_argument(site_.plan, call_, one);
    const PlanTensor* second = tensor_argument(site_.plan, call_, other);
    if (first == nullptr || second == nullptr || first->dtype != second->dtype ||
        call_.args[one] == call_.args[other])
      return;
    add("its arguments exchanged", [one, other](PlanEditor& editor) {
      const int left = editor.argument(one), right = editor.argument(other);
      const AtenCall& call = editor.call();
      editor.overwrite_result(
          editor.after_like(editor.result(), "aten::" + std::string(family_of(call)) + ".Tensor",
                            {tensor_value(right), tensor_value(left)}, call.kwargs));
    });
  }

  void add_transposed_factor() {
    const std::size_t first = has_trait(family_, Trait::adds_to_product) ? 1 : 0;
    for (const std::size_t position : {first, first + 1}) {
      const PlanTensor* factor = tensor_argument(site_.plan, call_, position);
      if (factor == nullptr || factor->shape.size() < 2) continue;
      const std::size_t n = factor->shape.size();
      if (factor->shape[n - 1] != factor->shape[n - 2] || factor->shape[n - 1] < 2) continue;
      add(fmt::format("its {} factor transposed", position == first ? "first" : "second"),
          [position](PlanEditor& editor) {
            const int given = editor.argument(position);
            const PlanTensor form = editor.tensor(given);
            editor.call().args[position] = tensor_value(
                editor.before("aten::transpose.int", {tensor_value(given), whole(-1), whole(-2)},
                              form.shape, form.dtype));
          });
    }
  }

  void add_permutation(const PlanTensor& x) {
    const auto* order = call_.args.size() > 1 ? std::get_if<List>(&call_.args[1].data) : nullptr;
    if (order == nullptr) return;
    for (std::size_t a = 0; a + 1 < order->items.size(); ++a)
      for (std::size_t b = a + 1; b < order->items.size(); ++b) {
        const auto size = [&](std::size_t k) {
          const auto* d = std::get_if<std::int64_t>(&order->items[k].data);
          return d == nullptr
                     ? -1
                     : x.shape.at(static_cast<std::size_t>(from_front(*d, x.shape.size())));
        };
        if (size(a) != size(b) || size(a) < 2) continue;
        add(fmt::format("dimensions {} and {} exchanged", a, b), [a, b](PlanEditor& editor) {
          auto& items = std::get<List>(editor.call().args[1].data).items;
          std::swap(items[a], items[b]);
        });
        return;
      }
  }

  void add_joined_backwards() {
    const auto* parts = call_.args.empty() ? nullptr : std::get_if<List>(&call_.args[0].data);
    if (parts == nullptr || parts->items.size() < 2) return;
    add("its parts joined in reverse order", [](PlanEditor& editor) {
      std::ranges::reverse(std::get<List>(editor.call().args[0].data).items);
    });
  }

  const Site& site_;
  const AtenCall& call_;
  std::string_view family_;
  std::vector<Fault>& faults_;
};

}  // namespace

void add_order_faults(const Site& site, std::vector<Fault>& faults) {
  OrderFaults(site, faults).add_all();
}

}  // namespace tritonsmith::gym::plan::faults
