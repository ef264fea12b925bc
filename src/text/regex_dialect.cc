#include "text/regex_dialect.h"

#include <algorithm>
#include <array>

namespace tritonsmith::text {
namespace {

// The characters that Unicode 16 adds to each general category of Unicode 14. They were found by
// matching every code point with `tokenizers` 0.23.2 and with PCRE2 10.42. Categories that are not
// listed have no new characters. (U+1171E moved from Mn to Mc.)
struct Category {
  std::string_view name, additions;
};
constexpr auto kCategories = std::to_array<Category>(
    {{"Lu", R"(\x{1C89}\x{A7CB}-\x{A7CC}\x{A7DA}\x{A7DC}\x{10D50}-\x{10D65})"},
     {"Ll", R"(\x{1C8A}\x{A7CD}\x{A7DB}\x{10D70}-\x{10D85}\x{1DF25}-\x{1DF2A})"},
     {"Lt", ""},
     {"Lm",
      R"(\x{10D4E}\x{10D6F}\x{16D40}-\x{16D42}\x{16D6B}-\x{16D6C}\x{1E030}-\x{1E06D}\x{1E4EB})"},
     {"Lo",
      R"(\x{105C0}-\x{105F3}\x{10D4A}-\x{10D4D}\x{10D4F}\x{10EC2}-\x{10EC4}\x{1123F}-\x{11240})"
      R"(\x{11380}-\x{11389}\x{1138B}\x{1138E}\x{11390}-\x{113B5}\x{113B7}\x{113D1}\x{113D3})"
      R"(\x{11BC0}-\x{11BE0}\x{11F02}\x{11F04}-\x{11F10}\x{11F12}-\x{11F33}\x{1342F})"
      R"(\x{13441}-\x{13446}\x{13460}-\x{143FA}\x{16100}-\x{1611D}\x{16D43}-\x{16D6A}\x{18CFF})"
      R"(\x{1B132}\x{1B155}\x{1E4D0}-\x{1E4EA}\x{1E5D0}-\x{1E5ED}\x{1E5F0}\x{2B739})"
      R"(\x{2EBF0}-\x{2EE5D}\x{31350}-\x{323AF})"},
     {"Mn",
      R"(\x{897}\x{ECE}\x{10D69}-\x{10D6D}\x{10EFC}-\x{10EFF}\x{11241}\x{113BB}-\x{113C0}\x{113CE})"
      R"(\x{113D0}\x{113D2}\x{113E1}-\x{113E2}\x{11F00}-\x{11F01}\x{11F36}-\x{11F3A}\x{11F40})"
      R"(\x{11F42}\x{11F5A}\x{13440}\x{13447}-\x{13455}\x{1611E}-\x{16129}\x{1612D}-\x{1612F})"
      R"(\x{1E08F}\x{1E4EC}-\x{1E4EF}\x{1E5EE}-\x{1E5EF})"},
     {"Mc",
      R"(\x{CF3}\x{113B8}-\x{113BA}\x{113C2}\x{113C5}\x{113C7}-\x{113CA}\x{113CC}-\x{113CD}\x{113CF})"
      R"(\x{11F03}\x{11F34}-\x{11F35}\x{11F3E}-\x{11F3F}\x{11F41}\x{1612A}-\x{1612C})"},
     {"Me", ""},
     {"Nd",
      R"(\x{10D40}-\x{10D49}\x{116D0}-\x{116E3}\x{11BF0}-\x{11BF9}\x{11F50}-\x{11F59})"
      R"(\x{16130}-\x{16139}\x{16D70}-\x{16D79}\x{1CCF0}-\x{1CCF9}\x{1E4F0}-\x{1E4F9}\x{1E5F1}-\x{1E5FA})"},
     {"Nl", ""},
     {"No", R"(\x{1D2C0}-\x{1D2D3})"},
     {"Pc", ""},
     {"Pd", R"(\x{10D6E})"},
     {"Ps", ""},
     {"Pe", ""},
     {"Pi", ""},
     {"Pf", ""},
     {"Po",
      R"(\x{1B4E}-\x{1B4F}\x{1B7F}\x{113D4}-\x{113D5}\x{113D7}-\x{113D8}\x{11B00}-\x{11B09}\x{11BE1})"
      R"(\x{11F43}-\x{11F4F}\x{16D6D}-\x{16D6F}\x{1E5FF})"},
     {"Sm", R"(\x{10D8E}-\x{10D8F})"},
     {"Sc", ""},
     {"Sk", ""},
     {"So",
      R"(\x{2427}-\x{2429}\x{2FFC}-\x{2FFF}\x{31E4}-\x{31E5}\x{31EF}\x{1CC00}-\x{1CCEF})"
      R"(\x{1CD00}-\x{1CEB3}\x{1F6DC}\x{1F774}-\x{1F776}\x{1F77B}-\x{1F77F}\x{1F7D9})"
      R"(\x{1F8B2}-\x{1F8BB}\x{1F8C0}-\x{1F8C1}\x{1FA75}-\x{1FA77}\x{1FA87}-\x{1FA89}\x{1FA8F})"
      R"(\x{1FAAD}-\x{1FAAF}\x{1FABB}-\x{1FABF}\x{1FAC6}\x{1FACE}-\x{1FACF}\x{1FADA}-\x{1FADC})"
      R"(\x{1FADF}\x{1FAE8}-\x{1FAE9}\x{1FAF7}-\x{1FAF8}\x{1FBCB}-\x{1FBEF})"}});

// Returns the inside of a character class for a general category ("Lu") or a group of them ("L").
// Returns an empty string for any other name.
std::string category_members(std::string_view name) {
  std::string additions;
  bool known = false;
  for (const Category& category : kCategories) {
    const bool belongs = category.name == name || (name.size() == 1 && category.name[0] == name[0]);
    if (!belongs) continue;
    known = true;
    additions += category.additions;
  }
  if (!known) return {};
  return fmt::format("\\p{{{}}}{}", name, additions);
}

std::string word_members() {
  return category_members("L") + category_members("M") + category_members("Nd") + "\\p{Nl}\\p{Pc}" +
         R"(\xB2\xB3\xB9\xBC-\xBE\x{24B6}-\x{24E9}\x{1F130}-\x{1F149}\x{1F150}-\x{1F169}\x{1F170}-\x{1F189})";
}

class Translator {
 public:
  explicit Translator(std::string_view pattern) : rest_(pattern), whole_(pattern) {}

