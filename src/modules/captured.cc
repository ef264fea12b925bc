#include "modules/captured.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <tuple>

#include "base/config.h"
#include "base/file.h"

namespace tritonsmith::modules {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kSchema = 1;

Result<CapturedCall> call_from_json(const Json& json) {
  JsonReader reader(json);
  CapturedCall call{.text = reader.string("text"),
                    .problem = reader.string("problem", ""),
                    .note = reader.string("note", ""),
                    .calls = reader.integer("calls"),
                    .autocast = reader.string("autocast", ""),
                    .autocast_text = reader.string("autocast_text", "")};
  TRY(reader.status());
  return call;
}

bool is_of_same_kind(const CapturedModule& a, const CapturedModule& b) {
  const auto kind = [](const CapturedModule& each) {
    return std::tie(each.name, each.target, each.init, each.init_problem, each.dtype, each.given);
  };
  return kind(a) == kind(b);
}

void add_call(CapturedModule& module, const CapturedCall& call) {
  const auto same = std::ranges::find_if(module.inputs, [&](const CapturedCall& each) {
    return each.text == call.text && each.problem == call.problem;
  });
  if (same == module.inputs.end())
    module.inputs.push_back(call);
  else
    same->calls += call.calls;
}

bool is_meant(const CapturedModule& module, std::string_view name) {
  if (name == module.name || name == module.target) return true;
  const std::size_t colon = name.rfind(':');
  if (colon == std::string_view::npos || name.substr(colon + 1) != module.name) return false;
  // The package may have the name from a module of its own.
  std::string file(name.substr(0, colon));
  if (module.target.starts_with(file + ".")) return true;
  std::ranges::replace(file, '.', '/');
  return module.target == file + ".py:" + module.name || module.target.starts_with(file + "/");
}

Result<std::vector<CapturedModule>> read_capture_file(const fs::path& file) {
  TRY_ASSIGN(const std::string text, read_file(file));
  auto json = parse_json(text);
  if (!json || !json->is_object() || json->value("tritonsmith_capture", Json()) != kSchema)
    return fail("{}: no file of `tritonsmith capture`", file.string());
  JsonReader reader(*json);
  std::vector<CapturedModule> modules;
  for (const Json& each : reader.array("modules")) {
    auto module = captured_module_from_json(each);
    if (!module) return tl::unexpected(module.error().within(file.string()));
    modules.push_back(*std::move(module));
  }
  TRY(reader.status());
  return modules;
}

// Splits FILE:NUMBER. The number is 0 if there is none.
std::pair<fs::path, std::size_t> split_location(std::string_view location) {
  const std::size_t colon = location.rfind(':');
  std::size_t number = 0;
  if (colon != std::string_view::npos) {
    const std::string_view digits = location.substr(colon + 1);
    const auto [end, error] = std::from_chars(digits.begin(), digits.end(), number);
    if (error == std::errc() && end == digits.end() && number > 0)
      return {location.substr(0, colon), number};
  }
  return {location, 0};
}

// Returns the module that the location means: the one with the number, else the first of the
// target.
Result<CapturedModule> module_at(const fs::path& file, std::size_t number,
                                 std::string_view target) {
  TRY_ASSIGN(const auto modules, read_capture_file(file));
  if (number > modules.size())
    return fail("{} holds {} modules, none of number {}", file.string(), modules.size(), number);
  const std::string_view name = target.substr(target.rfind(':') + 1);
  if (number > 0) {
    if (modules[number - 1].name != name)
      return fail("{}: number {} is {} and not {}", file.string(), number, modules[number - 1].name,
                  name);
    return modules[number - 1];
  }
  for (const bool by_name : {false, true})
    for (const CapturedModule& each : modules)
      if (by_name ? each.name == name : each.target == target) return each;
  return fail("{} holds no call of {}; `tritonsmith capture --module {} -- ...` makes such a file",
              file.string(), target, name);
}

}  // namespace

Json to_json(const CapturedModule& module) {
  Json inputs = Json::array();
  for (const CapturedCall& call : module.inputs) {
    inputs.push_back({{"text", call.text},
                      {"problem", call.problem},
                      {"note", call.note},
                      {"calls", call.calls}});
    if (call.autocast.empty()) continue;
    inputs.back()["autocast"] = call.autocast;
    inputs.back()["autocast_text"] = call.autocast_text;
  }
  return {{"name", module.name},
          {"target", module.target},
          {"why_no_task", module.why_no_task},
          {"init", module.init},
          {"init_problem", module.init_problem},
          {"dtype", module.dtype},
          {"given", module.given},
          {"is_own", module.is_own},
          {"instances", module.instances},
          {"calls", module.calls},
          {"more", module.more},
          {"inputs", std::move(inputs)}};
}

