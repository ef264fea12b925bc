// CompileCache: what compiling a kernel gave, by content: by all that the compiler is told, and its
// version. It is told nothing of where a kernel came from (the `loc`s of its IR), so that equal
// kernels are one, and no text reaches it that the key leaves out. The newest entries are kept in
// memory; with a directory, cubins are also kept there. One thread.
#pragma once

#include <filesystem>
#include <list>
#include <string>
#include <unordered_map>

#include "gym/compile/compile_request.h"

namespace tritonsmith::gym::compile {

// IR text without location aliases and `loc(...)`; text within strings is left alone. Fails where
// something is not as Triton's printer writes it: what a compiler that reads the same text would
// take for code must not be taken for a location here.
Result<std::string> without_locations(std::string_view ir);

// The line where the first location that names a file says the kernel begins; 0: there is none.
int first_line(std::string_view ir);

// Of a request whose IR has no locations.
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

  struct Kept {
    std::string key;
    Entry entry;
  };
  std::size_t capacity_;
  std::filesystem::path directory_;
  std::list<Kept> newest_first_;
  std::unordered_map<std::string, std::list<Kept>::iterator> by_key_;
};

// Base64 as the compile worker sends cubins; nothing for what is none.
std::optional<std::string> from_base64(std::string_view text);
std::string to_base64(std::string_view bytes);
Json to_json(const CompiledKernel& kernel);
Result<CompiledKernel> compiled_kernel_from_json(const Json& json);

}  // namespace tritonsmith::gym::compile
