#include "train/experience/experience_exchange.h"

#include <algorithm>

namespace tritonsmith::train {
namespace {

Json to_json(const Span& span) { return {span.begin, span.end}; }

Result<Span> span_from_json(const Json& json) {
  if (!json.is_array() || json.size() != 2 || !json[0].is_number_unsigned() ||
      !json[1].is_number_unsigned())
    return fail("a span is two numbers");
  return Span{.begin = json[0].get<std::size_t>(), .end = json[1].get<std::size_t>()};
}

// Converts a kernel without its source, which the sample holds too.
Json spans_to_json(const Kernel& kernel) {
  Json findings = Json::array();
  for (const Finding& finding : kernel.findings) findings.push_back(tritonsmith::to_json(finding));
  return {{"code_bytes", to_json(kernel.code_bytes)},
          {"code_tokens", to_json(kernel.code_tokens)},
          {"thinking_bytes", to_json(kernel.thinking_bytes)},
          {"thinking_tokens", to_json(kernel.thinking_tokens)},
          {"findings", std::move(findings)}};
}

Result<Kernel> kernel_from_json(const Json& json, std::string source) {
  JsonReader reader(json);
  Kernel kernel{.source = std::move(source)};
  TRY_ASSIGN(kernel.code_bytes, span_from_json(reader.array("code_bytes")));
  TRY_ASSIGN(kernel.code_tokens, span_from_json(reader.array("code_tokens")));
  TRY_ASSIGN(kernel.thinking_bytes, span_from_json(reader.array("thinking_bytes")));
  TRY_ASSIGN(kernel.thinking_tokens, span_from_json(reader.array("thinking_tokens")));
  for (const Json& each : reader.array("findings")) {
    TRY_ASSIGN(Finding finding, finding_from_json(each));
    kernel.findings.push_back(std::move(finding));
  }
  TRY(reader.status());
  return kernel;
}

}  // namespace

std::string to_bytes(const Experience& experience) {
  Json samples = Json::array();
  for (const JudgedSample& judged : experience.samples)
    samples.push_back(
        {{"sample", tritonsmith::to_json(judged.sample)}, {"spans", spans_to_json(judged.kernel)}});
  std::string bytes;
  Json::to_cbor({{"samples", std::move(samples)},
                 {"generate_seconds", experience.generate_seconds},
                 {"wait_seconds", experience.wait_seconds}},
                bytes);
  return bytes;
}

Result<Experience> experience_from_bytes(std::string_view bytes) {
  const Json json = Json::from_cbor(bytes, /*strict=*/true, /*allow_exceptions=*/false);
  if (json.is_discarded()) return fail("another rank's samples are damaged");
  JsonReader reader(json);
  Experience experience{.samples = {},
                        .generate_seconds = reader.number("generate_seconds"),
                        .wait_seconds = reader.number("wait_seconds")};
  for (const Json& each : reader.array("samples")) {
    JsonReader member(each);
    TRY_ASSIGN(Sample sample, sample_from_json(member.object("sample")));
    TRY_ASSIGN(Kernel kernel, kernel_from_json(member.object("spans"), sample.kernel));
    experience.samples.push_back({.sample = std::move(sample), .kernel = std::move(kernel)});
  }
  TRY(reader.status());
  return experience;
}

Result<Experience> experience_of_all(Experience mine, distributed::Ranks& ranks) {
  if (ranks.is_alone()) return mine;
  TRY_ASSIGN(const auto all, ranks.gather(to_bytes(mine), "the samples"));
  Experience experience;
  for (const std::string& bytes : all) {
    TRY_ASSIGN(Experience one, experience_from_bytes(bytes));
    const double generating = std::max(experience.generate_seconds, one.generate_seconds);
    const double waiting = std::max(experience.wait_seconds, one.wait_seconds);
    experience.append(std::move(one));
    experience.generate_seconds = generating;
    experience.wait_seconds = waiting;
  }
  experience.activity = mine.activity;
  experience.spans = std::move(mine.spans);
  return experience;
}

}  // namespace tritonsmith::train
