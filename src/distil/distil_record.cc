#include "distil/distil_record.h"

namespace tritonsmith::distil {

Json to_json(const DistilRecord& record) {
  Json json = to_json(record.sample);
  json["form"] = name_of(record.form);
  json["feedback"] = record.feedback;
  if (record.messages.empty()) return json;
  Json messages = Json::array();
  for (const text::Message& each : record.messages)
    messages.push_back({{"role", name_of(each.role)}, {"content", each.content}});
  json["messages"] = std::move(messages);
  return json;
}

Result<DistilRecord> record_from_json(const Json& json) {
  DistilRecord record;
  TRY_ASSIGN(record.sample, sample_from_json(json));
  JsonReader reader(json);
  record.form = reader.enumerated<PromptForm>("form");
  record.feedback = reader.string("feedback", "");
  for (const Json& each : reader.array("messages")) {
    if (!each.is_object()) return fail("'messages' holds something else than messages");
    JsonReader message(each);
    record.messages.push_back(
        {.role = message.enumerated<text::Role>("role"), .content = message.string("content")});
    TRY(message.status());
  }
  TRY(reader.status());
  return record;
}

}  // namespace tritonsmith::distil
