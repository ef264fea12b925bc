#include "gym/referee/python_reference_source.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include "gym/referee/protocol/blocks.h"
#include "gym/replay/operator_arguments.h"
#include "gym/trial/perturb/perturbation.h"

namespace tritonsmith::gym::referee {
namespace {

tl::unexpected<replay::Stop> broken(const std::string& message) {
  return tl::unexpected(replay::Stop{.error = {.error_class = ErrorClass::referee_failed,
                                               .message = "the Python reference: " + message},
                                     .fault = Fault::infrastructure});
}

// The process that answers runs the task's code, so a result that cannot be is the task's.
tl::unexpected<replay::Stop> odd(const std::string& message) {
  return tl::unexpected(replay::Stop{
      .error = {.error_class = ErrorClass::task_failed,
                .message = "forward has no usable result in the Python reference: " + message},
      .fault = Fault::none});
}

// Returns the answer's own reason why it has no result, if it gives one.
std::optional<replay::Stop> refusal_in(const Json& answer) {
  if (answer.contains("fault") && answer["fault"].is_string())
    return broken(answer["fault"].get<std::string>()).value();
  if (!answer.contains("error")) return std::nullopt;
  JsonReader error(answer["error"]);
  replay::Stop stop{.error = {.message = error.string("message", "")}, .fault = Fault::none};
  set_class(stop.error, error.string("class", std::string(name_of(ErrorClass::task_failed))));
  return stop;
}

tl::expected<Json, replay::Stop> read_answer(int socket) {
  const auto frame = wire::read_frame(socket, Deadline::never());
  if (!frame) return broken(frame.error().error.message);
  auto answer = parse_json(frame->payload, 2 * plan::plan_limits::kNesting + 16);
  if (!answer || !answer->is_object()) return odd("its answer is no JSON object");
  if (auto refusal = refusal_in(*answer)) return tl::unexpected(*std::move(refusal));
  return *std::move(answer);
}

// The tensors of a question as JSON, with each memory once.
struct QuestionTensors {
  Json tensors = Json::object(), parameters = Json::array(), blocks = Json::array();
  tensors::TensorTable memories;  // as bytes, on the CPU
};

QuestionTensors tensors_of(const trial::ReferenceQuestion& question) {
  QuestionTensors sent;
  std::map<const void*, std::size_t> indices;
  std::set<int> wanted;
  for (const int input : trial::input_tensors(question.task)) wanted.insert(input);
  for (const plan::PlanParameter& parameter : question.task.parameters) {
    wanted.insert(parameter.tensor);
    sent.parameters.push_back({parameter.name, parameter.tensor});
  }
  for (const int index : wanted) {
    const at::Tensor& tensor = question.tensors.at(static_cast<std::size_t>(index));
    const auto [at, is_new] =
        indices.try_emplace(tensor.storage().unsafeGetStorageImpl(), sent.memories.size());
    if (is_new) {
      sent.memories.push_back(tensors::storage_bytes(tensor).cpu());
      sent.blocks.push_back(static_cast<std::uint64_t>(sent.memories.back().nbytes()));
    }
    const plan::PlanTensor& declared = question.task.tensors.at(static_cast<std::size_t>(index));
    sent.tensors[std::to_string(index)] = {{"dtype", tritonsmith::name_of(declared.dtype)},
                                           {"shape", tensor.sizes().vec()},
                                           {"stride", tensor.strides().vec()},
                                           {"offset", tensor.storage_offset()},
                                           {"storage", at->second}};
  }
  return sent;
}

// Reads all blocks that follow the answer before anything uses them. The socket is then ready for
// the next message, even if this answer is wrong.
Result<std::vector<std::string>> read_blocks(int socket, const Json& answer) {
  TRY_ASSIGN(const std::vector<std::size_t> sizes, block_sizes(answer));
  std::vector<std::string> blocks;
  for (const std::size_t size : sizes) {
    blocks.emplace_back(size, '\0');
    if (const auto read = read_block(socket, blocks.back(), Deadline::never()); !read)
      return fail("{}", read.error().error.message);
  }
  return blocks;
}

// Returns the same values with the strides that they had in the Python process. If several elements
// share memory, one of them is written.
at::Tensor with_strides(const at::Tensor& dense, const std::vector<std::int64_t>& strides) {
  if (dense.numel() == 0 || dense.strides() == at::IntArrayRef(strides)) return dense;
  const at::Tensor made = at::empty_strided(dense.sizes(), strides, dense.options());
  at::Tensor to = made, from = dense;
  for (std::size_t d = 0; d < strides.size(); ++d) {
    if (strides[d] != 0) continue;
    to = to.narrow(static_cast<std::int64_t>(d), 0, 1);
    from = from.narrow(static_cast<std::int64_t>(d), 0, 1);
  }
  to.copy_(from);
  return made;
}

// Returns sizes or strides. A negative one becomes -1.
std::vector<std::int64_t> extents(const Json& list) {
  std::vector<std::int64_t> all;
  for (const Json& each : list)
    all.push_back(each.is_number_unsigned() ? each.get<std::int64_t>() : -1);
  return all;
}

Result<tensors::TensorTable> tensors_from(const Json& answer,
                                          const std::vector<std::string>& blocks) {
  JsonReader reader(answer);
  const Json& list = reader.array("tensors");
  if (blocks.size() != list.size()) return fail("it sent other blocks than tensors");
  tensors::TensorTable tensors;
  for (std::size_t k = 0; k < blocks.size(); ++k) {
    JsonReader facts(list[k]);
    const auto dtype = facts.enumerated<plan::DType>("dtype");
    const std::vector<std::int64_t> shape = extents(facts.array("shape"));
    const std::vector<std::int64_t> strides = extents(facts.array("stride"));
    TRY(facts.status());
    if (shape.size() > plan::plan_limits::kDimensions || strides.size() != shape.size() ||
        std::ranges::find(shape, -1) != shape.end() ||
        std::ranges::find(strides, -1) != strides.end())
      return fail("a tensor's shape cannot be");
    at::Tensor tensor = at::empty(shape, at::dtype(tensors::scalar_type_of(dtype)));
    if (tensor.nbytes() != blocks[k].size()) return fail("a tensor has {} bytes", blocks[k].size());
    if (!blocks[k].empty())
      std::memcpy(tensor.mutable_data_ptr(), blocks[k].data(), blocks[k].size());
    tensors.push_back(with_strides(tensor, strides));
  }
  return tensors;
}

Result<at::Tensor> tensor_named(const Json& index, const tensors::TensorTable& tensors) {
  if (!index.is_number_unsigned() || index.get<std::size_t>() >= tensors.size())
    return fail("it names a tensor that it did not send");
  return tensors[index.get<std::size_t>()];
}

Status read_changes(const Json& list, const tensors::TensorTable& tensors, const plan::Plan& task,
                    trial::ReferenceAnswer& answer) {
  for (const Json& item : list) {
    if (!item.is_array() || item.size() != 3 || !item[0].is_number_unsigned() ||
        item[0].get<std::size_t>() >= task.tensors.size())
      return fail("a change is [tensor, now, exact]");
    trial::ReferenceAnswer::Changed changed{.tensor = item[0].get<int>()};
    TRY_ASSIGN(changed.now, tensor_named(item[1], tensors));
    if (item[2].is_number_unsigned()) {
      TRY_ASSIGN(changed.exact, tensor_named(item[2], tensors));
    }
    answer.changed.push_back(std::move(changed));
  }
  return ok();
}

Result<trial::ReferenceAnswer> answer_from(const Json& json, tensors::TensorTable tensors,
                                           const plan::Plan& task) {
  JsonReader reader(json);
  trial::ReferenceAnswer answer{.aliases_input = reader.boolean("aliases_input"),
                                .no_oracle = reader.string("no_oracle", "")};
  TRY_ASSIGN(answer.outputs, plan::value_from_json(reader.object("outputs")));
  std::vector<int> outputs;
  plan::append_tensors(answer.outputs, outputs);
  for (const int index : outputs)
    if (static_cast<std::size_t>(index) >= tensors.size())
      return fail("its outputs name a tensor that it did not send");
  answer.exact.resize(tensors.size());
  for (const Json& pair : reader.array("exact")) {
    if (!pair.is_array() || pair.size() != 2) return fail("an exact tensor is a pair");
    TRY_ASSIGN(const at::Tensor exact, tensor_named(pair[1], tensors));
    if (!pair[0].is_number_unsigned() || pair[0].get<std::size_t>() >= tensors.size())
      return fail("an exact tensor is nobody's");
    answer.exact[pair[0].get<std::size_t>()] = exact;
  }
  TRY(read_changes(reader.array("changed"), tensors, task, answer));
  TRY(reader.status());
  answer.tensors = std::move(tensors);
  return answer;
}

}  // namespace

tl::expected<trial::ReferenceMode, replay::Stop> PythonReferenceSource::prepare() {
  const Json question = {{"reference", {{"ask", "prepare"}}}};
  if (const auto sent = wire::write_frame(socket_, to_line(question), Deadline::never()); !sent)
    return broken(sent.error().error.message);
  const auto answer = read_answer(socket_);
  if (!answer) return tl::unexpected(answer.error());
  JsonReader reader(*answer);
  const auto mode = reader.enumerated<trial::ReferenceMode>("mode");
  if (const auto read = reader.status(); !read) return odd(read.error().message);
  return mode;
}

tl::expected<trial::ReferenceAnswer, replay::Stop> PythonReferenceSource::run(
    const trial::ReferenceQuestion& question) {
  const QuestionTensors asked = tensors_of(question);
  const Json message = {{"reference",
                         {{"ask", "forward"},
                          {"mode", tritonsmith::name_of(question.mode)},
                          {"init_seed", question.init_seed},
                          {"forward_seed", question.forward_seed},
                          {"oracle", question.with_oracle},
                          {"tensors", asked.tensors},
                          {"parameters", asked.parameters},
                          {"inputs", plan::to_json(question.task)["inputs"]},
                          {"blocks", asked.blocks}}}};
  auto sent = wire::write_frame(socket_, to_line(message), Deadline::never());
  for (const at::Tensor& memory : asked.memories)
    if (sent)
      sent =
          write_block(socket_, {static_cast<const char*>(memory.const_data_ptr()), memory.nbytes()},
                      Deadline::never());
  if (!sent) return broken(sent.error().error.message);
  const auto json = read_answer(socket_);
  if (!json) return tl::unexpected(json.error());
  const auto blocks = read_blocks(socket_, *json);
  if (!blocks) return broken(blocks.error().message);
  auto tensors = tensors_from(*json, *blocks);
  if (!tensors) return odd(tensors.error().message);
  auto answer = answer_from(*json, *std::move(tensors), question.task);
  if (!answer) return odd(answer.error().message);
  return *std::move(answer);
}

}  // namespace tritonsmith::gym::referee
