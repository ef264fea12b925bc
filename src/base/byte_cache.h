// ByteCache: a map that holds a limited number of bytes. When it exceeds the limit, the values that
// were used longest ago leave. The caller says how large a value is. One thread uses a cache.
//
//   ByteCache<Plan> plans(64 << 20);
//   plans.add(key, std::move(plan), text.size());
//   if (const Plan* plan = plans.find(key)) ...   // valid until the next add()
#pragma once

#include <cstddef>
#include <iterator>
#include <list>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tritonsmith {

template <typename Value>
class ByteCache {
 public:
  // Each entry counts this number of bytes in addition to its key and its value. So the number of
  // small entries is limited, too.
  static constexpr std::size_t kEntryBytes = 256;

  explicit ByteCache(std::size_t most_bytes) : most_bytes_(most_bytes) {}

  bool contains(const std::string& key) const { return by_key_.contains(key); }

  // Returns the value, or null. It then counts as used last.
  Value* find(const std::string& key) {
    const auto at = by_key_.find(key);
    if (at == by_key_.end()) return nullptr;
    newest_first_.splice(newest_first_.begin(), newest_first_, at->second);
    return &at->second->value;
  }

  // Keeps a value, in place of an earlier one with the same key, and returns it. The new value
  // stays even if it is larger than the cache. Appends the keys of values that left to `left`.
  Value& add(const std::string& key, Value value, std::size_t bytes,
             std::vector<std::string>* left = nullptr) {
    if (const auto at = by_key_.find(key); at != by_key_.end()) forget(at->second);
    newest_first_.push_front({key, std::move(value), key.size() + bytes + kEntryBytes});
    by_key_[newest_first_.front().key] = newest_first_.begin();
    bytes_ += newest_first_.front().bytes;
    while (bytes_ > most_bytes_ && newest_first_.size() > 1) {
      if (left != nullptr) left->push_back(newest_first_.back().key);
      forget(std::prev(newest_first_.end()));
    }
    return newest_first_.front().value;
  }

  std::size_t bytes() const { return bytes_; }
  std::size_t size() const { return newest_first_.size(); }

 private:
  struct Entry {
    std::string key;
    Value value;
    std::size_t bytes = 0;
  };
  using Iterator = typename std::list<Entry>::iterator;

  void forget(Iterator entry) {
    bytes_ -= entry->bytes;
    by_key_.erase(entry->key);
    newest_first_.erase(entry);
  }

  std::size_t most_bytes_;
  std::size_t bytes_ = 0;
  std::list<Entry> newest_first_;
  std::unordered_map<std::string_view, Iterator> by_key_;  // the keys lie in the entries
};

}  // namespace tritonsmith
