// The C interface of the jail for Python's ctypes. JSON comes in, written by our own C++, and JSON
// goes out. The functions return 0 on success. Otherwise the answer's "why" gives the reason.
#include <cstring>
#include <nlohmann/json.hpp>

#include "gym/sandbox/jail.h"
#include "gym/sandbox/python_memory.h"
#include "gym/sandbox/sandbox_root.h"

namespace tritonsmith::gym::sandbox {
namespace {

using Json = nlohmann::json;

JailProfile profile_from(const Json& json) {
  JailProfile profile;
  profile.role = json.value("role", "capture") == "compile" ? JailRole::compile : JailRole::capture;
  profile.uid = json.value("uid", profile.uid);
  profile.readable = json.value("readable", profile.readable);
  profile.writable = json.value("writable", profile.writable);
  profile.executable = json.value("executable", profile.executable);
  profile.keep_fds = json.value("keep_fds", profile.keep_fds);
  profile.parent_pid = json.value("parent_pid", profile.parent_pid);
  profile.processes = json.value("processes", profile.processes);
  profile.open_files = json.value("open_files", profile.open_files);
  profile.file_bytes = json.value("file_bytes", profile.file_bytes);
  profile.cpu_seconds = json.value("cpu_seconds", profile.cpu_seconds);
  profile.memory_bytes = json.value("memory_bytes", profile.memory_bytes);
  for (const Json& layer : json.value("outside", Json::array()))
    profile.outside.push_back({.name = layer.at("name"),
                               .held = layer.at("why").get<std::string>().empty(),
                               .why = layer.at("why")});
  profile.required = json.value("required", profile.required);
  return profile;
}

int answer(const Json& json, char* out, std::size_t out_bytes) {
  const std::string text = json.dump();
  if (text.size() + 1 > out_bytes) return 1;
  std::memcpy(out, text.c_str(), text.size() + 1);
  return json.value("why", "").empty() ? 0 : 1;
}

}  // namespace
}  // namespace tritonsmith::gym::sandbox

#define TRITONSMITH_EXPORT extern "C" __attribute__((visibility("default")))

TRITONSMITH_EXPORT int tritonsmith_enter_jail(const char* profile, char* out,
                                              std::size_t out_bytes) {
  using namespace tritonsmith::gym::sandbox;
  const JailReport report = enter_jail(profile_from(Json::parse(profile)));
  Json missing = Json::object();
  for (const auto& layer : report.layers)
    if (!layer.held) missing[layer.name] = layer.why;
  return answer({{"held", report.held()}, {"missing", missing}, {"why", report.refusal}}, out,
                out_bytes);
}

TRITONSMITH_EXPORT int tritonsmith_enter_sandbox_root(const char* plan, char* out,
                                                      std::size_t out_bytes) {
  using namespace tritonsmith::gym::sandbox;
  const Json json = Json::parse(plan);
  const SandboxRoot root{.staging = json.at("staging"), .readable = json.at("readable")};
  return answer({{"why", enter_sandbox_root(root)}}, out, out_bytes);
}

TRITONSMITH_EXPORT int tritonsmith_make_private_folder(const char* path, unsigned uid,
                                                       unsigned long long bytes) {
  return tritonsmith::gym::sandbox::make_private_folder(path, uid, bytes).empty() ? 0 : 1;
}

TRITONSMITH_EXPORT void tritonsmith_remove_private_folder(const char* path) {
  tritonsmith::gym::sandbox::remove_private_folder(path);
}

// `set_allocator` is Python's PyObject_SetArenaAllocator.
TRITONSMITH_EXPORT void tritonsmith_keep_memory(
    void (*set_allocator)(tritonsmith::gym::sandbox::BlockAllocator*)) {
  auto allocator = tritonsmith::gym::sandbox::keeping_allocator();
  set_allocator(&allocator);
}
