// CompileCache: the results of compilations, by content. The key covers the compiler's version and
// every input of the compiler. The compiler does not see where a kernel came from (the `loc`s of
// its IR), so equal kernels share one entry. The cache keeps the newest entries in memory. With a
// directory it also keeps cubins there. One thread.
#pragma once

#include <filesystem>
#include <list>
#include <string>
#include <unordered_map>

#include "gym/compile/compile_request.h"

namespace tritonsmith::gym::compile {

// Returns the IR text without location aliases and `loc(...)`. Text inside strings stays. Fails
// where the text is not as Triton's printer writes it. Otherwise this function could remove, as a
// location, text that a compiler reads as code.
Result<std::string> without_locations(std::string_view ir);

// Returns the line of the first location that names a file, which is where the kernel begins, or 0
// if there is none.
int first_line(std::string_view ir);

// The request's IR must have no locations.
std::string compile_key(const CompileRequest& request, std::string_view compiler_version);

class CompileCache {
 public:
  using Entry = std::variant<CompiledKernel, sandbox::CandidateFailure>;

  CompileCache(std::size_t capacity, std::filesystem::path directory)
      : capacity_(capacity), directory_(std::move(directory)) {}

  std::optional<Entry> find(const std::string& key);
  void add(const std::string& key, const Entry& entry);

 private:
  std::optional<Entry> find_in_memory(const std::string& key);
  std::optional<CompiledKernel> find_on_disk(const std::string& key) const;
  void remember(const std::string& key, Entry entry);
  std::filesystem::path file_of(const std::string& key) const;

  struct KeyedEntry {
    std::string key;
    Entry entry;
  };
  std::size_t capacity_;
  std::filesystem::path directory_;
  std::list<KeyedEntry> newest_first_;
  std::unordered_map<std::string, std::list<KeyedEntry>::iterator> by_key_;
};

// Decodes base64 as the compile worker sends cubins. Returns nothing for any other text.
std::optional<std::string> from_base64(std::string_view text);
std::string to_base64(std::string_view bytes);
Json to_json(const CompiledKernel& kernel);
Result<CompiledKernel> compiled_kernel_from_json(const Json& json);

}  // namespace tritonsmith::gym::compile
