#include "model/weights/safetensors.h"

#include <ATen/ATen.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>

#include "base/json.h"

namespace tritonsmith::model {
namespace {

constexpr std::size_t kLengthBytes = 8;
constexpr std::size_t kLargestHeader = 100'000'000;  // the limit of the reference implementation
constexpr std::pair<std::string_view, c10::ScalarType> kDtypes[] = {
    {"F64", c10::kDouble}, {"F32", c10::kFloat}, {"F16", c10::kHalf},  {"BF16", c10::kBFloat16},
    {"I64", c10::kLong},   {"I32", c10::kInt},   {"I16", c10::kShort}, {"I8", c10::kChar},
    {"U8", c10::kByte},    {"BOOL", c10::kBool}};

std::optional<c10::ScalarType> dtype_from_name(std::string_view name) {
  for (const auto& [known, dtype] : kDtypes)
    if (known == name) return dtype;
  return std::nullopt;
}

std::string_view name_of_dtype(c10::ScalarType dtype) {
  for (const auto& [name, known] : kDtypes)
    if (known == dtype) return name;
  CHECK(false, "safetensors has no dtype for {}", c10::toString(dtype));
  return {};
}

// Returns the bytes of a tensor of this shape, or nothing if the product overflows.
std::optional<std::size_t> bytes_of(const SafetensorsFile::Entry& entry) {
  std::size_t bytes = c10::elementSize(entry.dtype);
  for (const std::int64_t size : entry.shape)
    if (size < 0 || __builtin_mul_overflow(bytes, static_cast<std::size_t>(size), &bytes))
      return std::nullopt;
  return bytes;
}

Result<std::vector<std::int64_t>> whole_numbers(const Json& array) {
  std::vector<std::int64_t> numbers;
  for (const Json& each : array) {
    if (!each.is_number_unsigned() ||
        each.get<std::uint64_t>() > std::numeric_limits<std::int64_t>::max())
      return fail("a size or offset is no whole number");
    numbers.push_back(each.get<std::int64_t>());
  }
  return numbers;
}

Result<SafetensorsFile::Entry> parse_entry(const Json& json, std::size_t data_bytes) {
  JsonReader reader(json);
  const std::string dtype_name = reader.string("dtype");
  const Json& shape = reader.array("shape");
  const Json& offsets = reader.array("data_offsets");
  TRY(reader.status());
  const auto dtype = dtype_from_name(dtype_name);
  if (!dtype) return fail("dtype '{}' is not supported", dtype_name);
  SafetensorsFile::Entry entry{.dtype = *dtype};
  TRY_ASSIGN(entry.shape, whole_numbers(shape));
  TRY_ASSIGN(const auto range, whole_numbers(offsets));
  if (range.size() != 2 || range[0] > range[1])
    return fail("data_offsets must be a begin and an end");
  entry.begin = static_cast<std::size_t>(range[0]);
  entry.end = static_cast<std::size_t>(range[1]);
  if (entry.end > data_bytes)
    return fail("its data end at byte {} of {}: the file is truncated", entry.end, data_bytes);
  const auto bytes = bytes_of(entry);
  if (!bytes || *bytes != entry.end - entry.begin)
    return fail("shape and dtype do not fit its {} bytes of data", entry.end - entry.begin);
  return entry;
}

Status check_no_overlap(const std::map<std::string, SafetensorsFile::Entry>& entries) {
  std::map<std::size_t, const std::pair<const std::string, SafetensorsFile::Entry>*> by_begin;
  for (const auto& each : entries) {
    if (each.second.begin == each.second.end) continue;
    if (!by_begin.emplace(each.second.begin, &each).second)
      return fail("tensor '{}' shares its data with another", each.first);
  }
  std::size_t end = 0;
  for (const auto& [begin, each] : by_begin) {
    if (begin < end) return fail("tensor '{}' shares its data with another", each->first);
    end = each->second.end;
  }
  return ok();
}

std::string header_of(std::span<const NamedTensor> tensors,
                      const std::map<std::string, std::string>& metadata) {
  Json header = Json::object();
  if (!metadata.empty()) header["__metadata__"] = metadata;
  std::size_t at = 0;
  for (const auto& [name, tensor] : tensors) {
    CHECK(!header.contains(name), "two tensors are named '{}'", name);
    const std::size_t end = at + tensor.nbytes();
    header[name] = {{"dtype", name_of_dtype(tensor.scalar_type())},
                    {"shape", tensor.sizes().vec()},
                    {"data_offsets", {at, end}}};
    at = end;
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');  // keeps the data aligned for readers that map it
  return text;
}

Status write_bytes(int fd, const void* data, std::size_t size) {
  const char* at = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t wrote = ::write(fd, at, size);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return fail_errno("write");
    at += wrote;
    size -= static_cast<std::size_t>(wrote);
  }
  return ok();
}

// Writes a GPU tensor through a buffer with fast copies. No other copy stays in host memory.
Status write_from_gpu(int fd, const at::Tensor& values) {
  constexpr std::int64_t kPiece = std::int64_t{64} << 20;
  const at::Tensor bytes = values.detach().contiguous().view({-1}).view(at::kByte);
  const std::int64_t most = std::min(kPiece, bytes.numel());
  const at::Tensor buffer = at::empty({most}, at::TensorOptions(at::kByte).pinned_memory(true));
  for (std::int64_t begin = 0; begin < bytes.numel(); begin += most) {
    const std::int64_t count = std::min(most, bytes.numel() - begin);
    at::Tensor piece = buffer.narrow(0, 0, count);
    piece.copy_(bytes.narrow(0, begin, count));
    TRY(write_bytes(fd, piece.const_data_ptr(), static_cast<std::size_t>(count)));
  }
  return ok();
}

Status write_values(int fd, const at::Tensor& values) {
  if (values.is_cuda()) return write_from_gpu(fd, values);
  const at::Tensor plain = values.detach().contiguous();
  return write_bytes(fd, plain.const_data_ptr(), plain.nbytes());
}

Status write_all(int fd, const std::string& header, std::span<const NamedTensor> tensors,
                 const TensorContent& content) {
  const std::uint64_t length = header.size();
  TRY(write_bytes(fd, &length, sizeof length));
  TRY(write_bytes(fd, header.data(), header.size()));
  for (const NamedTensor& each : tensors) {
    const at::Tensor values = content ? content(each) : each.tensor;
    CHECK(values.sizes() == each.tensor.sizes() && values.dtype() == each.tensor.dtype(),
          "other values than the header says for '{}'", each.name);
    TRY(write_values(fd, values));
  }
  if (::fsync(fd) != 0) return fail_errno("fsync");
  return ok();
}

}  // namespace

Result<SafetensorsFile> SafetensorsFile::open(const std::filesystem::path& path) {
  SafetensorsFile file(path);
  TRY(file.map());
  TRY_WITHIN(path.string(), file.parse_header());
  return file;
}

SafetensorsFile::SafetensorsFile(SafetensorsFile&& other) noexcept { *this = std::move(other); }

SafetensorsFile& SafetensorsFile::operator=(SafetensorsFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(bytes_, other.bytes_);
  std::swap(size_, other.size_);
  std::swap(data_begin_, other.data_begin_);
  std::swap(entries_, other.entries_);
  std::swap(metadata_, other.metadata_);
  return *this;
}

SafetensorsFile::~SafetensorsFile() {
  if (bytes_ != nullptr) ::munmap(const_cast<char*>(bytes_), size_);
}

Status SafetensorsFile::map() {
  const int fd = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return fail_errno(fmt::format("cannot open {}", path_.string()));
  struct stat status {};
  if (::fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size == 0) {
    ::close(fd);
    return fail("{} is empty or no file: no safetensors there", path_.string());
  }
  size_ = static_cast<std::size_t>(status.st_size);
  void* mapped = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, fd, 0);
  auto error = fail_errno(fmt::format("cannot map {}", path_.string()));
  ::close(fd);
  if (mapped == MAP_FAILED) return error;
  bytes_ = static_cast<const char*>(mapped);
  return ok();
}

