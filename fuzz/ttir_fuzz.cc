// ttir_fuzz ROUNDS SEED FILE...: mutates Triton IR from the files, parses it and, when it parses,
// evaluates it over small buffers with guard bytes around them. Nothing may crash, hang, or touch a
// guard byte. LLVMFuzzerTestOneInput is there too, for a compiler that has libFuzzer.
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>

#include "base/file.h"
#include "base/rng.h"
#include "gym/evaluate/kernel_program.h"

namespace tritonsmith::gym {
namespace {

constexpr std::size_t kGuard = 256;
constexpr std::size_t kBytes = 4096;
constexpr std::byte kGuardByte{0xA5};

// How far the last input came: 0 no IR, 1 refused, 2 evaluated.
int run(std::string_view text) {
  auto program = parse_ttir(text);
  if (!program) return 0;
  std::vector<std::vector<std::byte>> memory;
  Launch launch{.grid = {3, 2, 1}};
  memory.reserve(program->arguments().size());
  for (const ValueType& type : program->arguments()) {
    if (type.element == Element::pointer || type.element == Element::descriptor) {
      memory.emplace_back(kBytes + 2 * kGuard, kGuardByte);
      std::memset(memory.back().data() + kGuard, 0, kBytes);
      launch.arguments.push_back(PointerArgument{static_cast<int>(launch.buffers.size())});
      launch.buffers.push_back(
          {.data = memory.back().data() + kGuard, .bytes = kBytes, .element_bytes = 4});
    } else {
      launch.arguments.push_back(std::int64_t{17});
    }
  }
  LaunchReport report =
      evaluate(*program, launch, Budget{.op_elements = 3'000'000, .register_bytes = 64u << 20});
  for (const auto& bytes : memory)
    for (std::size_t i = 0; i < kGuard; ++i)
      if (bytes[i] != kGuardByte || bytes[bytes.size() - 1 - i] != kGuardByte) std::abort();
  return report.status == LaunchStatus::not_evaluable ? 1 : 2;
}

#ifdef TTIR_FUZZ_OWN_MAIN
// A name, number or mark of the text, at or after a random place.
std::pair<std::size_t, std::size_t> pick_token(const std::string& text, Rng& rng) {
  std::size_t start = rng.below(text.size());
  auto is_word = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '%' || c == '.';
  };
  while (start < text.size() && !is_word(text[start])) ++start;
  std::size_t end = start;
  while (end < text.size() && is_word(text[end])) ++end;
  return {start, end - start};
}

std::size_t line_start(const std::string& text, std::size_t at) {
  std::size_t found = text.rfind('\n', at);
  return found == std::string::npos ? 0 : found + 1;
}

void mutate(std::string& text, Rng& rng) {
  static const std::string_view numbers[] = {
      "0", "1", "-1", "2", "16", "1048576", "4294967296", "9223372036854775807", "3"};
  static const std::string_view types[] = {"i1",  "i8",   "i32", "i64",    "f32",
                                           "f16", "bf16", "f64", "f8E5M2", "!tt.ptr<f32>"};
  if (text.empty()) return;
  auto [start, length] = pick_token(text, rng);
  switch (rng.below(7)) {
    case 0:
      text.replace(start, length, numbers[rng.below(std::size(numbers))]);
      break;
    case 1:
      text.replace(start, length, types[rng.below(std::size(types))]);
      break;
    case 2: {  // one token in the place of another
      auto [other, other_length] = pick_token(text, rng);
      text.replace(start, length, text.substr(other, other_length));
      break;
    }
    case 3:
      text.erase(start, 1 + rng.below(4));
      break;
    case 4: {  // a line again, elsewhere
      std::size_t from = line_start(text, start), to = line_start(text, rng.below(text.size()));
      text.insert(to, text.substr(from, text.find('\n', from) - from + 1));
      break;
    }
    case 5: {
      std::size_t from = line_start(text, start);
      text.erase(from, text.find('\n', from) - from + 1);
      break;
    }
    default:
      text[rng.below(text.size())] = static_cast<char>(32 + rng.below(95));
  }
}

#endif

}  // namespace
}  // namespace tritonsmith::gym

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tritonsmith::gym::run({reinterpret_cast<const char*>(data), size});
  return 0;
}

#ifdef TTIR_FUZZ_OWN_MAIN
int main(int argc, char** argv) {
  using namespace tritonsmith;
  if (argc < 4) {
    std::cerr << "usage: ttir_fuzz ROUNDS SEED FILE...\n";
    return 2;
  }
  std::vector<std::string> seeds;
  for (int i = 3; i < argc; ++i) {
    auto text = read_file(argv[i]);
    if (!text) {
      std::cerr << text.error().message << "\n";
      return 1;
    }
    seeds.push_back(*text);
  }
  const auto rounds = static_cast<std::uint64_t>(std::atoll(argv[1]));
  const auto seed = static_cast<std::uint64_t>(std::atoll(argv[2]));
  std::uint64_t outcomes[3] = {};
  for (std::uint64_t round = 0; round < rounds; ++round) {
    Rng rng(seed, "ttir_fuzz", round);
    std::string text = rng.pick(seeds);
    for (std::uint64_t i = 0, changes = 1 + rng.below(4); i < changes; ++i) gym::mutate(text, rng);
    if (const char* last = std::getenv("TTIR_FUZZ_LAST"))
      std::ofstream(last) << text;  // to look at after a crash
    ++outcomes[gym::run(text)];
  }
  std::cout << rounds << " rounds: " << outcomes[0] << " no IR, " << outcomes[1] << " refused, "
            << outcomes[2] << " evaluated\n";
}
#endif
