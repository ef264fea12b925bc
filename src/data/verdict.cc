#include "data/verdict.h"

#include <algorithm>

namespace tritonsmith {

std::string class_name(const VerdictError& error) {
  if (error.error_class == ErrorClass::unknown && !error.unknown_class.empty())
    return error.unknown_class;
  return std::string(name_of(error.error_class));
}

void set_class(VerdictError& error, std::string name) {
  const Result<ErrorClass> known = enum_from_name<ErrorClass>(name);
  error.error_class = known.value_or(ErrorClass::unknown);
  error.unknown_class = known ? std::string() : std::move(name);
}

Json to_json(const Clocks& clocks) {
  return {{"sm_mhz", clocks.sm_mhz}, {"memory_mhz", clocks.memory_mhz}};
}

Result<Clocks> clocks_from_json(const Json& json) {
  JsonReader reader(json);
  const Clocks clocks{.sm_mhz = static_cast<int>(reader.integer("sm_mhz")),
                      .memory_mhz = static_cast<int>(reader.integer("memory_mhz"))};
  TRY(reader.status());
  return clocks;
}

Json to_json(const VerdictError& error) {
  return {{"class", class_name(error)},
          {"message", error.message},
          {"excerpt", error.excerpt},
          {"line", error.line}};
}

Result<VerdictError> error_from_json(const Json& json) {
  JsonReader reader(json);
  VerdictError error{.message = reader.string("message", ""),
                     .excerpt = reader.string("excerpt", ""),
                     .line = static_cast<int>(reader.integer("line", 0))};
  set_class(error, reader.string("class"));
  TRY(reader.status());
  return error;
}

Json to_json(const Timing& timing) {
  Json json = {{"median", timing.median},
               {"mean", timing.mean},
               {"p10", timing.p10},
               {"p90", timing.p90},
               {"n", timing.n}};
  if (timing.median_high > 0) {
    json["median_low"] = timing.median_low;
    json["median_high"] = timing.median_high;
  }
  return json;
}

std::string tolerance_words(const Numerics& numerics) {
  if (numerics.tolerance <= 0) return {};
  return fmt::format("an element may differ by {0:.3g} and {0:.3g} of its value",
                     numerics.tolerance);
}

Json to_json(const Numerics& numerics) {
  Json json = {
      {"max_abs", numerics.max_abs}, {"max_rel", numerics.max_rel}, {"trials", numerics.trials}};
  if (numerics.tolerance_extension > 0) json["tolerance_extension"] = numerics.tolerance_extension;
  if (numerics.tolerance > 0) json["tolerance"] = numerics.tolerance;
  return json;
}

Result<Numerics> numerics_from_json(const Json& json) {
  JsonReader reader(json);
  const double as_leeway = reader.number("leeway", 0);  // the key's old name
  const Numerics numerics{.max_abs = reader.number("max_abs", 0),
                          .max_rel = reader.number("max_rel", 0),
                          .trials = static_cast<int>(reader.integer("trials", 0)),
                          .tolerance_extension = reader.number("tolerance_extension", as_leeway),
                          .tolerance = reader.number("tolerance", 0)};
  TRY(reader.status());
  return numerics;
}

Result<Timing> timing_from_json(const Json& json) {
  JsonReader reader(json);
  Timing timing{.median = reader.number("median"),
                .mean = reader.number("mean"),
                .p10 = reader.number("p10"),
                .p90 = reader.number("p90"),
                .n = static_cast<int>(reader.integer("n")),
                .median_low = reader.number("median_low", 0),
                .median_high = reader.number("median_high", 0)};
  TRY(reader.status());
  return timing;
}

Json to_json(const NamedTimings& timings) {
  Json json = Json::object();
  for (const auto& [name, timing] : timings) json[name] = to_json(timing);
  return json;
}

Result<NamedTimings> named_timings_from_json(const Json& json) {
  if (!json.is_object()) return fail("timings by name are an object");
  NamedTimings timings;
  for (const auto& [name, value] : json.items()) {
    TRY_ASSIGN(const Timing timing, timing_from_json(value));
    timings.emplace_back(name, timing);
  }
  return timings;
}

namespace {

Json to_json(const KernelReport& kernel) {
  Json json = {{"name", kernel.name},           {"launches", kernel.launches},
               {"device_us", kernel.device_us}, {"registers", kernel.registers},
               {"spills", kernel.spills},       {"shared_bytes", kernel.shared_bytes}};
  if (!kernel.ptx.empty()) json["ptx"] = kernel.ptx;
  if (!kernel.ptx_name.empty()) json["ptx_name"] = kernel.ptx_name;
  return json;
}

Result<KernelReport> kernel_from_json(const Json& json) {
  JsonReader reader(json);
  KernelReport kernel{.name = reader.string("name"),
                      .launches = static_cast<int>(reader.integer("launches", 0)),
                      .device_us = reader.number("device_us", 0),
                      .registers = static_cast<int>(reader.integer("registers", 0)),
                      .spills = static_cast<int>(reader.integer("spills", 0)),
                      .shared_bytes = static_cast<int>(reader.integer("shared_bytes", 0)),
                      .ptx = reader.string("ptx", ""),
                      .ptx_name = reader.string("ptx_name", "")};
  TRY(reader.status());
  return kernel;
}

Result<AtenReport> aten_from_json(const Json& json) {
  JsonReader reader(json);
  AtenReport aten{.op = reader.string("op"),
                  .calls = static_cast<int>(reader.integer("calls", 0)),
                  .device_us = reader.number("device_us", 0)};
  TRY(reader.status());
  return aten;
}

Json to_json(const Environment& environment) {
  Json json = {{"target", environment.target}, {"gpu", environment.gpu},
               {"driver", environment.driver}, {"torch", environment.torch},
               {"triton", environment.triton}, {"jail", environment.jail_layers}};
  if (environment.clocks) json["clocks"] = tritonsmith::to_json(*environment.clocks);
  return json;
}

Result<Environment> environment_from_json(const Json& json) {
  JsonReader reader(json);
  Environment environment{.target = reader.string("target", ""),
                          .gpu = reader.string("gpu", ""),
                          .driver = reader.string("driver", ""),
                          .torch = reader.string("torch", ""),
                          .triton = reader.string("triton", ""),
                          .jail_layers = reader.strings("jail")};
  if (reader.has("clocks")) {
    TRY_ASSIGN(environment.clocks, clocks_from_json(json["clocks"]));
  }
  return environment;
}

template <typename T, typename Parse>
Status read_list(const Json& list, std::vector<T>& out, Parse parse) {
  for (const Json& item : list) {
    TRY_ASSIGN(T value, parse(item));
    out.push_back(std::move(value));
  }
  return ok();
}

Status read_parts(JsonReader& reader, const Json& json, Verdict& verdict) {
  TRY(read_list(reader.array("findings"), verdict.findings, finding_from_json));
  TRY(read_list(reader.array("kernels"), verdict.kernels, kernel_from_json));
  TRY(read_list(reader.array("aten"), verdict.aten, aten_from_json));
  if (reader.has("error")) {
    TRY_ASSIGN(verdict.error, error_from_json(json["error"]));
  }
  if (reader.has("time_ms")) {
    TRY_ASSIGN(verdict.time_ms, timing_from_json(json["time_ms"]));
  }
  if (reader.has("reference_ms")) {
    TRY_ASSIGN(verdict.reference_ms, timing_from_json(json["reference_ms"]));
  }
  if (reader.has("baselines")) {
    TRY_ASSIGN(verdict.baselines, named_timings_from_json(json["baselines"]));
  }
  if (reader.has("speed_of_light")) {
    TRY_ASSIGN(verdict.speed_of_light, speed_of_light_from_json(json["speed_of_light"]));
  }
  if (reader.has("numerics")) {
    TRY_ASSIGN(verdict.numerics, numerics_from_json(json["numerics"]));
  }
  for (const Json& entry : reader.array("stage_ms"))
    if (entry.is_array() && entry.size() == 2 && entry[0].is_string() && entry[1].is_number())
      verdict.stage_ms.emplace_back(entry[0].get<std::string>(), entry[1].get<double>());
  return ok();
}

}  // namespace

bool has_rejecting_finding(const Verdict& verdict) {
  return std::ranges::any_of(verdict.findings,
                             [](const Finding& f) { return f.severity == Severity::reject; });
}

std::optional<double> speedup_over(const Verdict& verdict, std::string_view baseline) {
  const auto at = std::ranges::find(verdict.baselines, baseline, &NamedTimings::value_type::first);
  if (at == verdict.baselines.end() || !verdict.time_ms || verdict.time_ms->median <= 0)
    return std::nullopt;
  return at->second.median / verdict.time_ms->median;
}

Json to_json(const Verdict& verdict) {
  Json json = {{"schema", 1},
               {"task", verdict.task_id},
               {"stage", name_of(verdict.stage)},
               {"backend", name_of(verdict.backend)},
               {"policy", name_of(verdict.policy)},
               {"comparison", name_of(verdict.comparison)},
               {"reference", name_of(verdict.reference)},
               {"compiled", verdict.compiled},
               {"correct", verdict.correct},
               {"accepted", verdict.accepted},
               {"findings", Json::array()},
               {"kernels", Json::array()},
               {"aten", Json::array()},
               {"stage_ms", Json::array()},
               {"environment", to_json(verdict.environment)},
               {"fault", name_of(verdict.fault)},
               {"from_store", verdict.from_store}};
  for (const Finding& finding : verdict.findings) json["findings"].push_back(to_json(finding));
  for (const KernelReport& kernel : verdict.kernels) json["kernels"].push_back(to_json(kernel));
  for (const AtenReport& aten : verdict.aten)
    json["aten"].push_back({{"op", aten.op}, {"calls", aten.calls}, {"device_us", aten.device_us}});
  for (const auto& [stage, ms] : verdict.stage_ms) json["stage_ms"].push_back({stage, ms});
  if (verdict.error) json["error"] = to_json(*verdict.error);
  if (verdict.numerics) json["numerics"] = to_json(*verdict.numerics);
  if (verdict.time_ms) json["time_ms"] = to_json(*verdict.time_ms);
  if (verdict.reference_ms) json["reference_ms"] = to_json(*verdict.reference_ms);
  if (verdict.speedup) json["speedup"] = *verdict.speedup;
  if (!verdict.baselines.empty()) json["baselines"] = to_json(verdict.baselines);
  if (verdict.coverage) json["coverage"] = *verdict.coverage;
  if (verdict.speed_of_light) json["speed_of_light"] = to_json(*verdict.speed_of_light);
  if (verdict.peak_bytes > 0) json["peak_bytes"] = verdict.peak_bytes;
  if (verdict.reference_peak_bytes > 0) json["reference_peak_bytes"] = verdict.reference_peak_bytes;
  return json;
}

Result<Verdict> verdict_from_json(const Json& json) {
  JsonReader reader(json);
  Verdict verdict;
  verdict.task_id = reader.string("task", "");
  verdict.stage = reader.enumerated<Stage>("stage");
  verdict.backend = reader.enumerated<Backend>("backend");
  verdict.policy = reader.enumerated<Policy>("policy");
  verdict.comparison = reader.enumerated("comparison", std::optional(Comparison::budget));
  verdict.reference = reader.enumerated("reference", std::optional(ReferenceKind::replay));
  verdict.compiled = reader.boolean("compiled");
  verdict.correct = reader.boolean("correct");
  verdict.accepted = reader.boolean("accepted");
  TRY_ASSIGN(verdict.environment, environment_from_json(reader.object("environment")));
  verdict.fault = reader.enumerated("fault", std::optional(Fault::none));
  verdict.from_store = reader.boolean("from_store", false);
  if (reader.has("speedup")) verdict.speedup = reader.number("speedup");
  if (reader.has("coverage")) verdict.coverage = reader.number("coverage");
  verdict.peak_bytes = reader.number("peak_bytes", 0);
  verdict.reference_peak_bytes = reader.number("reference_peak_bytes", 0);
  TRY(read_parts(reader, json, verdict));
  TRY(reader.status());
  return verdict;
}

}  // namespace tritonsmith