Status SafetensorsFile::parse_header() {
  std::uint64_t length = 0;
  if (size_ < kLengthBytes) return fail("only {} bytes long: truncated", size_);
  std::memcpy(&length, bytes_, sizeof length);
  if (length > kLargestHeader) return fail("its header claims {} bytes: no safetensors", length);
  if (length > size_ - kLengthBytes)
    return fail("its header of {} bytes is cut off: truncated", length);
  data_begin_ = kLengthBytes + length;
  TRY_ASSIGN(const Json header, parse_json({bytes_ + kLengthBytes, length}));
  if (!header.is_object()) return fail("its header is no JSON object");
  for (const auto& [name, json] : header.items()) {
    if (name == "__metadata__") {
      for (const auto& [key, value] : json.items())
        if (value.is_string()) metadata_[key] = value.get<std::string>();
      continue;
    }
    auto entry = parse_entry(json, size_ - data_begin_);
    if (!entry) return fail("tensor '{}': {}", name, entry.error().message);
    entries_.emplace(name, *std::move(entry));
  }
  return check_no_overlap(entries_);
}

Result<at::Tensor> SafetensorsFile::tensor(const std::string& name) const {
  const auto at = entries_.find(name);
  if (at == entries_.end()) return fail("{}: no tensor '{}'", path_.string(), name);
  const Entry& entry = at->second;
  at::Tensor copy = at::empty(entry.shape, at::TensorOptions().dtype(entry.dtype));
  if (entry.begin != entry.end)
    std::memcpy(copy.mutable_data_ptr(), bytes_ + data_begin_ + entry.begin,
                entry.end - entry.begin);
  return copy;
}