Result<CapturedModule> captured_module_from_json(const Json& json) {
  JsonReader reader(json);
  CapturedModule module{.name = reader.string("name"),
                        .target = reader.string("target", ""),
                        .why_no_task = reader.string("why_no_task", ""),
                        .init = reader.string("init", ""),
                        .init_problem = reader.string("init_problem", ""),
                        .dtype = reader.string("dtype", ""),
                        .given = reader.strings("given"),
                        .is_own = reader.boolean("is_own", false),
                        .instances = reader.integer("instances"),
                        .calls = reader.integer("calls"),
                        .more = reader.integer("more", 0)};
  for (const Json& each : reader.array("inputs")) {
    TRY_ASSIGN(CapturedCall call, call_from_json(each));
    module.inputs.push_back(std::move(call));
  }
  TRY(reader.status());
  return module;
}

std::vector<CapturedModule> joined(const std::vector<CapturedModule>& modules) {
  std::vector<CapturedModule> result;
  for (const CapturedModule& each : modules) {
    auto into = std::ranges::find_if(
        result, [&](const CapturedModule& other) { return is_of_same_kind(each, other); });
    if (into == result.end()) {
      into = result.insert(into, each);
      into->inputs.clear();
      into->calls = into->instances = into->more = 0;
    }
    into->calls += each.calls;
    into->instances += each.instances;
    into->more += each.more;
    for (const CapturedCall& call : each.inputs) add_call(*into, call);
  }
  for (CapturedModule& each : result)
    std::ranges::stable_sort(each.inputs, std::greater(), &CapturedCall::calls);
  std::ranges::stable_sort(result, std::greater(), [](const CapturedModule& each) {
    return std::tuple(each.is_own, each.calls);
  });
  return result;
}

Result<std::vector<CapturedModule>> chosen_modules(std::vector<CapturedModule> modules,
                                                   const std::vector<std::string>& names) {
  if (names.empty()) return modules;
  std::set<std::string> known;
  for (const CapturedModule& each : modules) known.insert(each.name);
  for (const std::string& name : names)
    if (std::ranges::none_of(modules, [&](const auto& each) { return is_meant(each, name); }))
      return fail("the command called no {}; did you mean {}?", name,
                  nearest_name(name, {known.begin(), known.end()}));
  std::erase_if(modules, [&](const CapturedModule& each) {
    return std::ranges::none_of(names, [&](const auto& name) { return is_meant(each, name); });
  });
  return modules;
}

Status check_capture_file(const fs::path& file) {
  std::error_code ignored;
  if (!fs::exists(file, ignored) || read_capture_file(file)) return ok();
  return fail("{} exists and holds something else; name another file by --out", file.string());
}

Status write_capture_file(const fs::path& file, const std::vector<CapturedModule>& modules) {
  Json list = Json::array();
  for (const CapturedModule& each : modules) list.push_back(to_json(each));
  const Json json = {{"tritonsmith_capture", kSchema}, {"modules", std::move(list)}};
  return write_file_atomic(
      file, json.dump(1, ' ', false, nlohmann::detail::error_handler_t::replace) + "\n");
}

namespace {

// Says whether --dtype names autocast's type, by any of its names.
bool is_type(std::string_view dtype, std::string_view autocast) {
  if (dtype.starts_with("torch.")) dtype.remove_prefix(6);
  if (dtype == "bfloat16") dtype = "bf16";
  if (dtype == "float16" || dtype == "half") dtype = "fp16";
  return !autocast.empty() && dtype == autocast;
}

}  // namespace

Result<CapturedArguments> captured_arguments(std::string_view location, std::string_view target,
                                             const CapturedChoice& choice) {
  const auto [file, number] = split_location(location);
  TRY_ASSIGN(const CapturedModule module, module_at(file, number, target));
  if (!module.init_problem.empty() && !choice.has_init)
    return fail("{}: the constructor's arguments of {} are not in it, because {}; give --init",
                file.string(), module.name, module.init_problem);
  CapturedArguments arguments{.init = module.init, .dtype = module.dtype};
  std::string problem = "the call has failed";
  for (const CapturedCall& call : module.inputs) {
    if (!call.problem.empty()) {
      problem = call.problem;
    } else if (arguments.inputs.size() < choice.most_inputs) {
      arguments.inputs.push_back(is_type(choice.dtype, call.autocast) ? call.autocast_text
                                                                      : call.text);
    } else {
      ++arguments.left_out;
    }
  }
  if (arguments.inputs.empty())
    return fail("{}: no call of {} can be made again, because {}; give --inputs", file.string(),
                module.name, problem);
  return arguments;
}

}  // namespace tritonsmith::modules
