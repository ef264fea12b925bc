#include "gym/compile/compile_cache.h"

#include <openssl/evp.h>

#include "base/hash.h"

namespace tritonsmith::gym::compile {
std::string compile_key(const CompileRequest& request, std::string_view compiler_version) {
  // A request that asks for no PTX has the key that it always had.
  const std::string ptx = request.ptx.empty() && !request.wants_ptx ? "" : "\nPTX\n" + request.ptx;
  const std::string_view fusion = request.enable_fp_fusion ? "" : "|no fp fusion";
  return content_key(fmt::format("{} without locations {}|{}|{}|{}|{}|{}{}\n{}{}",
                                 name_of(request.language), compiler_version, request.target,
                                 request.num_warps, request.num_stages, request.num_ctas,
                                 request.maxnreg, fusion, request.code, ptx));
}

namespace {

std::size_t bytes_of(const CompileCache::Entry& entry) {
  if (const auto* kernel = std::get_if<CompiledKernel>(&entry))
    return sizeof(entry) + kernel->cubin.size() + kernel->name.size() + kernel->ptx.size() +
           kernel->instructions.size();
  const auto& failure = std::get<sandbox::CandidateFailure>(entry);
  return sizeof(entry) + failure.error.message.size() + failure.error.excerpt.size();
}

}  // namespace

std::optional<CompileCache::Entry> CompileCache::find(const std::string& key) {
  if (const Entry* known = memory_.find(key)) return *known;
  auto found = folder_.find(key);
  if (!found) return std::nullopt;
  Entry entry = *std::move(found);
  const std::size_t bytes = bytes_of(entry);
  return memory_.add(key, std::move(entry), bytes);
}

void CompileCache::add(const std::string& key, const Entry& entry) {
  memory_.add(key, entry, bytes_of(entry));
  if (const auto* kernel = std::get_if<CompiledKernel>(&entry)) folder_.add(key, *kernel);
}

std::optional<std::string> from_base64(std::string_view text) {
  if (text.size() % 4 != 0 || text.size() > (std::size_t{1} << 30)) return std::nullopt;
  std::string bytes(text.size() / 4 * 3, '\0');
  const int size = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                                   reinterpret_cast<const unsigned char*>(text.data()),
                                   static_cast<int>(text.size()));
  if (size < 0) return std::nullopt;
  std::size_t padding = 0;
  while (padding < 2 && padding < text.size() && text[text.size() - 1 - padding] == '=') ++padding;
  bytes.resize(static_cast<std::size_t>(size) - padding);
  return bytes;
}

std::string to_base64(std::string_view bytes) {
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');
  const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                                   reinterpret_cast<const unsigned char*>(bytes.data()),
                                   static_cast<int>(bytes.size()));
  text.resize(static_cast<std::size_t>(size));
  return text;
}

Json to_json(const CompiledKernel& kernel) {
  Json json = {{"cubin", to_base64(kernel.cubin)},    {"name", kernel.name},
               {"registers", kernel.registers},       {"spills", kernel.spills},
               {"shared_bytes", kernel.shared_bytes}, {"scratch_bytes", kernel.scratch_bytes},
               {"num_warps", kernel.num_warps}};
  if (!kernel.ptx.empty()) json["ptx"] = kernel.ptx;
  if (!kernel.instructions.empty()) json["instructions"] = kernel.instructions;
  return json;
}

Result<CompiledKernel> compiled_kernel_from_json(const Json& json) {
  JsonReader reader(json);
  const auto cubin = from_base64(reader.string("cubin"));
  CompiledKernel kernel{.name = reader.string("name"),
                        .registers = static_cast<int>(reader.integer("registers", 0)),
                        .spills = static_cast<int>(reader.integer("spills", 0)),
                        .shared_bytes = static_cast<int>(reader.integer("shared_bytes", 0)),
                        .scratch_bytes = static_cast<int>(reader.integer("scratch_bytes", 0)),
                        .num_warps = static_cast<int>(reader.integer("num_warps", 0)),
                        .ptx = reader.string("ptx", ""),
                        .instructions = reader.string("instructions", "")};
  TRY(reader.status());
  if (!cubin || cubin->empty()) return fail("'cubin': must be base64");
  kernel.cubin = *cubin;
  return kernel;
}

}  // namespace tritonsmith::gym::compile
