// Faults of ranges: a reduction, a norm, a softmax, a scan or a product reads only a part of what it
// should. The part is the first half, all but the last element, or all but a block in the middle.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "gym/plan/faults/faults.h"
#include "gym/plan/operators/operator_arguments.h"
#include "gym/plan/operators/operator_table.h"

namespace tritonsmith::gym::plan::faults {
namespace {

using operators::has_trait;
using operators::Trait;

enum class Part { half, all_but_last, all_but_block };
constexpr auto kParts = std::to_array<Part>({Part::half, Part::all_but_last, Part::all_but_block});

// The elements that a part of n elements lacks: from `first` on, up to `end`.
struct Gap {
  std::int64_t first = 0, end = 0;
};
std::optional<Gap> gap_of(Part part, std::int64_t n) {
  if (n < 2) return std::nullopt;
  if (part == Part::half) return Gap{n / 2, n};
  if (part == Part::all_but_last && n > 2) return Gap{n - 1, n};
  if (part == Part::all_but_block && n >= 16) return Gap{n * 3 / 8, n / 2};
  return std::nullopt;
}

std::string text_of(Part part) {
  if (part == Part::half) return "only the first half of the range is read";
  if (part == Part::all_but_last) return "the last element of the range is not read";
  return "an eighth of the range is not read";
}

using Add = std::function<int(std::string, std::vector<Value>, std::vector<std::int64_t>, DType)>;

// Returns the tensor without the gap along a dimension. `add` adds an operator.
int without(const PlanEditor& editor, const Add& add, int tensor, std::size_t d, Gap gap) {
  // A copy, because `add` moves the plan's tensors.
  // NOLINTNEXTLINE(performance-unnecessary-copy-initialization)
  const PlanTensor form = editor.tensor(tensor);
  const std::int64_t n = form.shape[d];
  const auto slice = [&](std::int64_t from, std::int64_t to) {
    std::vector<std::int64_t> shape = form.shape;
    shape[d] = to - from;
    return add("aten::slice.Tensor",
               {tensor_value(tensor), whole(static_cast<std::int64_t>(d)), whole(from), whole(to)},
               shape, form.dtype);
  };
  if (gap.end == n) return slice(0, gap.first);
  const int head = slice(0, gap.first), tail = slice(gap.end, n);
  std::vector<std::int64_t> shape = form.shape;
  shape[d] = n - (gap.end - gap.first);
  return add(
      "aten::cat",
      {Value{List{{tensor_value(head), tensor_value(tail)}}}, whole(static_cast<std::int64_t>(d))},
      shape, form.dtype);
}

Add adds_before(PlanEditor& editor) {
  return [&editor](std::string op, std::vector<Value> args, std::vector<std::int64_t> shape,
                   DType dtype) {
    return editor.before(std::move(op), std::move(args), std::move(shape), dtype);
  };
}
Add adds_after(PlanEditor& editor) {
  return [&editor](std::string op, std::vector<Value> args, std::vector<std::int64_t> shape,
                   DType dtype) {
    return editor.after(std::move(op), std::move(args), std::move(shape), dtype);
  };
}

// Lets arguments of the call be parts of themselves: argument `position` along dimension `d`.
struct Cut {
  std::size_t position = 0, d = 0;
};
void cut(PlanEditor& editor, const std::vector<Cut>& cuts, Gap gap) {
  for (const Cut& each : cuts) {
    const int whole_argument = editor.argument(each.position);
    const int part = without(editor, adds_before(editor), whole_argument, each.d, gap);
    editor.call().args[each.position] = tensor_value(part);
  }
}

// Returns the dimension that an argument names, or the last one of several. Without any, a full
// reduction has its longest dimension, and `topk` the last.
std::optional<std::size_t> dimension_in(const AtenCall& call, std::size_t at,
                                        const PlanTensor& form) {
  if (form.shape.empty()) return std::nullopt;
  std::optional<std::int64_t> named;
  if (at < call.args.size()) {
    if (const auto* one = std::get_if<std::int64_t>(&call.args[at].data)) named = *one;
    if (const auto* list = std::get_if<List>(&call.args[at].data))
      if (!list->items.empty())
        if (const auto* last = std::get_if<std::int64_t>(&list->items.back().data)) named = *last;
  }
  if (!named && family_of(call) == "topk") named = -1;
  if (!named)
    return static_cast<std::size_t>(std::ranges::max_element(form.shape) - form.shape.begin());
  const std::int64_t d = from_front(*named, form.shape.size());
  if (d < 0 || d >= static_cast<std::int64_t>(form.shape.size())) return std::nullopt;
  return static_cast<std::size_t>(d);
}

class RangeFaults {
 public:
  RangeFaults(const Site& site, std::vector<Fault>& faults)
      : site_(site), call_(site.call()), family_(family_of(site.call())), faults_(faults) {}

