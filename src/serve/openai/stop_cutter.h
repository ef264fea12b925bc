// StopCutter: cuts a text that comes in pieces before the first stop string, as OpenAI's protocol
// wants it. It holds back what may be the beginning of a stop string.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tritonsmith::serve::openai {

class StopCutter {
 public:
  explicit StopCutter(std::vector<std::string> strings) : strings_(std::move(strings)) {}

  // Returns the part of the text that can be shown by now and was not returned before.
  std::string push(std::string_view piece);
  // The rest, at the text's end.
  std::string finish();

 private:
  std::vector<std::string> strings_;
  std::string held_;
  bool is_over_ = false;
};

}  // namespace tritonsmith::serve::openai
