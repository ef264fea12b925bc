// CompileCache: what compiling a kernel gave, by content. A cubin is found again by the kernel's IR
// without its `loc`s (which lines of which file it came from), its options and the compiler's
// version; a compile error, whose text names lines, only by the IR as it is. The newest entries are
// kept in memory; with a directory, cubins are also kept there. One thread.
#pragma once

#include <filesystem>
#include <list>
#include <string>
#include <unordered_map>

#include "gym/capture/capture_pool.h"

namespace tritonsmith::gym {

// IR text without location aliases and `loc(...)`; text within strings is left alone. Fails where
// something is not as Triton's printer writes it: what a compiler that reads the same text would
// take for code must not be taken for a location here.
Result<std::string> without_locations(std::string_view ir);

struct CompileKeys {
  std::string kernel;  // hash of what decides the cubin
  std::string text;    // hash of everything, locations too
};
Result<CompileKeys> keys_of(const CompileRequest& request, std::string_view compiler_version);

class CompileCache {
 public:
  using Entry = std::variant<CompiledKernel, CandidateFailure>;

  CompileCache(std::size_t capacity, std::filesystem::path directory)
      : capacity_(capacity), directory_(std::move(directory)) {}

  std::optional<Entry> find(const CompileKeys& keys);
  void add(const CompileKeys& keys, const Entry& entry);

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

}  // namespace tritonsmith::gym
