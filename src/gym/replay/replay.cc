#include "gym/replay/replay.h"

#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

#include "base/rng.h"
#include "gym/plan/operators/operator_traits.h"
#include "gym/replay/candidate_arguments.h"
#include "gym/replay/operator_name.h"
#include "gym/replay/own_width.h"

namespace tritonsmith::gym::replay {
namespace {

// Returns the message of a failure in LibTorch without its C++ stack.
std::string first_line(const std::exception& error) {
  const auto* torch_error = dynamic_cast<const c10::Error*>(&error);
  std::string text = torch_error != nullptr ? torch_error->what_without_backtrace() : error.what();
  return text.substr(0, std::min(text.find('\n'), std::size_t{400}));
}

Stop stop_at(const plan::PlanStep& step, Fault fault, ErrorClass error_class, std::string message) {
  return {.error = {.error_class = error_class,
                    .message = std::move(message),
                    .excerpt = {},
                    .line = step.line},
          .fault = fault};
}

Stop mistake(const plan::PlanStep& step, ErrorClass error_class, std::string message) {
  return stop_at(step, Fault::candidate, error_class, std::move(message));
}

// Makes the Stop for a valid plan that this referee cannot run. Nobody is at fault.
Stop limit(const plan::PlanStep& step, ErrorClass error_class, std::string message) {
  return stop_at(step, Fault::none, error_class, std::move(message));
}

void append_flat(const c10::IValue& value, std::vector<at::Tensor>& flat) {
  if (value.isTensor())
    flat.push_back(value.toTensor());
  else if (value.isTensorList())
    for (const at::Tensor& item : value.toTensorVector()) flat.push_back(item);
  else if (value.isList())
    for (const c10::IValue& item : value.toListRef()) append_flat(item, flat);
}

// Returns the relative error that a few steps of arithmetic in the tensor's type may have. It is no
// tolerance of results: it only tells a copy that was scaled from a computation.
double rounding_of_steps(const at::Tensor& tensor) {
  return tensor.element_size() == 2 ? 1e-2 : 1e-5;
}

// Says whether after = a * before + b, with two numbers that the smallest and the largest element
// give. A number near zero has the rounding of those two, so the largest result sets what is
// allowed. A tensor of one value says nothing.
bool is_scaled(const at::Tensor& before, const at::Tensor& after) {
  if (!before.is_floating_point() || before.element_size() < 2 || before.numel() < 3) return false;
  const double rounding = rounding_of_steps(before);
  const at::Tensor from = before.to(at::kDouble), to = after.to(at::kDouble);
  const std::int64_t low = from.argmin().item<std::int64_t>(),
                     high = from.argmax().item<std::int64_t>();
  const double width = (from[high] - from[low]).item<double>();
  if (!(width > 0)) return false;
  const double scale = (to[high] - to[low]).item<double>() / width;
  const double shift = to[low].item<double>() - scale * from[low].item<double>();
  const double largest = to.abs().max().item<double>();
  return scale != 0 && at::allclose(to, from * scale + shift, rounding, rounding * largest);
}

// Says whether `after` has the sizes of `before`, times one number, with other signs that do not follow
// from the values as an absolute value does.
bool has_other_signs(const at::Tensor& before, const at::Tensor& after) {
  if (!before.is_floating_point() || before.element_size() < 2 || before.numel() < 3) return false;
  const double rounding = rounding_of_steps(before);
  const at::Tensor from = before.to(at::kDouble).abs(), to = after.to(at::kDouble);
  const double largest = from.max().item<double>(), scale = to.abs().max().item<double>() / largest;
  return largest > 0 && to.min().item<double>() < 0 && to.max().item<double>() > 0 &&
         at::allclose(to.abs(), from * scale, rounding, rounding * scale * largest);
}

// Copies of tensors from before a launch.
class Snapshots {
 public:
  // If memory for a copy is lacking, all copies go, and explain() returns false.
  void keep(int index, const at::Tensor& tensor) {
    try {
      kept_.emplace_back(index, tensor.clone());
    } catch (const c10::OutOfMemoryError&) {
      kept_.clear();
    }
  }
  // Tells whether each of these tensors now holds what one of the copies holds.
  bool explain(const std::vector<int>& stored, const tensors::TensorTable& tensors,
               bool by_scaling) const {
    return !stored.empty() && std::ranges::all_of(stored, [&](int index) {
      const at::Tensor& now = tensors.at(static_cast<std::size_t>(index));
      return std::ranges::any_of(kept_, [&](const auto& kept) {
        if (kept.second.numel() != now.numel() || kept.second.scalar_type() != now.scalar_type())
          return false;
        const at::Tensor before = kept.second.reshape({-1}), after = now.reshape({-1});
        return at::equal(before, after) ||
               (by_scaling && (is_scaled(before, after) || has_other_signs(before, after)));
      });
    });
  }

