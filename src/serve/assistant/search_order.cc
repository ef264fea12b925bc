#include "serve/assistant/search_order.h"

#include "curriculum/suite.h"

namespace tritonsmith::serve::assistant {
namespace {

constexpr std::size_t kMostSource = std::size_t{1} << 20, kMostTitle = 200;  // in bytes

}  // namespace

Fields<SearchOrder> SearchOrder::fields() {
  using C = SearchOrder;
  constexpr double day = 86400;
  return {
      field("kind", &C::kind, "write or judge"),
      field("title", &C::title, "a name for people"),
      field("source", &C::source, "the module: Model, get_inputs, get_init_inputs"),
      field("kernel", &C::kernel, "of judge: the source that defines ModelNew"),
      field("policy", &C::policy, "what PyTorch may still compute: strict, fused, open"),
      field("backend", &C::backend, "where kernels run: auto, replay, evaluate"),
      field("enough", &C::enough, "first: stop at the first accepted kernel; all: go on"),
      field("strategy", &C::strategy,
            "sequential, parallel, beam, evolution or branching (docs/search.md)"),
      field("conversations", &C::conversations, "the first one greedy", between(1, 256)),
      field("turns", &C::turns, "of a conversation", between(1, 16)),
      field("trials", &C::trials, "inputs that each kernel is tried on", between(1, 32)),
      field("seconds", &C::seconds, "for the whole search", between(1.0, day)),
      field("light", &C::light, "stop at this share of the speed of light; 0: never",
            between(0.0, 1.0)),
      field("patience", &C::patience,
            "stop after so many attempts that brought nothing better; 0: never", at_least(0)),
      field("temperature", &C::temperature, "of the sampled conversations", between(0.0, 100.0)),
      field("seed", &C::seed, "every random choice follows from it")};
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
  if (order.title.size() > kMostTitle) return fail("title: at most {} bytes", kMostTitle);
  if (order.source.size() > kMostSource || order.kernel.size() > kMostSource)
    return fail("a source may have {} bytes at most", kMostSource);
  TRY_WITHIN("the module", curriculum::check_task_source(order.source));
  if (order.kind == SearchKind::judge && order.kernel.find("ModelNew") == std::string::npos)
    return fail("the kernel must define ModelNew");
  return ok();
}

}  // namespace tritonsmith::serve::assistant
