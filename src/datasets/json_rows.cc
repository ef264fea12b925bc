#include "datasets/json_rows.h"

#include <cctype>
#include <vector>

namespace tritonsmith::datasets {
namespace {

// One character at a time, from pieces of the source.
class Characters {
 public:
  explicit Characters(std::unique_ptr<ByteSource> source)
      : source_(std::move(source)), piece_(kStreamPiece) {}

  // Returns the next character without taking it; -1 is the end.
  Result<int> peek() {
    if (at_ == end_) {
      at_ = 0;
      TRY_ASSIGN(end_, source_->read(piece_));
      if (end_ == 0) return -1;
    }
    return static_cast<unsigned char>(piece_[at_]);
  }
  void take() { ++at_; }
  // The rest of the piece, of which take_many() takes some.
  std::string_view rest() const { return {piece_.data() + at_, end_ - at_}; }
  void take_many(std::size_t count) { at_ += count; }

 private:
  std::unique_ptr<ByteSource> source_;
  std::vector<char> piece_;
  std::size_t at_ = 0, end_ = 0;
};

bool is_space(int character) { return character >= 0 && std::isspace(character) != 0; }

// Follows a JSON value through its characters, to find its end without reading it.
class ValueEnd {
 public:
  // Returns whether the value ended before this character. The caller must stop then.
  bool ends_before(char c) {
    if (in_string_) {
      if (escaped_)
        escaped_ = false;
      else if (c == '\\')
        escaped_ = true;
      else if (c == '"')
        in_string_ = false;
      return false;
    }
    if (c == '"') in_string_ = true;
    if (c == '{' || c == '[') ++depth_;
    if (depth_ == 0) return c == ',' || c == ']' || c == '}';
    if (c == '}' || c == ']') --depth_;
    return false;
  }

 private:
  bool in_string_ = false, escaped_ = false;
  int depth_ = 0;
};

class JsonRows : public RowReader {
 public:
  JsonRows(std::unique_ptr<ByteSource> source, std::string name, std::size_t max_row_bytes)
      : characters_(std::move(source)), name_(std::move(name)), max_row_bytes_(max_row_bytes) {}

  Result<std::optional<Row>> next() override {
    if (form_ == Form::unknown) TRY(find_form());
    std::string text;
    bool found = false;
    if (form_ == Form::lines) {
      TRY_ASSIGN(found, next_line(text));
    } else if (form_ == Form::array) {
      TRY_ASSIGN(found, next_element(text));
    }
    if (!found) return std::nullopt;
    ++number_;
    return row_of(text);
  }

 private:
  enum class Form { unknown, lines, array, ended };

  Status skip_space() {
    for (;;) {
      TRY_ASSIGN(const int next, characters_.peek());
      if (!is_space(next)) return ok();
      if (next == '\n') ++line_;
      characters_.take();
    }
  }

  Status find_form() {
    TRY_WITHIN(name_, skip_byte_order_mark());
    TRY(skip_space());
    TRY_ASSIGN(const int first, characters_.peek());
    if (first < 0) return fail("{}: is empty", name_);
    if (first != '[' && first != '{')
      return fail("{}: is neither JSON lines nor a JSON array nor Parquet", name_);
    form_ = first == '[' ? Form::array : Form::lines;
    if (form_ == Form::array) characters_.take();
    return ok();
  }

  Status skip_byte_order_mark() {
    TRY_ASSIGN(const int first, characters_.peek());
    if (first == 0xEF && characters_.rest().starts_with("\xEF\xBB\xBF")) characters_.take_many(3);
    return ok();
  }

  Result<bool> next_line(std::string& text) {
    TRY(skip_space());
    TRY_ASSIGN(int next, characters_.peek());
    if (next < 0) return false;
    ends_without_newline_ = false;
    while (next >= 0) {
      const std::string_view rest = characters_.rest();
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      TRY(append(text, rest.substr(0, end)));
      characters_.take_many(end);
      if (end < rest.size()) break;
      TRY_ASSIGN(next, characters_.peek());
      ends_without_newline_ = next < 0;
    }
    return true;
  }