 private:
  std::vector<std::pair<int, at::Tensor>> kept_;
};

std::vector<int> launched_tensors(const plan::Plan& plan) {
  std::vector<int> indices;
  for (const plan::PlanStep& step : plan.steps)
    if (const auto* launch = std::get_if<plan::LaunchStep>(&step.action))
      for (const plan::Value& argument : launch->choices.front().arguments)
        plan::append_tensors(argument, indices);
  return indices;
}

std::vector<bool> marked(const plan::Plan& plan, const std::vector<int>& indices) {
  std::vector<bool> all(plan.tensors.size(), false);
  for (const int index : indices) all.at(static_cast<std::size_t>(index)) = true;
  return all;
}

std::vector<bool> named_tensors(const plan::Plan& plan) {
  std::vector<int> indices = launched_tensors(plan);
  plan::append_tensors(plan.outputs, indices);
  for (const plan::Value& input : plan.inputs) plan::append_tensors(input, indices);
  for (const plan::PlanParameter& parameter : plan.parameters) indices.push_back(parameter.tensor);
  return marked(plan, indices);
}

std::vector<bool> inputs_and_parameters(const plan::Plan& plan) {
  std::vector<int> indices;
  for (const plan::Value& input : plan.inputs) plan::append_tensors(input, indices);
  for (const plan::PlanParameter& parameter : plan.parameters) indices.push_back(parameter.tensor);
  return marked(plan, indices);
}

// Marks the tensors that share memory with an argument of a launch.
std::vector<bool> tensors_with_launched_memory(const plan::Plan& plan) {
  std::set<int> storages;
  for (const int index : launched_tensors(plan))
    storages.insert(plan.tensors.at(static_cast<std::size_t>(index)).storage);
  std::vector<bool> launched;
  for (const plan::PlanTensor& tensor : plan.tensors)
    launched.push_back(storages.contains(tensor.storage));
  return launched;
}

// PyTorch rounds a number to float32 before it compares an input of that type with it. In float64 the
// comparison would be one with another number. What follows from inputs by arithmetic has digits of
// its own there, and is compared with the number itself.
bool compares_input_with_numbers(const plan::Plan& plan, const plan::AtenCall& call) {
  if (!plan::operators::is(call.op, plan::operators::Trait::steps) ||
      !plan::operators::is(call.op, plan::operators::Trait::bounds) || call.args.empty())
    return false;
  const auto* compared = std::get_if<plan::TensorRef>(&call.args[0].data);
  if (compared == nullptr) return false;
  const auto tensor_of = [&](int index) {
    return plan.tensors.at(static_cast<std::size_t>(index));
  };
  std::vector<int> inputs;
  for (const plan::Value& input : plan.inputs) plan::append_tensors(input, inputs);
  return tensor_of(compared->index).dtype == plan::DType::float32 &&
         std::ranges::any_of(inputs, [&](int input) {
           return tensor_of(input).storage == tensor_of(compared->index).storage;
         });
}

}  // namespace

std::vector<int> made_by_forward(const plan::Plan& plan, const tensors::TensorTable& tensors) {
  std::vector<int> given;  // an operator that works in place returns an argument
  for (const plan::Value& input : plan.inputs) plan::append_tensors(input, given);
  for (const plan::PlanParameter& parameter : plan.parameters) given.push_back(parameter.tensor);
  std::set<int> makes;
  for (const plan::PlanStep& step : plan.steps) {
    if (const auto* constant = std::get_if<plan::ConstantStep>(&step.action))
      given.push_back(constant->output);
    const auto* call = std::get_if<plan::AtenCall>(&step.action);
    if (call == nullptr) continue;
    if (step.phase == plan::Phase::forward || step.draw >= 0)
      makes.insert(call->outputs.begin(), call->outputs.end());
    else
      given.insert(given.end(), call->outputs.begin(), call->outputs.end());
  }
  for (const int index : given) makes.erase(index);
  const auto is_made = [&](std::size_t index) {
    return index >= plan.tensors.size() || makes.contains(static_cast<int>(index));
  };
  std::set<const void*> seen;
  for (std::size_t k = 0; k < tensors.size(); ++k)
    if (tensors[k].defined() && !is_made(k)) seen.insert(tensors[k].storage().data());
  std::vector<int> made;
  for (std::size_t k = 0; k < tensors.size(); ++k)
    if (tensors[k].defined() && is_made(k) && seen.insert(tensors[k].storage().data()).second)
      made.push_back(static_cast<int>(k));
  return made;
}

Replay::Replay(const plan::Plan& plan, language::KernelExecutor& executor, ReplayOptions options)
    : plan_(plan),
      named_(named_tensors(plan)),
      launched_(tensors_with_launched_memory(plan)),
      shared_(inputs_and_parameters(plan)),
      executor_(executor),
      options_(std::move(options)),
      names_(plan),
      tensors_(plan.tensors.size()) {
  if (options_.device == nullptr) options_.device = &device::cpu_device();
}

void Replay::bind(int tensor, at::Tensor value) {
  tensors_.at(static_cast<std::size_t>(tensor)) = std::move(value);
}

std::optional<Stop> Replay::run(plan::Phase phase, const std::function<void(std::size_t)>& after) {
  for (std::size_t i = 0; i < plan_.steps.size(); ++i) {
    if (plan_.steps[i].phase != phase) continue;
    if (options_.deadline.passed())
      return limit(plan_.steps[i], ErrorClass::too_large_to_evaluate,
                   "it did not finish within the time limit");
    if (auto stop = run_step(i)) return stop;
    if (after) after(i);
  }
  return std::nullopt;
}

std::optional<Stop> Replay::draw_again() {
  for (std::size_t i = 0; i < plan_.steps.size(); ++i)
    if (plan_.steps[i].draw >= 0)
      if (auto stop = run_step(i)) return stop;
  return std::nullopt;
}

std::optional<Stop> Replay::run_step(std::size_t index) {
  const c10::InferenceMode no_gradients(true);
  const plan::PlanStep& step = plan_.steps[index];
  if (!runs_step(plan_, index, options_.choices)) return std::nullopt;
  if (step.draw >= 0)
    options_.device->seed(
        Rng(options_.draws_seed, "draw", static_cast<std::uint64_t>(step.draw)).next_u64());
  if (const auto* call = std::get_if<plan::AtenCall>(&step.action))
    return run_operator(step, *call);
  if (const auto* launch = std::get_if<plan::LaunchStep>(&step.action))
    return run_launch(index, step, *launch);
  return make_constant(step, std::get<plan::ConstantStep>(step.action));
}

std::optional<at::Tensor> Replay::draw(const plan::PlanStep& step,
                                       const plan::AtenCall& call) const {
  const bool normal = call.op == "aten::randn";
  if (step.phase != plan::Phase::inputs || (!normal && call.op != "aten::rand"))
    return std::nullopt;
  const auto* sizes = call.args.size() == 1 ? std::get_if<plan::List>(&call.args[0].data) : nullptr;
  if (sizes == nullptr || call.outputs.size() != 1 || call.outputs[0] < 0) return std::nullopt;
  const plan::PlanTensor& declared = plan_.tensors.at(static_cast<std::size_t>(call.outputs[0]));
  if (declared.dtype != plan::DType::float32 || sizes->items.size() != declared.shape.size())
    return std::nullopt;
  for (std::size_t d = 0; d < sizes->items.size(); ++d)
    if (!(sizes->items[d] == plan::Value{declared.shape[d]})) return std::nullopt;
  for (const auto& [name, value] : call.kwargs)
    if (name == "generator" && !std::holds_alternative<plan::None>(value.data)) return std::nullopt;
  return options_.device->draw(
      normal ? device::Distribution::normal : device::Distribution::uniform, declared.shape);
}

std::optional<Stop> Replay::run_operator(const plan::PlanStep& step, const plan::AtenCall& call) {
  if (!plan::operators::is_replayable(call.op))
    return limit(step, ErrorClass::not_evaluable,
                 fmt::format("the referee does not replay {}", call.op));
  const auto handle = c10::Dispatcher::singleton().findSchema(operator_name(call.op));
  if (!handle)
    return limit(step, ErrorClass::not_evaluable, fmt::format("there is no operator {}", call.op));
  // LibTorch reports failures by exceptions, which become Stops here.
  try {
    if (auto drawn = draw(step, call)) {
      const auto kept = keep_output(call.outputs[0], *std::move(drawn), true);
      return kept ? std::nullopt
                  : std::optional(mistake(step, ErrorClass::bad_plan, kept.error().message));
    }
    if (handle->schema().is_mutable() && lies_in(split_, plan_, call))
      return limit(step, ErrorClass::not_evaluable,
                   fmt::format("{} has no form in float64: it changes numbers whose bits a view "
                               "shares",
                               call.op));
    const bool at_own_width =
        options_.precision == Precision::float64 && plan::operators::depends_on_width(call.op);
    auto stack =
        at_own_width
            ? operator_stack(handle->schema(), call, with_own_dtypes(plan_, call, tensors_),
                             {Precision::as_written, options_.device->torch_device()})
            : operator_stack(handle->schema(), call, tensors_,
                             {.precision = options_.precision,
                              .device = options_.device->torch_device(),
                              .rounds_numbers = options_.precision == Precision::float64 &&
                                                compares_input_with_numbers(plan_, call)});
    if (!stack) return mistake(step, ErrorClass::bad_plan, stack.error().message);
    if (plan_.role == plan::PlanRole::candidate && has_endless_view(*stack))
      return limit(step, ErrorClass::too_large_to_evaluate,
                   fmt::format("{} of more than 2^34 elements", call.op));
    if (plan_.role == plan::PlanRole::candidate)
      if (const auto fits = check_candidate_arguments(handle->schema(), *stack); !fits)
        return mistake(step, ErrorClass::exception,
                       fmt::format("{}: {}", call.op, fits.error().message));
    ran_operators_ = true;
    handle->callBoxed(*stack);
    if (at_own_width) {
      widen(*stack);
      const bool is_view = handle->schema().returns().at(0).alias_info() != nullptr;
      if (is_view) split_.merge(storages_of_results(plan_, call));
    }
    return keep_outputs(step, call, handle->schema(), *stack);
  } catch (const std::exception& error) {
    if (dynamic_cast<const c10::OutOfMemoryError*>(&error) != nullptr)
      options_.device->note_refusal();
    if (options_.device->refused() || dynamic_cast<const std::bad_alloc*>(&error) != nullptr)
      return limit(step, ErrorClass::too_large_to_evaluate, first_line(error));
    if (dynamic_cast<const c10::NotImplementedError*>(&error) != nullptr)
      return limit(step, ErrorClass::not_evaluable,
                   fmt::format("{} does not run here: {}", call.op, first_line(error)));
    return mistake(step, ErrorClass::exception, fmt::format("{}: {}", call.op, first_line(error)));
  }
}

std::optional<Stop> Replay::keep_outputs(const plan::PlanStep& step, const plan::AtenCall& call,
                                         const c10::FunctionSchema& schema,
                                         torch::jit::Stack& stack) {
  std::vector<at::Tensor> made;
  std::vector<bool> fresh;
  for (std::size_t i = 0; i < stack.size(); ++i) {
    append_flat(stack[i], made);
    const bool aliases = i < schema.returns().size() && schema.returns()[i].alias_info() != nullptr;
    fresh.resize(made.size(), !aliases);
  }
  // A plan marks the position of an undefined result with -1, or omits it at the end.
  if (made.size() < call.outputs.size())
    return mistake(
        step, ErrorClass::bad_plan,
        fmt::format("{} returned {} tensors, not {}", call.op, made.size(), call.outputs.size()));
  for (std::size_t i = 0; i < call.outputs.size(); ++i) {
    if (call.outputs[i] < 0) continue;
    if (step.phase == plan::Phase::forward && is_replaced(call.outputs[i], made[i]))
      return mistake(step, ErrorClass::bad_plan,
                     fmt::format("{} makes an input or a weight anew", call.op));
    const bool is_unwritten = plan::operators::leaves_unwritten(call.op) && made[i].defined();
    if (is_unwritten) made[i] = options_.device->filled(std::move(made[i]));
    auto kept = keep_output(call.outputs[i], std::move(made[i]), fresh[i], is_unwritten);
    if (!kept)
      return mistake(step, ErrorClass::bad_plan,
                     fmt::format("{}: {}", call.op, kept.error().message));
  }
  return std::nullopt;
}

// Gives the result its declared strides. Later steps were recorded for them, and kernels rely on
// them. Some CPU operators, such as convolution, choose other strides for the same values.
Status Replay::keep_output(int index, at::Tensor made, bool is_fresh, bool is_fenced) {
  const plan::PlanTensor& declared = plan_.tensors.at(static_cast<std::size_t>(index));
  const bool is_named = named_.at(static_cast<std::size_t>(index));
  const bool same_shape = made.defined() && made.sizes() == at::IntArrayRef(declared.shape);
  if (is_named && !made.defined()) return fail("{} was not made", names_.of(index));
  if (is_named && !same_shape) return fail("{} has another shape than declared", names_.of(index));
  if (is_named && options_.precision == Precision::as_written &&
      made.scalar_type() != tensors::scalar_type_of(declared.dtype))
    return fail("{} has dtype {}, not {}", names_.of(index), tensors::type_name(made.scalar_type()),
                name_of(declared.dtype));
  if (is_fresh && same_shape && made.numel() > 0 &&
      made.strides() != at::IntArrayRef(declared.stride)) {
    at::Tensor as_declared = at::empty_strided(declared.shape, declared.stride, made.options());
    as_declared.copy_(made);
    made = std::move(as_declared);
  }
  if (fences_ && is_fresh && !is_fenced && launched_.at(static_cast<std::size_t>(index)) &&
      is_alone(index, made))
    made = options_.device->fenced(std::move(made));
  bind(index, std::move(made));
  return ok();
}

// Refuses that a candidate's operator replaces an input or a weight, because later checks look at
// the original memory.
bool Replay::is_replaced(int index, const at::Tensor& made) const {
  const auto at = static_cast<std::size_t>(index);
  return plan_.role == plan::PlanRole::candidate && shared_.at(at) && tensors_[at].defined() &&
         made.defined() && made.storage().data() != tensors_[at].storage().data();
}

// Some operators return an argument although their schema says otherwise.
bool Replay::is_alone(int index, const at::Tensor& made) const {
  if (!made.defined() || made.storage_offset() != 0) return false;
  for (std::size_t k = 0; k < tensors_.size(); ++k)
    if (k != static_cast<std::size_t>(index) && tensors_[k].defined() &&
        tensors_[k].storage().data() == made.storage().data())
      return false;
  return true;
}

std::optional<Stop> Replay::make_constant(const plan::PlanStep& step,
                                          const plan::ConstantStep& constant) {
  const plan::PlanTensor& declared = plan_.tensors.at(static_cast<std::size_t>(constant.output));
  try {
    at::Tensor made = at::empty(declared.shape, at::dtype(tensors::scalar_type_of(declared.dtype)));
    if (made.nbytes() != constant.bytes.size())
      return mistake(step, ErrorClass::bad_plan, "a constant's bytes do not fill its tensor");
    if (!constant.bytes.empty())
      std::memcpy(made.mutable_data_ptr(), constant.bytes.data(), constant.bytes.size());
    if (options_.precision == Precision::float64 && made.is_floating_point())
      made = made.to(at::kDouble);
    bind(constant.output, made.to(options_.device->torch_device()));
    return std::nullopt;
  } catch (const std::exception& error) {
    return mistake(step, ErrorClass::bad_plan, first_line(error));
  }
}

Result<language::KernelArgument> Replay::kernel_argument(const plan::Value& value) {
  if (const auto* i = std::get_if<std::int64_t>(&value.data)) return language::KernelArgument(*i);
  if (const auto* f = std::get_if<double>(&value.data)) return language::KernelArgument(*f);
  if (const auto* b = std::get_if<bool>(&value.data)) return language::KernelArgument(*b);
  const auto* reference = std::get_if<plan::TensorRef>(&value.data);
  if (reference == nullptr) return fail("a kernel takes tensors and numbers only");
  const at::Tensor& tensor = tensors_.at(static_cast<std::size_t>(reference->index));
  if (!tensor.defined()) return fail("{} does not exist yet", names_.of(reference->index));
  if (tensor.is_neg() || tensor.is_conj())
    return fail(
        "{} is negated or conjugated when it is read, which no kernel does: resolve_neg() or "
        "resolve_conj() writes it",
        names_.of(reference->index));
  const auto& storage = tensor.storage();
  return language::KernelArgument(language::KernelBuffer{
      .storage = static_cast<std::byte*>(storage.mutable_data()),
      .storage_bytes = storage.nbytes(),
      .offset_bytes = static_cast<std::size_t>(tensor.storage_offset()) * tensor.element_size(),
      .element_bytes = static_cast<std::size_t>(tensor.element_size()),
      .tensor = reference->index,
      .name = names_.of(reference->index)});
}

std::optional<Stop> Replay::run_launch(std::size_t index, const plan::PlanStep& step,
                                       const plan::LaunchStep& launch) {
  if (options_.launches == Launches::skipped) return std::nullopt;
  const plan::LaunchChoice& choice = chosen_of(launch, index, options_.choices);
  const plan::PlanKernel& kernel = plan_.kernels.at(static_cast<std::size_t>(choice.kernel));
  std::vector<language::KernelArgument> arguments;
  for (const plan::Value& value : choice.arguments) {
    auto argument = kernel_argument(value);
    if (!argument) return mistake(step, ErrorClass::bad_plan, argument.error().message);
    arguments.push_back(*argument);
  }
  Snapshots before;
  const bool is_watched = options_.launches != Launches::run;
  if (is_watched)
    for (const language::KernelArgument& argument : arguments)
      if (const auto* buffer = std::get_if<language::KernelBuffer>(&argument))
        before.keep(buffer->tensor, tensors_.at(static_cast<std::size_t>(buffer->tensor)));
  language::LaunchOutcome outcome = executor_.launch(kernel, choice, arguments, options_.deadline);
  for (Finding& finding : outcome.findings) findings_.push_back(std::move(finding));
  if (outcome.error) {
    if (outcome.error->line == 0) outcome.error->line = step.line;
    return Stop{std::move(*outcome.error), outcome.fault};
  }
  LaunchTrace& trace = launches_[index];
  const auto tensor_of = [&](int argument) {
    const auto* buffer =
        std::get_if<language::KernelBuffer>(&arguments.at(static_cast<std::size_t>(argument)));
    return buffer != nullptr ? buffer->tensor : -1;
  };
  for (const int argument : outcome.loaded) trace.loaded_tensors.push_back(tensor_of(argument));
  for (const int argument : outcome.stored) trace.stored_tensors.push_back(tensor_of(argument));
  if (is_watched) {
    ++watched_;
    const bool by_scaling = options_.launches == Launches::watched_for_scaling;
    copies_ += before.explain(trace.stored_tensors, tensors_, by_scaling) ? 1 : 0;
  }
  return std::nullopt;
}

}  // namespace tritonsmith::gym::replay
