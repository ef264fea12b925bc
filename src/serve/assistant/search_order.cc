#include "serve/assistant/search_order.h"

#include "curriculum/suite.h"
#include "gym/api/judge.h"
#include "serve/assistant/order_tasks.h"

namespace tritonsmith::serve::assistant {
namespace {

constexpr std::size_t kMostSource = std::size_t{1} << 20, kMostTitle = 200;  // in bytes
constexpr std::size_t kMostCalls = 16, kMostCall = 4096;

}  // namespace

Fields<SearchOrder> SearchOrder::fields() {
  using C = SearchOrder;
  constexpr double day = 86400;
  return {field("kind", &C::kind, "The kind of the order: write (a search) or judge (one kernel)."),
          field("model", &C::model, "The model that writes. Empty: the server's first one."),
          field("title", &C::title, "The name that people see."),
          field("source", &C::source,
                "The source of the module: Model, get_inputs and get_init_inputs."),
          field("kernel", &C::kernel, "The source that defines ModelNew, where the kind is judge."),
          field("name", &C::name,
                "The class or function of the source. Empty: Model, in KernelBench's format."),
          field("inputs", &C::inputs,
                "The arguments of each call, as --inputs has them. A kernel must be right for all. "
                "Empty: what get_inputs returns."),
          field("init", &C::init, "The constructor's arguments, as --init has them."),
          field("dtype", &C::dtype, "Converts the module's weights to this type."),
          field("policy", &C::policy, "What PyTorch may still compute: strict, fused or open."),
          field("backend", &C::backend, "Where kernels run: auto, replay (GPU) or evaluate (CPU)."),
          field("enough", &C::enough,
                "When the search ends: first (at the first accepted kernel) or all (when its "
                "limits are reached)."),
          field("strategy", &C::strategy,
                "How attempts follow from earlier ones: sequential, parallel, beam, evolution or "
                "branching."),
          field("conversations", &C::conversations,
                "How many conversations are tried. The first one is greedy.", between(1, 4096)),
          field("turns", &C::turns, "How many turns a conversation has.", between(1, 16)),
          field("trials", &C::trials, "On how many inputs each kernel is tried.", between(1, 32)),
          field("baselines", &C::baselines,
                "Other ways to time the module on a GPU: eager, torch_compile."),
          field("tune", &C::tune,
                "How many variants of the best kernel are judged at the end, with other block "
                "sizes, warps and stages. They need a GPU.",
                between(0, 256)),
          field("seconds", &C::seconds, "The time limit for the whole search.", between(1.0, day)),
          field("light", &C::light,
                "The search ends when the best kernel reaches this share of the speed of light. 0: "
                "never.",
                between(0.0, 1.0)),
          field("patience", &C::patience,
                "The search ends after this many attempts without a better kernel. 0: never.",
                at_least(0)),
          field("temperature", &C::temperature, "The temperature of the sampled conversations.",
                between(0.0, 100.0)),
          field("seed", &C::seed, "Every random choice follows from this seed.")};
}

Json to_json(const SearchOrder& order) {
  Json json = Json::object();
  for (const auto& [name, value] : settings_of(order)) json[name] = value;
  return json;
}

Result<SearchOrder> order_from_json(const Json& json, SearchOrder defaults) {
  if (!json.is_object()) return fail("the order must be a JSON object");
  Settings settings;
  for (const auto& [name, value] : json.items()) settings.emplace_back(name, value);
  TRY(apply_settings(defaults, settings, "order"));
  return defaults;
}

Status check_order(const SearchOrder& order) {
  if (order.title.size() > kMostTitle) return fail("title may have at most {} bytes", kMostTitle);
  if (order.source.size() > kMostSource || order.kernel.size() > kMostSource)
    return fail("a source may have {} bytes at most", kMostSource);
  if (order.inputs.size() > kMostCalls) return fail("inputs may have at most {} calls", kMostCalls);
  for (const std::string& text : order.inputs)
    if (text.size() > kMostCall)
      return fail("each call in inputs may have at most {} bytes", kMostCall);
  for (const std::string* text : {&order.model, &order.name, &order.init, &order.dtype})
    if (text->size() > kMostCall)
      return fail("model, name, init and dtype may have at most {} bytes each", kMostCall);
  TRY(gym::api::check_baselines(order.baselines));
  if (order.has_calls())
    TRY_WITHIN("the module", tasks_of_order(order));
  else
    TRY_WITHIN("the module", curriculum::check_task_source(order.source));
  if (order.kind == SearchKind::judge && order.kernel.find("ModelNew") == std::string::npos)
    return fail("the kernel must define ModelNew");
  return ok();
}

}  // namespace tritonsmith::serve::assistant
