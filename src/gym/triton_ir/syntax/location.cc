#include "gym/triton_ir/syntax/location.h"

namespace tritonsmith::gym::triton_ir {
namespace {
constexpr int kMaxDepth = 64;
constexpr std::size_t kMaxLocations = 200'000;
}  // namespace

Result<int> LocationTable::parse_rest(Scanner& scanner) {
  TRY_ASSIGN(int index, parse_nested(scanner, 0));
  TRY(scanner.expect(")"));
  return index;
}

Status LocationTable::parse_definition(Scanner& scanner) {
  TRY(scanner.expect("#"));
  std::string name(scanner.word());
  TRY(scanner.expect("="));
  if (!scanner.accept("loc(")) {  // some other alias
    while (!scanner.at_line_end()) scanner.advance();
    return ok();
  }
  TRY_ASSIGN(named_[name], parse_rest(scanner));
  return ok();
}

Status LocationTable::parse_parts(Scanner& scanner, int depth, Location& into) {
  do {
    TRY_ASSIGN(int part, parse_nested(scanner, depth + 1));
    into.parts.push_back(part);
  } while (scanner.accept(",") || scanner.accept("at"));
  return ok();
}

Result<int> LocationTable::parse_nested(Scanner& scanner, int depth) {
  if (depth > kMaxDepth) return scanner.error("locations are nested too deeply");
  if (locations_.size() >= kMaxLocations) return scanner.error("too many locations");
  Location location;
  scanner.skip_blanks();
  if (scanner.peek() == '#') {
    scanner.advance();
    location.reference = scanner.word();
  } else if (scanner.peek() == '"') {
    TRY_ASSIGN(std::string text, scanner.string());
    if (scanner.accept(":")) {
      location.file = text;
      location.position.line = static_cast<int>(scanner.integer().value_or(0) & 0x7FFFFFFF);
      if (scanner.accept(":"))
        location.position.column = static_cast<int>(scanner.integer().value_or(0) & 0x7FFFFFFF);
      if (scanner.accept("to")) TRY(scanner.balanced());
    } else if (scanner.accept("(")) {
      TRY(parse_parts(scanner, depth, location));
      TRY(scanner.expect(")"));
    }
  } else if (scanner.accept("callsite(")) {
    TRY(parse_parts(scanner, depth, location));
    TRY(scanner.expect(")"));
  } else if (scanner.accept("fused")) {
    if (scanner.accept("<")) {
      TRY(scanner.balanced());
      TRY(scanner.expect(">"));
    }
    TRY(scanner.expect("["));
    TRY(parse_parts(scanner, depth, location));
    TRY(scanner.expect("]"));
  } else {
    TRY(scanner.balanced());  // unknown, or of an unsupported kind
  }
  locations_.push_back(std::move(location));
  return static_cast<int>(locations_.size()) - 1;
}

LocationTable::Found LocationTable::find(int index, const std::string& file,
                                         std::vector<std::optional<Found>>& known,
                                         int depth) const {
  auto at = static_cast<std::size_t>(index);
  if (known[at]) return *known[at];
  known[at] = Found{};  // so that a cycle finds nothing
  if (depth > 4 * kMaxDepth) return Found{};
  const Location& location = locations_[at];
  Found best;
  if (!location.file.empty()) best = {&location, file.empty() || location.file == file};
  std::vector<int> parts = location.parts;
  if (auto found = named_.find(location.reference); found != named_.end())
    parts.push_back(found->second);
  for (int part : parts) {
    if (best.own) break;
    Found candidate = find(part, file, known, depth + 1);
    if (candidate.location != nullptr && (candidate.own || best.location == nullptr))
      best = candidate;
  }
  known[at] = best;
  return best;
}

std::vector<SourceLine> LocationTable::resolve(int kernel) const {
  std::vector<std::optional<Found>> known(locations_.size());
  Found found_kernel = find(kernel, "", known, 0);
  std::string file = found_kernel.location != nullptr ? found_kernel.location->file : "";
  known.assign(locations_.size(), std::nullopt);
  std::vector<SourceLine> lines;
  lines.reserve(locations_.size());
  for (std::size_t i = 0; i < locations_.size(); ++i) {
    Found found = find(static_cast<int>(i), file, known, 0);
    lines.push_back(found.location != nullptr && (found.own || file.empty())
                        ? found.location->position
                        : SourceLine{});
  }
  return lines;
}

}  // namespace tritonsmith::gym::triton_ir