Result<at::Tensor> SafetensorsFile::view(const std::string& name) const {
  const auto at = entries_.find(name);
  if (at == entries_.end()) return fail("{}: no tensor '{}'", path_.string(), name);
  const Entry& entry = at->second;
  const char* data = bytes_ + data_begin_ + entry.begin;
  if (reinterpret_cast<std::uintptr_t>(data) % c10::elementSize(entry.dtype) != 0)
    return tensor(name);  // only other writers leave data unaligned
  return at::from_blob(const_cast<char*>(data), entry.shape,
                       at::TensorOptions().dtype(entry.dtype));
}

void SafetensorsFile::release(const at::Tensor& view) const {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<std::uintptr_t>(view.const_data_ptr());
  const auto first = (begin + page - 1) / page * page, last = (begin + view.nbytes()) / page * page;
  const auto mapped = reinterpret_cast<std::uintptr_t>(bytes_);
  if (begin < mapped || begin + view.nbytes() > mapped + size_ || first >= last) return;
  ::madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
}

std::vector<at::Tensor> tensors_of(std::span<const NamedTensor> named) {
  std::vector<at::Tensor> tensors;
  for (const NamedTensor& each : named) tensors.push_back(each.tensor);
  return tensors;
}

Status write_safetensors(const std::filesystem::path& path, std::span<const NamedTensor> tensors,
                         const std::map<std::string, std::string>& metadata,
                         const TensorContent& content) {
  const std::string beside = path.string() + fmt::format(".new-{}", ::getpid());
  const int fd = ::open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0) return fail_errno(fmt::format("cannot write {}", path.string()));
  Status status = write_all(fd, header_of(tensors, metadata), tensors, content);
  ::close(fd);
  if (status && ::rename(beside.c_str(), path.c_str()) != 0) status = fail_errno("rename");
  if (!status) {
    ::unlink(beside.c_str());
    return tl::unexpected(status.error().within(fmt::format("cannot write {}", path.string())));
  }
  return ok();
}

}  // namespace tritonsmith::model