  void add_all() {
    const PlanTensor* x = tensor_argument(site_.plan, call_, 0);
    if (x == nullptr || elements_of(*x) == 0) return;
    if (const auto position = operators::reduced_dimensions(family_))
      if (const auto d = dimension_in(call_, *position, *x)) add_reduction(*x, *d);
    if (has_trait(family_, Trait::scans))
      if (const auto d = dimension_in(call_, 1, *x)) add_scan(*x, *d);
    if (has_trait(family_, Trait::softmax) && is_floating(x->dtype))
      if (const auto d = dimension_in(call_, 1, *x)) add_softmax(*x, *d);
    if (has_trait(family_, Trait::loss) && !x->shape.empty())
      add_cuts({{0, 0}, {1, 0}}, x->shape[0], "");
    add_norms(*x);
    add_products(*x);
    add_windows();
  }

 private:
  void add(Part part, const std::string& more, std::function<void(PlanEditor&)> edit) {
    add_named(text_of(part) + more, std::move(edit));
  }
  void add_named(const std::string& text, std::function<void(PlanEditor&)> edit) {
    faults_.push_back({.kind = FaultKind::range,
                       .what = fmt::format("{}: {}", site_.where, text),
                       .step = site_.step,
                       .edit = std::move(edit)});
  }
  void add_cuts(const std::vector<Cut>& cuts, std::int64_t n, const std::string& more) {
    for (const Part part : kParts)
      if (const auto gap = gap_of(part, n))
        add(part, more, [cuts, gap](PlanEditor& editor) { cut(editor, cuts, *gap); });
  }

  void add_reduction(const PlanTensor& x, std::size_t d) {
    add_cuts({{0, d}}, x.shape[d], "");
    if (family_ != "sum" || x.shape[d] < 4 || !is_floating(x.dtype)) return;
    add(Part::half, ", and counts twice", [d, n = x.shape[d]](PlanEditor& editor) {
      cut(editor, {{0, d}}, {n - n / 2, n});
      editor.overwrite_result(editor.after_like(editor.result(), "aten::mul.Tensor",
                                                {tensor_value(editor.result()), number(2)}));
    });
  }

  void add_scan(const PlanTensor& x, std::size_t d) {
    const std::int64_t n = x.shape[d];
    if (n < 2) return;
    add_named("the second half does not go on from the first", [d, n](PlanEditor& editor) {
      const int input = editor.argument(0);
      const AtenCall call = editor.call();
      std::vector<Value> halves;
      for (const Gap gap : {Gap{n / 2, n}, Gap{0, n / 2}}) {
        PlanTensor form = editor.tensor(input);
        form.shape[d] = n - (gap.end - gap.first);
        const std::int64_t from = gap.first == 0 ? gap.end : 0;
        const int half = editor.after("aten::slice.Tensor",
                                      {tensor_value(input), whole(static_cast<std::int64_t>(d)),
                                       whole(from), whole(from + form.shape[d])},
                                      form.shape, form.dtype);
        std::vector<Value> args = call.args;
        args[0] = tensor_value(half);
        halves.push_back(
            tensor_value(editor.after(call.op, args, form.shape, form.dtype, call.kwargs)));
      }
      editor.overwrite_result(
          editor.after_like(editor.result(), "aten::cat",
                            {Value{List{halves}}, whole(static_cast<std::int64_t>(d))}));
    });
  }

