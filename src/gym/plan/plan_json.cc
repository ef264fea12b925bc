// Converts a Plan to JSON and back. Reading checks forms and sizes; check_plan checks the rest.
#include <limits>

#include "base/base64.h"
#include "gym/plan/plan.h"

namespace tritonsmith::gym::plan {
namespace {

// The depth of JSON around the deepest value: plan, list, step, launch, choice and arguments. Each
// value takes two levels.
constexpr int kJsonDepth = 2 * plan_limits::kNesting + 16;

Result<std::int64_t> whole(const Json& json, std::int64_t low, std::int64_t high) {
  TRY_ASSIGN(const Value value, value_from_json(Json{{"i", json}}));
  const std::int64_t number = std::get<std::int64_t>(value.data);
  if (number < low || number > high) return fail("{} is not between {} and {}", number, low, high);
  return number;
}

Result<int> small(const Json& json, int low, int high) {
  TRY_ASSIGN(const std::int64_t number, whole(json, low, high));
  return static_cast<int>(number);
}

// Returns the member of an object, or null if it is absent.
const Json& member(const Json& object, const char* name) {
  static const Json null;
  if (!object.is_object()) return null;
  const auto at = object.find(name);
  return at == object.end() ? null : *at;
}

Result<int> small_member(const Json& object, const char* name, int low, int high, int fallback) {
  const Json& found = member(object, name);
  if (found.is_null()) return fallback;
  auto number = small(found, low, high);
  if (!number) return tl::unexpected<Error>(number.error().within(name));
  return number;
}

// Applies `parse` to each item of a list member. The list has at most `limit` items.
template <typename T, typename Parse>
Status read_list(const Json& object, const char* name, std::size_t limit, std::vector<T>& out,
                 Parse parse) {
  const Json& list = member(object, name);
  if (list.is_null()) return ok();
  if (!list.is_array()) return fail("'{}' must be a list", name);
  if (list.size() > limit) return fail("'{}' has {} items, more than {}", name, list.size(), limit);
  out.reserve(list.size());
  for (const Json& item : list) {
    auto value = parse(item);
    if (!value)
      return tl::unexpected<Error>(value.error().within(fmt::format("{}[{}]", name, out.size())));
    out.push_back(*std::move(value));
  }
  return ok();
}

Result<std::string> short_text(JsonReader& reader, const char* name) {
  std::string text = reader.string(name);
  TRY(reader.status());
  if (text.empty() || text.size() > plan_limits::kName)
    return fail("'{}' must have 1 to {} characters", name, plan_limits::kName);
  return text;
}

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
constexpr int kMostTensors = static_cast<int>(plan_limits::kTensors);
constexpr int kMostLines = 1 << 24;

Result<PlanTensor> tensor_from_json(const Json& json) {
  JsonReader reader(json);
  PlanTensor tensor{.dtype = reader.enumerated<DType>("dtype")};
  TRY(reader.status());
  const auto dimension = [](const Json& item) { return whole(item, 0, kMost); };
  TRY(read_list(json, "shape", plan_limits::kDimensions, tensor.shape, dimension));
  TRY(read_list(json, "stride", plan_limits::kDimensions, tensor.stride, dimension));
  TRY_ASSIGN(tensor.offset, whole(member(json, "offset"), 0, kMost));
  TRY_ASSIGN(tensor.storage, small(member(json, "storage"), 0, kMostTensors - 1));
  TRY_ASSIGN(tensor.storage_bytes,
             whole(member(json, "storage_bytes"), 0, plan_limits::kStorageBytes));
  return tensor;
}

Result<Value> input_from_json(const Json& json) {
  if (json.is_object() && json.size() == 1 && json.contains("tensor"))
    return value_from_json(Json{{"t", json["tensor"]}});
  if (json.is_object() && json.size() == 1 && json.contains("value"))
    return value_from_json(json["value"]);
  return fail("an input is {{\"tensor\": index}} or {{\"value\": value}}");
}

Result<PlanParameter> parameter_from_json(const Json& json) {
  JsonReader reader(json);
  PlanParameter parameter;
  TRY_ASSIGN(parameter.name, short_text(reader, "name"));
  parameter.kind = reader.enumerated("kind", std::optional(ParameterKind::parameter));
  parameter.is_frozen = reader.boolean("frozen", false);
  parameter.is_read = reader.boolean("read", false);
  TRY(reader.status());
  TRY_ASSIGN(parameter.tensor, small(member(json, "tensor"), 0, kMostTensors - 1));
  return parameter;
}

Result<PlanKernel> kernel_from_json(const Json& json) {
  JsonReader reader(json);
  PlanKernel kernel;
  TRY_ASSIGN(kernel.name, short_text(reader, "name"));
  kernel.language = language_in(json);
  const std::string member(name_of(kernel.language));
  kernel.code = reader.string(member);
  TRY(reader.status());
  if (kernel.code.size() > plan_limits::kCodeBytes)
    return fail("'{}' exceeds {} bytes", member, plan_limits::kCodeBytes);
  TRY_ASSIGN(kernel.num_warps, small_member(json, "num_warps", 1, 32, 4));
  TRY_ASSIGN(kernel.num_stages, small_member(json, "num_stages", 0, 64, 3));
  TRY_ASSIGN(kernel.num_ctas, small_member(json, "num_ctas", 1, 16, 1));
  TRY_ASSIGN(kernel.maxnreg, small_member(json, "maxnreg", 0, 255, 0));
  kernel.enable_fp_fusion = reader.boolean("enable_fp_fusion", true);
  TRY(reader.status());
  TRY_ASSIGN(kernel.line, small_member(json, "line", 0, kMostLines, 0));
  TRY(read_list(json, "arguments", plan_limits::kArguments, kernel.arguments,
                [](const Json& item) -> Result<std::string> {
                  if (!item.is_string() || item.get_ref<const std::string&>().size() > 16)
                    return fail("an argument type is a short string");
                  return item.get<std::string>();
                }));
  return kernel;
}

Result<LaunchChoice> choice_from_json(const Json& json) {
  LaunchChoice choice;
  TRY_ASSIGN(choice.kernel,
             small(member(json, "kernel"), 0, static_cast<int>(plan_limits::kKernels) - 1));
  const Json& grid = member(json, "grid");
  if (!grid.is_array() || grid.size() != 3) return fail("'grid' must have three numbers");
  for (std::size_t axis = 0; axis < 3; ++axis) {
    TRY_ASSIGN(choice.grid[axis], whole(grid[axis], 1, plan_limits::kGrid[axis]));
  }
  TRY(read_list(json, "arguments", plan_limits::kArguments, choice.arguments,
                [](const Json& item) { return value_from_json(item); }));
  JsonReader reader(json);
  choice.config = reader.string("config", "");
  TRY(reader.status());
  const bool is_plain =
      std::ranges::all_of(choice.config, [](char c) { return c >= ' ' && c <= '~'; });
  if (choice.config.size() > plan_limits::kName || !is_plain)
    return fail("'config' must be at most {} plain characters", plan_limits::kName);
  return choice;
}

Result<AtenCall> aten_from_json(const Json& json) {
  JsonReader reader(json);
  AtenCall call;
  TRY_ASSIGN(call.op, short_text(reader, "aten"));
  const auto value = [](const Json& item) { return value_from_json(item); };
  TRY(read_list(json, "args", plan_limits::kArguments, call.args, value));
  const Json& kwargs = reader.object("kwargs");
  TRY(reader.status());
  for (const auto& [name, argument] : kwargs.items()) {
    TRY_ASSIGN(Value parsed, value_from_json(argument));
    call.kwargs.emplace_back(name, std::move(parsed));
  }
  TRY(read_list(json, "outputs", plan_limits::kTensors, call.outputs,
                [](const Json& item) { return small(item, -1, kMostTensors - 1); }));
  return call;
}

Result<ConstantStep> constant_from_json(const Json& json) {
  JsonReader reader(json);
  const std::string text = reader.string("constant");
  TRY(reader.status());
  if (text.size() > plan_limits::kConstantBytes * 4 / 3 + 4)
    return fail("a constant exceeds {} bytes", plan_limits::kConstantBytes);
  ConstantStep constant;
  TRY_ASSIGN(constant.bytes, base64_decode(text));
  const Json& outputs = reader.array("outputs");
  TRY(reader.status());
  if (outputs.size() != 1) return fail("a constant has one output");
  TRY_ASSIGN(constant.output, small(outputs[0], 0, kMostTensors - 1));
  return constant;
}

Result<int> choice_number(const Json& json) {
  const bool fits = json.is_number_integer() && json >= 0 && json < plan_limits::kChoices;
  if (!fits) return fail("the number of a choice is none");
  return json.get<int>();
}

Result<PlanStep> step_from_json(const Json& json) {
  JsonReader reader(json);
  PlanStep step{.phase = reader.enumerated<Phase>("phase"), .line = 0, .action = {}};
  TRY(reader.status());
  TRY_ASSIGN(step.line, small_member(json, "line", 0, kMostLines, 0));
  if (reader.has("choices")) {
    TRY(read_list(json, "choices", plan_limits::kChoices, step.choices, choice_number));
  }
  const int forms = reader.has("aten") + reader.has("launch") + reader.has("constant");
  if (forms != 1) return fail("a step is exactly one of 'aten', 'launch' and 'constant'");
  if (reader.has("aten")) {
    TRY_ASSIGN(step.action, aten_from_json(json));
  } else if (reader.has("constant")) {
    TRY_ASSIGN(step.action, constant_from_json(json));
  } else {
    LaunchStep launch;
    TRY(read_list(json, "launch", plan_limits::kChoices, launch.choices, choice_from_json));
    launch.restores = reader.boolean("restores", false);
    step.action = std::move(launch);
  }
  return step;
}

Result<StreamOrder> order_from_json(const Json& json) {
  JsonReader reader(json);
  StreamOrder order{.phase = reader.enumerated<Phase>("phase"),
                    .kind = reader.enumerated<StreamOrder::Kind>("kind")};
  TRY(reader.status());
  TRY_ASSIGN(order.before, small_member(json, "before", 0, plan_limits::kSteps, 0));
  TRY_ASSIGN(order.stream,
             small_member(json, "stream", StreamOrder::kHost, plan_limits::kStreams, 0));
  TRY_ASSIGN(order.event, small_member(json, "event", 0, plan_limits::kOrders, 0));
  return order;
}

Result<FirstCall> first_call_from_json(const Json& json) {
  JsonReader reader(json);
  FirstCall first{.difference = reader.string("difference")};
  TRY(reader.status());
  if (first.difference.size() > plan_limits::kReason) return fail("'difference' is too long");
  TRY(read_list(json, "inputs", plan_limits::kTensors, first.inputs, input_from_json));
  if (reader.has("outputs")) {
    TRY_ASSIGN(first.outputs, value_from_json(json["outputs"]));
  }
  return first;
}

Result<std::string> name_from_json(const Json& json) {
  if (!json.is_string()) return fail("a name is no string");
  auto name = json.get<std::string>();
  if (name.size() > plan_limits::kName) return fail("a name is too long");
  return name;
}

Result<Plan> plan_from_json(const Json& json) {
  JsonReader reader(json);
  const std::int64_t format = reader.integer("format");
  Plan plan{.role = reader.enumerated<PlanRole>("role"), .target = reader.string("target")};
  TRY(reader.status());
  if (format != 1) return fail("plan format {} is not known", format);
  if (plan.target.size() > 32) return fail("'target' is too long");
  const auto value = [](const Json& item) { return value_from_json(item); };
  using namespace plan_limits;
  TRY(read_list(json, "tensors", kTensors, plan.tensors, tensor_from_json));
  TRY(read_list(json, "init_args", kTensors, plan.init_args, value));
  TRY(read_list(json, "inputs", kTensors, plan.inputs, input_from_json));
  if (reader.has("input_names"))
    TRY(read_list(json, "input_names", kTensors, plan.input_names, name_from_json));
  TRY(read_list(json, "parameters", kTensors, plan.parameters, parameter_from_json));
  TRY(read_list(json, "kernels", kKernels, plan.kernels, kernel_from_json));
  TRY(read_list(json, "steps", kSteps, plan.steps, step_from_json));
  if (reader.has("orders")) TRY(read_list(json, "orders", kOrders, plan.orders, order_from_json));
  TRY(read_list(json, "mutated_inputs", kTensors, plan.mutated_inputs,
                [](const Json& item) { return small(item, 0, kMostTensors - 1); }));
  if (reader.has("read_inputs"))
    TRY(read_list(json, "read_inputs", kTensors, plan.read_inputs,
                  [](const Json& item) { return small(item, 0, kMostTensors - 1); }));
  plan.unplanned = reader.string("unplanned", "");
  plan.first_call_only = reader.boolean("first_call_only", false);
  if (reader.has("first_call")) {
    TRY_ASSIGN(plan.first_call, first_call_from_json(json["first_call"]));
  }
  TRY(reader.status());
  if (plan.unplanned.size() > kReason) return fail("'unplanned' is too long");
  if (reader.has("outputs")) {
    TRY_ASSIGN(plan.outputs, value_from_json(json["outputs"]));
  }
  return plan;
}

Json values_to_json(const std::vector<Value>& values) {
  Json list = Json::array();
  for (const Value& value : values) list.push_back(to_json(value));
  return list;
}

Json tensor_to_json(const PlanTensor& tensor) {
  return {{"dtype", name_of(tensor.dtype)}, {"shape", tensor.shape},
          {"stride", tensor.stride},        {"offset", tensor.offset},
          {"storage", tensor.storage},      {"storage_bytes", tensor.storage_bytes}};
}

Json input_to_json(const Value& input) {
  if (const auto* tensor = std::get_if<TensorRef>(&input.data)) return {{"tensor", tensor->index}};
  return {{"value", to_json(input)}};
}

Json inputs_to_json(const std::vector<Value>& inputs) {
  Json list = Json::array();
  for (const Value& input : inputs) list.push_back(input_to_json(input));
  return list;
}

Json kernel_to_json(const PlanKernel& kernel) {
  Json json = {{"name", kernel.name},
               {std::string(name_of(kernel.language)), kernel.code},
               {"num_warps", kernel.num_warps},
               {"num_stages", kernel.num_stages},
               {"num_ctas", kernel.num_ctas},
               {"arguments", kernel.arguments},
               {"line", kernel.line}};
  if (kernel.maxnreg > 0) json["maxnreg"] = kernel.maxnreg;
  if (!kernel.enable_fp_fusion) json["enable_fp_fusion"] = false;
  return json;
}

struct StepToJson {
  Json& json;
  void operator()(const AtenCall& call) const {
    json["aten"] = call.op;
    json["args"] = values_to_json(call.args);
    json["kwargs"] = Json::object();
    for (const auto& [name, value] : call.kwargs) json["kwargs"][name] = to_json(value);
    json["outputs"] = call.outputs;
  }
  void operator()(const LaunchStep& launch) const {
    json["launch"] = Json::array();
    for (const LaunchChoice& choice : launch.choices) {
      json["launch"].push_back({{"kernel", choice.kernel},
                                {"grid", choice.grid},
                                {"arguments", values_to_json(choice.arguments)}});
      if (!choice.config.empty()) json["launch"].back()["config"] = choice.config;
    }
    if (launch.choices.size() > 1) json["tuned"] = true;
    if (launch.restores) json["restores"] = true;
  }
  void operator()(const ConstantStep& constant) const {
    json["constant"] = base64_encode(constant.bytes);
    json["outputs"] = Json::array({constant.output});
  }
};

}  // namespace

KernelLanguage language_in(const Json& json) {
  for (const auto& [language, member] : enum_names<KernelLanguage>)
    if (json.contains(member)) return language;
  return KernelLanguage::triton_ir;
}

Result<Plan> parse_plan(std::string_view text) {
  if (text.size() > plan_limits::kBytes)
    return fail("the plan exceeds {} bytes", plan_limits::kBytes);
  TRY_ASSIGN(const Json json, parse_json(text, kJsonDepth));
  TRY_ASSIGN(Plan plan, plan_from_json(json));
  TRY(check_plan(plan));
  return plan;
}

Json to_json(const Plan& plan) {
  Json json = {{"format", 1},
               {"role", name_of(plan.role)},
               {"target", plan.target},
               {"tensors", Json::array()},
               {"init_args", values_to_json(plan.init_args)},
               {"inputs", inputs_to_json(plan.inputs)},
               {"parameters", Json::array()},
               {"kernels", Json::array()},
               {"steps", Json::array()},
               {"outputs", to_json(plan.outputs)},
               {"mutated_inputs", plan.mutated_inputs}};
  if (!plan.input_names.empty()) json["input_names"] = plan.input_names;
  if (!plan.read_inputs.empty()) json["read_inputs"] = plan.read_inputs;
  if (!plan.unplanned.empty()) json["unplanned"] = plan.unplanned;
  if (plan.first_call_only) json["first_call_only"] = true;
  for (const PlanTensor& tensor : plan.tensors) json["tensors"].push_back(tensor_to_json(tensor));
  if (plan.first_call)
    json["first_call"] = {{"inputs", inputs_to_json(plan.first_call->inputs)},
                          {"outputs", to_json(plan.first_call->outputs)},
                          {"difference", plan.first_call->difference}};
  for (const PlanParameter& parameter : plan.parameters) {
    Json entry = {
        {"name", parameter.name}, {"tensor", parameter.tensor}, {"kind", name_of(parameter.kind)}};
    if (parameter.is_frozen) entry["frozen"] = true;
    if (parameter.is_read) entry["read"] = true;
    json["parameters"].push_back(std::move(entry));
  }
  for (const PlanKernel& kernel : plan.kernels) json["kernels"].push_back(kernel_to_json(kernel));
  for (const PlanStep& step : plan.steps) {
    Json entry = {{"phase", name_of(step.phase)}, {"line", step.line}};
    if (!step.choices.empty()) entry["choices"] = step.choices;
    std::visit(StepToJson{entry}, step.action);
    json["steps"].push_back(std::move(entry));
  }
  for (const StreamOrder& order : plan.orders)
    json["orders"].push_back({{"phase", name_of(order.phase)},
                              {"before", order.before},
                              {"kind", name_of(order.kind)},
                              {"stream", order.stream},
                              {"event", order.event}});
  return json;
}

}  // namespace tritonsmith::gym::plan