  Result<std::string> run() {
    while (!rest_.empty()) {
      if (rest_[0] == '\\') {
        TRY(escape());
      } else if (rest_[0] == '[') {
        TRY(open_class());
      } else if (rest_[0] == ']' && in_class_) {
        in_class_ = false;
        take(1);
      } else if (in_class_ && rest_.starts_with("&&")) {
        return refuse("an intersection of classes");
      } else if (!in_class_ && rest_.starts_with("}+")) {
        return refuse("'}+', which only PCRE2 takes for possessive");
      } else {
        take(1);
      }
    }
    return out_;
  }

 private:
  void take(std::size_t n) {
    out_ += rest_.substr(0, n);
    rest_.remove_prefix(n);
  }
  [[nodiscard]] tl::unexpected<Error> refuse(std::string_view what) const {
    return fail("the split pattern '{}' uses {}, which is not supported", whole_, what);
  }

  Status open_class() {
    if (in_class_) return refuse("a class within a class");
    in_class_ = true;
    take(rest_.starts_with("[^") ? 2 : 1);
    if (rest_.starts_with("]")) return refuse("a class that begins with ']'");
    return ok();
  }

  // Appends the inside of a character class. Outside of a class, the members become one.
  Status put_members(const std::string& members, bool negated) {
    if (negated && in_class_) return refuse("a negated property within a class");
    out_ += in_class_ ? members : fmt::format("[{}{}]", negated ? "^" : "", members);
    return ok();
  }

  Status escape() {
    if (rest_.size() < 2) return refuse("a '\\' at its end");
    const char kind = rest_[1];
    if (kind == 'p' || kind == 'P') return property();
    if (kind == 'u') return code_point();
    if (std::string_view("nrtfvx").find(kind) != std::string_view::npos ||
        (static_cast<unsigned char>(kind) < 0x80 &&
         std::isalnum(static_cast<unsigned char>(kind)) == 0)) {
      take(2);
      return ok();
    }
    rest_.remove_prefix(2);
    switch (kind) {
      case 's':
        return put_members("\\p{White_Space}", false);
      case 'S':
        out_ += "\\P{White_Space}";
        return ok();
      case 'd':
        return put_members(category_members("Nd"), false);
      case 'D':
        return put_members(category_members("Nd"), true);
      case 'w':
        return put_members(word_members(), false);
      case 'W':
        return put_members(word_members(), true);
      default:
        return refuse(fmt::format("'\\{}'", kind));
    }
  }

  // \p{L}, \p{^L}, \P{L}
  Status property() {
    bool negated = rest_[1] == 'P';
    const std::size_t close = rest_.find('}');
    if (!rest_.substr(2).starts_with("{") || close == std::string_view::npos)
      return refuse("a property without braces");
    std::string_view name = rest_.substr(3, close - 3);
    rest_.remove_prefix(close + 1);
    if (name.starts_with("^")) {
      negated = !negated;
      name.remove_prefix(1);
    }
    const std::string members = category_members(name);
    if (members.empty()) return refuse(fmt::format("the property '{}'", name));
    return put_members(members, negated);
  }

  // \uHHHH
  Status code_point() {
    const std::string_view digits = rest_.substr(2, 4);
    const bool hex = std::ranges::all_of(
        digits, [](char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0; });
    if (digits.size() != 4 || !hex) return refuse("'\\u' without four hex digits");
    out_ += fmt::format("\\x{{{}}}", digits);
    rest_.remove_prefix(6);
    return ok();
  }

  std::string_view rest_, whole_;
  std::string out_;
  bool in_class_ = false;
};

}  // namespace

Result<std::string> pcre2_from_oniguruma(std::string_view pattern) {
  return Translator(pattern).run();
}

}  // namespace tritonsmith::text