  // The normaliser comes from a part of the row, and every element is divided by it.
  void add_softmax(const PlanTensor& x, std::size_t d) {
    const bool is_log = family_.find("log") != std::string_view::npos;
    for (const Part part : kParts) {
      const auto gap = gap_of(part, x.shape[d]);
      if (!gap) continue;
      add(part, " for the sum", [d, gap, part, is_log](PlanEditor& editor) {
        const PlanTensor form = editor.tensor(editor.argument(0));
        const int wide =
            editor.after("aten::_to_copy", {tensor_value(editor.argument(0))}, form.shape,
                         DType::float32, {{"dtype", Value{DType::float32}}});
        const int read = without(editor, adds_after(editor), wide, d, *gap);
        std::vector<std::int64_t> one = form.shape;
        one[d] = 1;
        const auto dims = whole_list({static_cast<std::int64_t>(d)});
        int sum = editor.after("aten::logsumexp", {tensor_value(read), dims, flag(true)}, one,
                               DType::float32);
        const double kept = static_cast<double>(form.shape[d] - (gap->end - gap->first));
        if (part == Part::half)
          sum = editor.after(
              "aten::add.Tensor",
              {tensor_value(sum), number(std::log(static_cast<double>(form.shape[d]) / kept))}, one,
              DType::float32);
        int y = editor.after("aten::sub.Tensor", {tensor_value(wide), tensor_value(sum)},
                             form.shape, DType::float32);
        if (!is_log) y = editor.after_like(y, "aten::exp", {tensor_value(y)});
        editor.overwrite_result(y);
      });
    }
  }

  // The statistics come from a part of the elements, and every element is normalised with them.
  struct Norm {
    std::vector<std::int64_t> shape;   // in which the elements are normalised
    std::vector<std::int64_t> affine;  // of weight and bias, beside `back`
    std::vector<std::int64_t> back;    // in which they are scaled
    std::size_t d = 0;                 // the dimension of which a part is read
    std::vector<std::int64_t> dims;    // that share their statistics
    std::size_t weight_at = 0;
    double epsilon = 0;
    bool has_mean = true;
  };

  void add_norms(const PlanTensor& x) {
    const auto real_at = [&](std::size_t k) {
      const auto* value =
          k < call_.args.size() ? std::get_if<double>(&call_.args[k].data) : nullptr;
      return value == nullptr ? 1e-5 : *value;
    };
    const bool is_rms = family_ == "_fused_rms_norm" || family_ == "rms_norm";
    if (family_ == "native_layer_norm" || is_rms) {
      const auto* normalized = std::get_if<List>(&call_.args.at(1).data);
      if (normalized == nullptr || normalized->items.size() > x.shape.size()) return;
      std::int64_t row = 1;
      for (std::size_t k = 0; k < normalized->items.size(); ++k)
        row *= x.shape[x.shape.size() - 1 - k];
      const std::int64_t rows = elements_of(x) / std::max<std::int64_t>(row, 1);
      add_norm({.shape = {rows, row},
                .affine = {1, row},
                .back = {rows, row},
                .d = 1,
                .dims = {1},
                .weight_at = 2,
                .epsilon = real_at(is_rms ? 3 : 4),
                .has_mean = !is_rms});
    } else if (family_ == "native_group_norm" && x.shape.size() > 1) {
      const auto* groups = std::get_if<std::int64_t>(&call_.args.at(6).data);
      if (groups == nullptr || *groups < 1) return;
      const std::int64_t n = x.shape[0], c = x.shape[1], all = elements_of(x);
      add_norm({.shape = {n * *groups, all / (n * *groups)},
                .affine = {1, c, 1},
                .back = {n, c, all / (n * c)},
                .d = 1,
                .dims = {1},
                .weight_at = 1,
                .epsilon = real_at(7)});
    } else if (family_ == "instance_norm" && x.shape.size() > 2) {
      const std::int64_t n = x.shape[0], c = x.shape[1], rest = elements_of(x) / (n * c);
      add_norm({.shape = {n * c, rest},
                .affine = {1, c, 1},
                .back = {n, c, rest},
                .d = 1,
                .dims = {1},
                .weight_at = 1,
                .epsilon = real_at(7)});
    } else if (family_.ends_with("batch_norm") && x.shape.size() > 1 && call_.args.size() > 7 &&
               call_.args[5] == flag(true)) {
      const std::int64_t n = x.shape[0], c = x.shape[1], rest = elements_of(x) / (n * c);
      add_norm({.shape = {n, c, rest},
                .affine = {1, c, 1},
                .back = {n, c, rest},
                .d = n > 1 ? std::size_t{0} : std::size_t{2},
                .dims = {0, 2},
                .weight_at = 1,
                .epsilon = real_at(7)});
    }
  }

