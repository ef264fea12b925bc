// CompileCache: the results of compilations, by content. The key covers the compiler's version and
// every input of the compiler. The compiler does not see where a kernel came from (the locations in
// its code), so equal kernels share one entry. The cache keeps the entries that were used last in
// memory, and compiled kernels in a folder too if it has one. Both are bounded by bytes. One thread.
#pragma once

#include <optional>
#include <string>

#include "base/byte_cache.h"
#include "gym/compile/compile_request.h"
#include "gym/compile/kernel_folder.h"

namespace tritonsmith::gym::compile {

// The request's code must have no locations.
std::string compile_key(const CompileRequest& request, std::string_view compiler_version);

class CompileCache {
 public:
  using Entry = std::variant<CompiledKernel, sandbox::CandidateFailure>;

  CompileCache(std::size_t memory_bytes, KernelFolder folder)
      : memory_(memory_bytes), folder_(std::move(folder)) {}

  std::optional<Entry> find(const std::string& key);
  void add(const std::string& key, const Entry& entry);

 private:
  ByteCache<Entry> memory_;
  KernelFolder folder_;
};

// Decodes base64 as the compile worker sends cubins. Returns nothing for any other text.
std::optional<std::string> from_base64(std::string_view text);
std::string to_base64(std::string_view bytes);
Json to_json(const CompiledKernel& kernel);
Result<CompiledKernel> compiled_kernel_from_json(const Json& json);

}  // namespace tritonsmith::gym::compile
