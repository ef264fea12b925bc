// The safetensors format: named tensors in one file (8 bytes of header length, a JSON header, raw
// little-endian data). Reading maps the file and first checks every byte of the header, because
// foreign files may hold anything. Writing is atomic: the target is either the whole old file or
// the whole new one. SafetensorsFile owns the mapping. Any thread may read.
#pragma once

#include <ATen/core/Tensor.h>

#include <filesystem>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"

namespace tritonsmith::model {

struct NamedTensor {
  std::string name;
  at::Tensor tensor;
};
// Returns the tensors without their names, in the same order.
std::vector<at::Tensor> tensors_of(std::span<const NamedTensor> named);

class SafetensorsFile {
 public:
  struct Entry {
    c10::ScalarType dtype;
    std::vector<std::int64_t> shape;
    std::size_t begin = 0;  // bytes from the start of the data
    std::size_t end = 0;
  };

  // Fails in one line that names the file if it is missing, truncated or inconsistent.
  static Result<SafetensorsFile> open(const std::filesystem::path& path);
  SafetensorsFile(SafetensorsFile&& other) noexcept;
  SafetensorsFile& operator=(SafetensorsFile&& other) noexcept;
  ~SafetensorsFile();

  const std::filesystem::path& path() const { return path_; }
  const std::map<std::string, Entry>& entries() const { return entries_; }
  // The header's "__metadata__", which holds text only.
  const std::map<std::string, std::string>& metadata() const { return metadata_; }

  // Returns a copy on the CPU in the file's dtype. It may outlive the file.
  Result<at::Tensor> tensor(const std::string& name) const;
  // Returns the mapped bytes as a tensor. It is read-only and must not outlive this object.
  Result<at::Tensor> view(const std::string& name) const;
  // Releases the pages of a view after use, so that a file may be larger than memory.
  void release(const at::Tensor& view) const;

 private:
  explicit SafetensorsFile(std::filesystem::path path) : path_(std::move(path)) {}
  Status map();
  Status parse_header();
  std::filesystem::path path_;
  const char* bytes_ = nullptr;
  std::size_t size_ = 0;
  std::size_t data_begin_ = 0;
  std::map<std::string, Entry> entries_;
  std::map<std::string, std::string> metadata_;
};

// Returns the values of a tensor when they are written. They must have its type and shape.
using TensorContent = std::function<at::Tensor(const NamedTensor&)>;

// The tensors may lie on any device and have any strides; their names must differ. With `content`,
// the tensors only give types and shapes, and `content` gives the values.
Status write_safetensors(const std::filesystem::path& path, std::span<const NamedTensor> tensors,
                         const std::map<std::string, std::string>& metadata = {},
                         const TensorContent& content = {});

}  // namespace tritonsmith::model