  void add_norm(const Norm& norm) {
    for (const Part part : kParts)
      if (const auto gap = gap_of(part, norm.shape[norm.d]))
        add(part, " for the statistics",
            [norm, gap](PlanEditor& editor) { normalise(editor, norm, *gap); });
  }

  static void normalise(PlanEditor& editor, const Norm& norm, Gap gap) {
    const auto op = [&](const char* name, std::vector<Value> args,
                        const std::vector<std::int64_t>& shape) {
      return editor.after(name, std::move(args), shape, DType::float32);
    };
    const int input = editor.argument(0);
    const std::vector<std::int64_t> given = editor.tensor(input).shape;
    int x = editor.after("aten::_to_copy", {tensor_value(input)}, given, DType::float32,
                         {{"dtype", Value{DType::float32}}});
    x = op("aten::reshape", {tensor_value(x), whole_list(norm.shape)}, norm.shape);
    const int read = without(editor, adds_after(editor), x, norm.d, gap);
    std::vector<std::int64_t> one = norm.shape;
    for (const std::int64_t d : norm.dims) one[static_cast<std::size_t>(d)] = 1;
    const auto mean_of = [&](int values) {
      return op("aten::mean.dim", {tensor_value(values), whole_list(norm.dims), flag(true)}, one);
    };
    int centred = x, part = read;
    if (norm.has_mean) {
      const int mean = mean_of(read);
      centred = op("aten::sub.Tensor", {tensor_value(x), tensor_value(mean)}, norm.shape);
      part = op("aten::sub.Tensor", {tensor_value(read), tensor_value(mean)},
                editor.tensor(read).shape);
    }
    int scale = mean_of(op("aten::square", {tensor_value(part)}, editor.tensor(part).shape));
    scale = op("aten::add.Tensor", {tensor_value(scale), number(norm.epsilon)}, one);
    scale = op("aten::rsqrt", {tensor_value(scale)}, one);
    int y = op("aten::mul.Tensor", {tensor_value(centred), tensor_value(scale)}, norm.shape);
    y = op("aten::reshape", {tensor_value(y), whole_list(norm.back)}, norm.back);
    for (std::size_t k = 0; k < 2; ++k) {
      if (k == 1 && !norm.has_mean) break;
      const int affine = editor.argument(norm.weight_at + k);
      if (affine < 0) continue;
      const int shaped =
          op("aten::reshape", {tensor_value(affine), whole_list(norm.affine)}, norm.affine);
      y = op(k == 0 ? "aten::mul.Tensor" : "aten::add.Tensor",
             {tensor_value(y), tensor_value(shaped)}, norm.back);
    }
    editor.overwrite_result(op("aten::reshape", {tensor_value(y), whole_list(given)}, given));
  }

