// evaluate_run MANIFEST: evaluates the launches that a JSON manifest lists, and prints one line of
// JSON for each. testing/compare_with_interpreter.py uses it to compare the evaluator with Triton's
// interpreter, and it serves to try a kernel by hand.
//
//   {"launches": [{"name": "add", "ttir": "add.ttir", "data": "add.bin", "grid": [4, 1, 1],
//                  "buffers": [{"bytes": 4096, "element_bytes": 4}],
//                  "arguments": [{"buffer": 0, "offset": 0}, {"int": 5}, {"float": 0.5}]}]}
//
// `data` holds the buffers one after the other. Afterwards it holds what the kernel left in them.
#include <cstring>
#include <iostream>

#include "base/file.h"
#include "base/json.h"
#include "gym/triton_ir/kernel_program.h"

namespace tritonsmith::gym::triton_ir {
namespace {

Result<LaunchArgument> argument_of(const Json& json) {
  JsonReader reader(json);
  LaunchArgument argument;
  if (reader.has("buffer")) {
    argument = PointerArgument{.buffer = static_cast<int>(reader.integer("buffer")),
                               .byte_offset = reader.integer("offset", 0)};
  } else if (reader.has("int")) {
    argument = reader.integer("int");
  } else {
    argument = reader.number("float");
  }
  TRY(reader.status());
  return argument;
}

Json describe(const LaunchReport& report) {
  Json json = {{"status", name_of(report.status)},
               {"message", report.message},
               {"line", report.at.line},
               {"op_elements", report.op_elements},
               {"written", report.elements_written}};
  for (const Violation& violation : report.violations)
    json["violations"].push_back({{"message", violation.message}, {"times", violation.times}});
  for (const DoubleWrite& write : report.double_writes)
    json["double_writes"].push_back(
        {{"tensor", write.tensor}, {"elements", write.elements}, {"line", write.at.line}});
  return json;
}

Result<Json> run_launch(const Json& json) {
  JsonReader reader(json);
  TRY_ASSIGN(std::string ttir, read_file(reader.string("ttir")));
  TRY_ASSIGN(std::string data, read_file(reader.string("data")));
  Launch launch;
  const Json& grid = reader.array("grid");
  for (std::size_t i = 0; i < std::min<std::size_t>(grid.size(), 3); ++i)
    launch.grid[i] = grid[i].get<std::int64_t>();
  std::size_t at = 0;
  for (const Json& item : reader.array("buffers")) {
    JsonReader buffer(item);
    const auto bytes = static_cast<std::size_t>(buffer.integer("bytes"));
    if (bytes > data.size() - at) return fail("{}: too short", reader.string("data"));
    launch.buffers.push_back(
        {.data = reinterpret_cast<std::byte*>(data.data()) + at,
         .bytes = bytes,
         .tensor = static_cast<int>(launch.buffers.size()),
         .element_bytes = static_cast<std::size_t>(buffer.integer("element_bytes"))});
    TRY(buffer.status());
    at += bytes;
  }
  for (const Json& item : reader.array("arguments")) {
    TRY_ASSIGN(LaunchArgument argument, argument_of(item));
    launch.arguments.push_back(argument);
  }
  TRY(reader.status());
  Stopwatch parsing;
  TRY_ASSIGN(KernelProgram program, parse_ttir(ttir));
  const double parse_ms = parsing.milliseconds();
  Stopwatch running;
  Json result = describe(evaluate(program, launch));
  result["run_ms"] = running.milliseconds();
  result["parse_ms"] = parse_ms;
  result["register_bytes"] = program.register_bytes();
  TRY(write_file_atomic(reader.string("data"), data));
  return result;
}

Status run(const char* manifest_path) {
  TRY_ASSIGN(std::string text, read_file(manifest_path));
  TRY_ASSIGN(Json manifest, parse_json(text));
  for (const Json& launch : manifest.at("launches")) {
    auto result = run_launch(launch);
    Json line = result ? *result : Json{{"status", "error"}, {"message", result.error().message}};
    line["name"] = launch.value("name", "");
    std::cout << to_line(line) << "\n" << std::flush;
  }
  return ok();
}

}  // namespace
}  // namespace tritonsmith::gym::triton_ir

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: evaluate_run MANIFEST.json\n";
    return 2;
  }
  auto status = tritonsmith::gym::triton_ir::run(argv[1]);
  if (status) return 0;
  std::cerr << status.error().message << "\n";
  return 1;
}
