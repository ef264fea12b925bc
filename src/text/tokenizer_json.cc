// Reads and writes tokenizer.json. The descriptive parts (normalizer, pre_tokenizer,
// post_processor, decoder) are kept and written back unchanged.
#include <algorithm>

#include "text/byte_alphabet.h"
#include "text/tokenizer.h"

namespace tritonsmith::text {
namespace {

Result<AddedToken> read_added_token(const Json& json) {
  JsonReader reader(json);
  AddedToken token{.id = static_cast<TokenId>(reader.integer("id")),
                   .content = reader.string("content"),
                   .special = reader.boolean("special", false),
                   .normalized = reader.boolean("normalized", true),
                   .lstrip = reader.boolean("lstrip", false),
                   .rstrip = reader.boolean("rstrip", false),
                   .single_word = reader.boolean("single_word", false)};
  TRY_WITHIN("added_tokens", reader.status());
  return token;
}

nlohmann::ordered_json write_added_token(const AddedToken& token) {
  return {{"id", token.id},          {"content", token.content}, {"single_word", token.single_word},
          {"lstrip", token.lstrip},  {"rstrip", token.rstrip},   {"normalized", token.normalized},
          {"special", token.special}};
}

// The "single" template of a TemplateProcessing: special tokens around one Sequence.
struct Frame {
  std::vector<TokenId> prefix, suffix;
};
Result<Frame> read_template(const Json& json) {
  JsonReader reader(json);
  const Json& known = reader.object("special_tokens");
  Frame frame;
  bool sequence_seen = false;
  for (const Json& item : reader.array("single")) {
    if (item.contains("Sequence")) {
      if (std::exchange(sequence_seen, true))
        return fail("post_processor: a template with two sequences is not supported");
      continue;
    }
    JsonReader special(item.contains("SpecialToken") ? item["SpecialToken"] : item);
    const std::string name = special.string("id");
    TRY_WITHIN("post_processor", special.status());
    if (!known.contains(name)) return fail("post_processor: '{}' is not in 'special_tokens'", name);
    JsonReader entry(known[name]);
    for (const Json& id : entry.array("ids"))
      if (id.is_number_integer())
        (sequence_seen ? frame.suffix : frame.prefix).push_back(id.get<TokenId>());
    TRY_WITHIN("post_processor", entry.status());
  }
  TRY_WITHIN("post_processor", reader.status());
  return frame;
}

// Returns the id that `tokenizers` would give. Another id would make the two disagree.
TokenId expected_id(const AddedToken& token, const Bpe& bpe, TokenId largest_added) {
  const TokenId in_vocabulary = bpe.find(token.content);
  if (in_vocabulary >= 0) return in_vocabulary;
  return std::max(static_cast<TokenId>(bpe.size()), largest_added + 1);
}

}  // namespace

Result<Tokenizer> Tokenizer::from_json(std::string_view json_text) {
  TRY_ASSIGN(const Json json, parse_json(json_text));
  JsonReader reader(json);
  if (reader.has("truncation") || reader.has("padding"))
    return fail("'truncation' and 'padding' are not supported: set them to null");
  Tokenizer tokenizer;
  TRY_ASSIGN(tokenizer.bpe_, Bpe::from_json(reader.object("model")));
  TRY_ASSIGN(
      tokenizer.pre_tokenizer_,
      PreTokenizer::from_json(json.contains("pre_tokenizer") ? json["pre_tokenizer"] : Json()));
  TRY(tokenizer.read_normalizer(reader.has("normalizer") ? json["normalizer"] : Json()));
  TRY(tokenizer.read_post_processor(reader.has("post_processor") ? json["post_processor"]
                                                                 : Json()));
  TRY(tokenizer.read_added_tokens(reader.array("added_tokens")));
  tokenizer.decoder_ = reader.object("decoder");
  TRY(reader.status());
  if (JsonReader(tokenizer.decoder_).string("type", "") != "ByteLevel")
    return fail("decoder: only ByteLevel is supported");
  if (!tokenizer.pre_tokenizer_.maps_bytes())
    return fail("pre_tokenizer: there is no ByteLevel step, so this is not a byte-level tokenizer");
  tokenizer.index();
  return tokenizer;
}

Status Tokenizer::read_added_tokens(const Json& json) {
  TokenId largest = -1;
  for (const Json& item : json) {
    TRY_ASSIGN(AddedToken token, read_added_token(item));
    const TokenId expected = expected_id(token, bpe_, largest);
    if (token.id != expected)
      return fail("added_tokens: '{}' has id {}, but its place gives it {}", token.content,
                  token.id, expected);
    largest = std::max(largest, token.id);
    added_tokens_.push_back(std::move(token));
  }
  return ok();
}

Status Tokenizer::read_normalizer(const Json& normalizer) {
  normalizer_ = normalizer;
  std::vector<Json> steps;
  if (JsonReader(normalizer).string("type", "") == "Sequence") {
    for (const Json& step : JsonReader(normalizer).array("normalizers")) steps.push_back(step);
  } else if (!normalizer.is_null()) {
    steps.push_back(normalizer);
  }
  for (const Json& step : steps) {
    JsonReader reader(step);
    const std::string type = reader.string("type");
    TRY_WITHIN("normalizer", reader.status());
    if (type != "NFC") return fail("normalizer: '{}' is not supported, only NFC", type);
    nfc_ = true;
  }
  return ok();
}

Status Tokenizer::read_post_processor(const Json& post_processor) {
  post_processor_ = post_processor;
  std::vector<Json> steps;
  if (JsonReader(post_processor).string("type", "") == "Sequence") {
    for (const Json& step : JsonReader(post_processor).array("processors")) steps.push_back(step);
  } else if (!post_processor.is_null()) {
    steps.push_back(post_processor);
  }
  for (const Json& step : steps) {
    JsonReader reader(step);
    const std::string type = reader.string("type");
    TRY_WITHIN("post_processor", reader.status());
    if (type == "ByteLevel") continue;  // it changes only offsets
    if (type != "TemplateProcessing")
      return fail("post_processor: '{}' is not supported (ByteLevel and TemplateProcessing are)",
                  type);
    TRY_ASSIGN(const Frame frame, read_template(step));
    prefix_.insert(prefix_.begin(), frame.prefix.begin(), frame.prefix.end());
    suffix_.insert(suffix_.end(), frame.suffix.begin(), frame.suffix.end());
  }
  return ok();
}

std::string Tokenizer::to_json() const {
  using Ordered = nlohmann::ordered_json;
  Ordered merges = Ordered::array(), added = Ordered::array();
  Ordered::object_t
      vocabulary;  // in the order of ids; a vector, because the map's insert would search each time
  for (std::size_t id = 0; id < bpe_.tokens().size(); ++id)
    if (!bpe_.tokens()[id].empty())
      static_cast<Ordered::object_t::Container&>(vocabulary).emplace_back(bpe_.tokens()[id], id);
  for (const auto& [left, right] : bpe_.merges())
    merges.push_back(Ordered::array({bpe_.tokens()[static_cast<std::size_t>(left)],
                                     bpe_.tokens()[static_cast<std::size_t>(right)]}));
  for (const AddedToken& token : added_tokens_) added.push_back(write_added_token(token));
  const Ordered model = {{"type", "BPE"},
                         {"dropout", nullptr},
                         {"unk_token", nullptr},
                         {"continuing_subword_prefix", nullptr},
                         {"end_of_word_suffix", nullptr},
                         {"fuse_unk", false},
                         {"byte_fallback", false},
                         {"ignore_merges", bpe_.ignore_merges()},
                         {"vocab", std::move(vocabulary)},
                         {"merges", std::move(merges)}};
  const Ordered whole = {{"version", "1.0"},
                         {"truncation", nullptr},
                         {"padding", nullptr},
                         {"added_tokens", std::move(added)},
                         {"normalizer", Ordered(normalizer_)},
                         {"pre_tokenizer", Ordered(pre_tokenizer_.json())},
                         {"post_processor", Ordered(post_processor_)},
                         {"decoder", Ordered(decoder_)},
                         {"model", model}};
  return whole.dump(1) + "\n";
}

}  // namespace tritonsmith::text