  // The dimension over which products are summed.
  void add_products(const PlanTensor& x) {
    const std::size_t last = x.shape.size() - 1;
    const std::string more = " in the sum of products";
    if (x.shape.empty()) return;
    const bool adds = has_trait(family_, Trait::adds_to_product);
    const bool of_matrices = has_trait(family_, Trait::matrix_product);
    if (!adds && (of_matrices || has_trait(family_, Trait::vector_product)))
      add_cuts({{0, last}, {1, family_ == "bmm" ? std::size_t{1} : std::size_t{0}}}, x.shape[last],
               more);
    if (family_ == "linear") {
      const PlanTensor* weight = tensor_argument(site_.plan, call_, 1);
      if (weight != nullptr && weight->shape.size() == 2)
        add_cuts({{0, last}, {1, 1}}, x.shape[last], more);
    }
    if (adds && of_matrices) {
      const PlanTensor* left = tensor_argument(site_.plan, call_, 1);
      const std::size_t rows = family_ == "addmm" ? 0 : 1;
      if (left != nullptr) add_cuts({{1, rows + 1}, {2, rows}}, left->shape[rows + 1], more);
    }
    if (family_ == "scaled_dot_product_attention") add_attention();
    if (family_ == "convolution") add_convolution(x);
  }

  void add_attention() {
    const PlanTensor* key = tensor_argument(site_.plan, call_, 1);
    if (key == nullptr || key->shape.size() < 2) return;
    const std::size_t d = key->shape.size() - 2;
    std::vector<Cut> cuts = {{1, d}, {2, d}};
    const PlanTensor* mask = tensor_argument(site_.plan, call_, 3);
    if (mask != nullptr && mask->shape.back() == key->shape[d])
      cuts.push_back({3, mask->shape.size() - 1});
    add_cuts(cuts, key->shape[d], " of the keys");
  }

  void add_convolution(const PlanTensor& x) {
    const PlanTensor* weight = tensor_argument(site_.plan, call_, 1);
    if (weight == nullptr || x.shape.size() < 3 || call_.args.size() < 9) return;
    if (call_.args[6] == flag(false) && call_.args[8] == whole(1))
      add_cuts({{0, 1}, {1, 1}}, x.shape[1], " of the channels");
    const std::size_t d = weight->shape.size() - 1;
    const std::int64_t taps = weight->shape[d];
    if (taps < 2) return;
    add_named("the last column of the filter is not read", [d, taps](PlanEditor& editor) {
      const PlanTensor form = editor.tensor(editor.argument(1));
      const int part =
          without(editor, adds_before(editor), editor.argument(1), d, {taps - 1, taps});
      const int padded = editor.before("aten::constant_pad_nd",
                                       {tensor_value(part), whole_list({0, 1}), number(0)},
                                       form.shape, form.dtype);
      editor.call().args[1] = tensor_value(padded);
    });
  }

  // A pool whose window is one column smaller, at the same positions.
  void add_windows() {
    if (!family_.starts_with("max_pool") && !family_.starts_with("avg_pool")) return;
    const auto* window = call_.args.size() > 1 ? std::get_if<List>(&call_.args[1].data) : nullptr;
    if (window == nullptr || window->items.empty()) return;
    const auto* width = std::get_if<std::int64_t>(&window->items.back().data);
    if (width == nullptr || *width < 2) return;
    add_named("the last column of the window is not read", [](PlanEditor& editor) {
      std::vector<Value>& args = editor.call().args;
      const Value steps = args[1];
      if (args.size() == 2) args.push_back(steps);
      if (const auto* given = std::get_if<List>(&args[2].data); given && given->items.empty())
        args[2] = steps;
      auto& items = std::get<List>(args[1].data).items;
      items.back() = whole(std::get<std::int64_t>(items.back().data) - 1);
    });
  }

  const Site& site_;
  const AtenCall& call_;
  std::string_view family_;
  std::vector<Fault>& faults_;
};

}  // namespace

void add_range_faults(const Site& site, std::vector<Fault>& faults) {
  RangeFaults(site, faults).add_all();
}

}  // namespace tritonsmith::gym::plan::faults
