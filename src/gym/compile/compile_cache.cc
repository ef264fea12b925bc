#include "gym/compile/compile_cache.h"

#include <openssl/evp.h>

#include <algorithm>
#include <cctype>
#include <charconv>

#include "base/hash.h"

namespace tritonsmith::gym::compile {
namespace {

constexpr std::size_t kNone = std::string_view::npos;

// Returns the position behind the closing quote of the string that begins at `at`, or kNone if its
// line does not close it.
std::size_t skip_string(std::string_view text, std::size_t at) {
  for (++at; at < text.size() && text[at] != '\n'; ++at) {
    if (text[at] == '\\')
      ++at;
    else if (text[at] == '"')
      return at + 1;
  }
  return kNone;
}

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Returns the position behind the parenthesis that closes the one at `at`. Returns kNone if it
// encloses anything but names, places in files and nested locations.
std::size_t skip_location(std::string_view text, std::size_t at) {
  constexpr std::string_view kSigns = "#:,[] ";
  int depth = 0;
  while (at < text.size()) {
    if (text[at] == '"') {
      at = skip_string(text, at);
      if (at == kNone) return kNone;
      continue;
    }
    if (text[at] == '(')
      ++depth;
    else if (text[at] == ')')
      --depth;
    else if (!is_word(text[at]) && kSigns.find(text[at]) == kNone)
      return kNone;
    ++at;
    if (depth == 0) return at;
  }
  return kNone;
}

// Returns where the parentheses of an alias `#loc12 = loc(` begin, or kNone.
std::size_t location_alias(std::string_view line) {
  constexpr std::string_view kName = "#loc", kValue = " = loc(";
  if (!line.starts_with(kName)) return kNone;
  std::size_t at = kName.size();
  while (at < line.size() && line[at] >= '0' && line[at] <= '9') ++at;
  if (!line.substr(at).starts_with(kValue)) return kNone;
  return at + kValue.size() - 1;
}

// Returns the position behind the comment at `at`, or kNone if Triton's printer does not write such
// a comment. It writes `// 2 preds: ^bb1, ^bb2` beside the name of a block.
std::size_t skip_comment(std::string_view text, std::size_t at) {
  constexpr std::string_view kSigns = "^:, ";
  for (at += 2; at < text.size() && text[at] != '\n'; ++at)
    if (!is_word(text[at]) && kSigns.find(text[at]) == kNone) return kNone;
  return at;
}

}  // namespace

Result<std::string> without_locations(std::string_view ir) {
  std::string kept;
  kept.reserve(ir.size());
  std::size_t end = 0;
  for (std::size_t at = 0; at < ir.size(); at = end) {
    const bool line_begins = at == 0 || ir[at - 1] == '\n';
    const std::size_t alias = line_begins ? location_alias(ir.substr(at)) : kNone;
    bool keeps = false;
    if (alias != kNone) {
      end = skip_location(ir, at + alias);
    } else if (ir.substr(at).starts_with(" loc(")) {
      end = skip_location(ir, at + 4);
    } else {
      keeps = true;
      if (ir[at] == '"')
        end = skip_string(ir, at);
      else
        end = ir.substr(at).starts_with("//") ? skip_comment(ir, at) : at + 1;
    }
    if (end == kNone)
      return fail("line {} holds a string, a comment or a location that Triton does not write",
                  std::count(ir.begin(), ir.begin() + static_cast<std::ptrdiff_t>(at), '\n') + 1);
    if (keeps) kept.append(ir.substr(at, end - at));
  }
  return kept;
}

int first_line(std::string_view ir) {
  constexpr std::string_view kBegin = "loc(\"";
  for (std::size_t at = ir.find(kBegin); at != kNone; at = ir.find(kBegin, at + 1)) {
    const std::size_t end = skip_string(ir, at + kBegin.size() - 1);
    if (end == kNone || !ir.substr(end).starts_with(':')) continue;  // a name, not a file
    int line = 0;
    std::from_chars(ir.data() + end + 1, ir.data() + ir.size(), line);
    return std::max(line, 0);
  }
  return 0;
}

std::string compile_key(const CompileRequest& request, std::string_view compiler_version) {
  // A request that asks for no PTX has the key that it always had.
  const std::string ptx = request.ptx.empty() && !request.wants_ptx ? "" : "\nPTX\n" + request.ptx;
  return content_key(fmt::format(
      "kernel without locations {}|{}|{}|{}|{}|{}\n{}{}", compiler_version, request.target,
      request.num_warps, request.num_stages, request.num_ctas, request.maxnreg, request.ttir, ptx));
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
