#include "distributed/ranks.h"

#include "base/check.h"

namespace tritonsmith::distributed {
namespace {

class Alone : public Ranks {
 public:
  Alone() : Ranks(0, 1) {}
  Status sum(const at::Tensor&, std::string_view) override { return ok(); }
  Status largest(const at::Tensor&, std::string_view) override { return ok(); }
  Status sum_to_shards(const at::Tensor&, std::string_view) override { return ok(); }
  Status gather_shards(const at::Tensor&, std::string_view) override { return ok(); }
  Result<std::vector<std::string>> gather(std::string_view bytes, std::string_view) override {
    return std::vector<std::string>{std::string(bytes)};
  }
  void end(const Status&) override {}
};

}  // namespace

Shard Ranks::shard_of(std::int64_t elements) const {
  CHECK(elements % size_ == 0, "{} elements do not cut into {} shards", elements, size_);
  const std::int64_t count = elements / size_;
  return {.begin = rank_ * count, .count = count};
}

std::int64_t Ranks::padded(std::int64_t elements, std::int64_t row) const {
  const std::int64_t unit = row * size_;
  return (elements + unit - 1) / unit * unit;
}

Result<std::string> Ranks::from_first(std::string_view bytes, std::string_view what) {
  TRY_ASSIGN(auto all, gather(is_first() ? bytes : std::string_view(), what));
  return std::move(all.front());
}

Status Ranks::meet(std::string_view what) {
  if (is_alone()) return ok();
  TRY(gather({}, what));
  return ok();
}

Status Ranks::agree(const Status& mine, std::string_view what) {
  if (is_alone()) return mine;
  // A mark in front says of which kind it is; an error may have no message.
  constexpr char kInput = '!', kFault = '#';
  const auto mark_of = [](const Error& e) { return e.kind == ErrorKind::fault ? kFault : kInput; };
  const std::string word = mine ? "" : mark_of(mine.error()) + mine.error().message;
  TRY_ASSIGN(const auto all, gather(word, what));
  if (!mine) return mine;
  for (std::size_t rank = 0; rank < all.size(); ++rank)
    if (!all[rank].empty())
      return tl::unexpected(
          Error{fmt::format("rank {} of {}: {}", rank, size_, all[rank].substr(1)),
                all[rank].front() == kFault ? ErrorKind::fault : ErrorKind::input});
  return ok();
}

Result<bool> Ranks::any(bool mine, std::string_view what) {
  if (is_alone()) return mine;
  TRY_ASSIGN(const auto all, gather(mine ? "x" : "", what));
  for (const std::string& word : all)
    if (!word.empty()) return true;
  return false;
}

std::unique_ptr<Ranks> alone() { return std::make_unique<Alone>(); }

Ranks& nobody_else() {
  static Alone only;
  return only;
}

}  // namespace tritonsmith::distributed