  Result<bool> next_element(std::string& text) {
    TRY(skip_space());
    TRY_ASSIGN(int next, characters_.peek());
    if (next == ']') {
      form_ = Form::ended;
      return false;
    }
    if (number_ > 0 && next >= 0) {
      if (next != ',') return broken_array();
      characters_.take();
      TRY(skip_space());
      TRY_ASSIGN(next, characters_.peek());
    }
    if (next == ',' || next == ']' || next == '}') return broken_array();
    ValueEnd end;
    while (next >= 0) {
      const std::string_view rest = characters_.rest();
      std::size_t length = 0;
      bool ended = false;
      while (length < rest.size() && !(ended = end.ends_before(rest[length]))) ++length;
      TRY(append(text, rest.substr(0, length)));
      characters_.take_many(length);
      if (ended) return true;
      TRY_ASSIGN(next, characters_.peek());
    }
    return fail("{}: ends within row {}: the file is cut off; fetch it again", name_, number_ + 1);
  }

  tl::unexpected<Error> broken_array() const {
    return fail("{}: is no JSON array of objects: it is broken before row {}", name_, number_ + 1);
  }

  Status append(std::string& text, std::string_view more) const {
    if (text.size() + more.size() > max_row_bytes_)
      return fail("{}: row {} is larger than {} MiB", name_, number_ + 1, max_row_bytes_ >> 20);
    text += more;
    return ok();
  }

  Row row_of(const std::string& text) const {
    Row row{.value = nullptr,
            .location = form_ == Form::lines ? fmt::format("{}:{}", name_, line_)
                                             : fmt::format("{}, row {}", name_, number_),
            .problem = {}};
    auto json = parse_json(text);
    if (!json) {
      const std::string mended = without_nan(text);
      if (mended != text) json = parse_json(mended);
    }
    if (!json)
      row.problem = json.error().message + (ends_without_newline_ ? " (is the file cut off?)" : "");
    else if (!json->is_object())
      row.problem = fmt::format("a row is an object, not {}", json->type_name());
    else
      row.value = *std::move(json);
    return row;
  }

  Characters characters_;
  std::string name_;
  std::size_t max_row_bytes_;
  Form form_ = Form::unknown;
  std::size_t number_ = 0, line_ = 1;
  bool ends_without_newline_ = false;
};

class JsonWriter : public RowWriter {
 public:
  JsonWriter(std::unique_ptr<ByteSink> sink, bool is_array)
      : sink_(std::move(sink)), is_array_(is_array) {}

  Status write(const Json& row) override {
    const std::string_view before = !is_array_ ? "" : begun_ ? ",\n" : "[\n";
    begun_ = true;
    std::string text(before);
    text += to_line(row);
    if (!is_array_) text += '\n';
    return sink_->write(text);
  }
  Status finish() override {
    if (is_array_) TRY(sink_->write(begun_ ? "\n]\n" : "[]\n"));
    return sink_->finish();
  }

 private:
  std::unique_ptr<ByteSink> sink_;
  bool is_array_, begun_ = false;
};

}  // namespace

std::string without_nan(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  bool in_string = false;
  for (std::size_t at = 0; at < json.size();) {
    const char c = json[at];
    if (in_string && c == '\\') {
      out += json.substr(at, 2);
      at += 2;
      continue;
    }
    if (c == '"') in_string = !in_string;
    std::size_t taken = 0;
    if (!in_string)
      for (const std::string_view word : {"-Infinity", "Infinity", "NaN"})
        if (json.substr(at).starts_with(word)) {
          taken = word.size();
          break;
        }
    if (taken > 0)
      out += "null";
    else
      out += c;
    at += std::max<std::size_t>(taken, 1);
  }
  return out;
}

std::unique_ptr<RowReader> read_json_rows(std::unique_ptr<ByteSource> source, std::string name,
                                          std::size_t max_row_bytes) {
  return std::make_unique<JsonRows>(std::move(source), std::move(name), max_row_bytes);
}

Result<std::unique_ptr<RowWriter>> write_json_rows(const std::filesystem::path& file) {
  std::filesystem::path name = file.filename();
  if (name.extension() == ".gz" || name.extension() == ".zst") name = name.stem();
  TRY_ASSIGN(auto sink, create_bytes(file));
  std::unique_ptr<RowWriter> writer =
      std::make_unique<JsonWriter>(std::move(sink), name.extension() == ".json");
  return writer;
}

}  // namespace tritonsmith::datasets
