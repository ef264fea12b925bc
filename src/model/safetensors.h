// The safetensors format: named tensors in one file (8 bytes of header length, a JSON header, raw
// little-endian data). Reading maps the file and checks every byte of the header first; foreign
// files may hold anything. Writing is atomic: the target is either the old file or the new one,
// whole. SafetensorsFile owns the mapping. Any thread may read.
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
// Without the names, in their order.
std::vector<at::Tensor> tensors_of(std::span<const NamedTensor> named);

class SafetensorsFile {
 public:
  struct Entry {
    c10::ScalarType dtype;
    std::vector<std::int64_t> shape;
    std::size_t begin = 0;  // bytes from the start of the data
    std::size_t end = 0;
  };

  // Fails in one line that names the file: missing, truncated, a header that lies.
  static Result<SafetensorsFile> open(const std::filesystem::path& path);
  SafetensorsFile(SafetensorsFile&& other) noexcept;
  SafetensorsFile& operator=(SafetensorsFile&& other) noexcept;
  ~SafetensorsFile();

  const std::filesystem::path& path() const { return path_; }
  const std::map<std::string, Entry>& entries() const { return entries_; }
  // The "__metadata__" of the header: text only.
  const std::map<std::string, std::string>& metadata() const { return metadata_; }

  // A copy on the CPU, in the file's dtype; outlives the file.
  Result<at::Tensor> tensor(const std::string& name) const;
  // The mapped bytes themselves as a tensor: read-only, and no longer than this file lives.
  Result<at::Tensor> view(const std::string& name) const;
  // Whoever has read a view lets its pages go, so that reading a file larger than memory works.
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

// Gives the values of a tensor at the moment they are written, in its type and shape.
using TensorContent = std::function<at::Tensor(const NamedTensor&)>;

// Tensors of any device and strides; names must differ. With `content`, the tensors themselves only
// say what is to come.
Status write_safetensors(const std::filesystem::path& path, std::span<const NamedTensor> tensors,
                         const std::map<std::string, std::string>& metadata = {},
                         const TensorContent& content = {});

}  // namespace tritonsmith::model
