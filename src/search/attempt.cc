#include "search/attempt.h"

#include <fmt/format.h>

#include <algorithm>

namespace tritonsmith::search {

std::string_view trimmed(std::string_view kernel) {
  constexpr std::string_view space = " \t\r\n";
  kernel.remove_prefix(std::min(kernel.find_first_not_of(space), kernel.size()));
  return kernel.substr(0, kernel.find_last_not_of(space) + 1);
}

std::string content_of(const Attempt& attempt) {
  std::string content(trimmed(attempt.kernel));
  // This one is judged although an equal kernel was.
  if (attempt.ask.kind == AskKind::show) content += "\n# PTX is shown";
  for (const auto& [name, text] : attempt.ptx)
    content += fmt::format("\n# PTX of {}\n{}", name, trimmed(text));
  return content;
}

Json to_json(const Ask& ask) {
  Json json = {{"number", ask.number},
               {"kind", name_of(ask.kind)},
               {"round", ask.round},
               {"draw", ask.draw}};
  if (ask.chain != kNone) json["chain"] = ask.chain;
  if (ask.parent != kNone) json["parent"] = ask.parent;
  if (ask.other != kNone) json["other"] = ask.other;
  if (!ask.idea.empty()) json["idea"] = ask.idea;
  if (!ask.kernel.empty()) json["kernel"] = ask.kernel;
  if (!ask.edited.empty()) json["edited"] = ask.edited;
  if (ask.is_greedy) json["greedy"] = true;
  return json;
}

Result<Ask> ask_from_json(const Json& json) {
  JsonReader reader(json);
  Ask ask{.number = static_cast<int>(reader.integer("number")),
          .kind = reader.enumerated<AskKind>("kind"),
          .round = static_cast<int>(reader.integer("round")),
          .chain = static_cast<int>(reader.integer("chain", kNone)),
          .parent = static_cast<int>(reader.integer("parent", kNone)),
          .other = static_cast<int>(reader.integer("other", kNone)),
          .idea = reader.string("idea", ""),
          .kernel = reader.string("kernel", ""),
          .edited = reader.string("edited", ""),
          .is_greedy = reader.boolean("greedy", false),
          .draw = static_cast<std::uint64_t>(reader.integer("draw"))};
  TRY(reader.status());
  return ask;
}

Json to_json(const Usage& usage) {
  return {{"prompt_tokens", usage.prompt_tokens},
          {"cached_prompt_tokens", usage.cached_prompt_tokens},
          {"completion_tokens", usage.completion_tokens},
          {"reasoning_tokens", usage.reasoning_tokens}};
}

Result<Usage> usage_from_json(const Json& json) {
  JsonReader reader(json);
  const Usage usage{.prompt_tokens = reader.integer("prompt_tokens"),
                    .cached_prompt_tokens = reader.integer("cached_prompt_tokens", 0),
                    .completion_tokens = reader.integer("completion_tokens"),
                    .reasoning_tokens = reader.integer("reasoning_tokens", 0)};
  TRY(reader.status());
  return usage;
}

CountsAs counts_as(const Attempt& attempt) {
  if (is_below_triton(attempt.ask.kind) || attempt.ask.kind == AskKind::ideas)
    return CountsAs::nothing;
  if (attempt.kernel.empty()) return CountsAs::without_kernel;
  return attempt.same_as == kNone ? CountsAs::kernel : CountsAs::repeat;
}

bool is_better(const Attempt& a, const Attempt& b) {
  const Verdict &x = a.verdict, &y = b.verdict;
  if (x.accepted != y.accepted) return x.accepted;
  if (!x.accepted) return x.stage > y.stage;
  if (x.speedup != y.speedup) return x.speedup > y.speedup;
  return !x.speedup && a.kernel.size() < b.kernel.size();
}

}  // namespace tritonsmith::search
