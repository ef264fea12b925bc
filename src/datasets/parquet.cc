#include "datasets/parquet.h"

#include <dlfcn.h>
#include <unistd.h>

#include "base/file.h"
#include "datasets/parquet/interface.h"

namespace tritonsmith::datasets {
namespace {

namespace fs = std::filesystem;

constexpr const char* kName = "libtritonsmith_parquet.so";

// The library of an installed program lies beside the folder of the program, that of a build where
// the build put it.
std::vector<std::string> paths() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  return {(program.parent_path().parent_path() / "lib" / kName).string(),
          TRITONSMITH_PARQUET_LIBRARY};
}

Result<const parquet::Library*> load() {
  std::string why;
  for (const std::string& path : paths()) {
    if (::access(path.c_str(), R_OK) != 0) continue;
    // It stays loaded: Arrow has threads that end with the process.
    void* const handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (handle == nullptr) {
      why = ::dlerror();
      continue;
    }
    const auto entry = reinterpret_cast<parquet::Entry>(::dlsym(handle, parquet::kEntry));
    if (entry != nullptr && entry()->interface == parquet::kInterface) return entry();
    why = path + " belongs to another version of this program";
  }
  const std::string advice =
      "Parquet needs Apache Arrow; install it: pip install pyarrow==" TRITONSMITH_PYARROW;
  if (why.empty()) return fail("{}, and build again", advice);
  return fail("{} ({})", advice, why);
}

const Result<const parquet::Library*>& library() {
  static const Result<const parquet::Library*> loaded = load();
  return loaded;
}

// Gives the file its name when it is whole.
class WholeFile : public RowWriter {
 public:
  WholeFile(fs::path file, fs::path beside) : file_(std::move(file)), beside_(std::move(beside)) {}
  ~WholeFile() override {
    inner_.reset();
    std::error_code ignored;
    if (!finished_) fs::remove(beside_, ignored);
  }
  void fill(std::unique_ptr<RowWriter> inner) { inner_ = std::move(inner); }

  Status write(const Json& row) override {
    TRY_WITHIN(file_.string(), inner_->write(row));
    return ok();
  }
  Status finish() override {
    TRY_WITHIN(file_.string(), inner_->finish());
    inner_.reset();
    if (::rename(beside_.c_str(), file_.c_str()) != 0)
      return fail_errno(fmt::format("cannot write {}", file_.string()));
    finished_ = true;
    return ok();
  }

 private:
  fs::path file_, beside_;
  std::unique_ptr<RowWriter> inner_;
  bool finished_ = false;
};

}  // namespace

std::string why_no_parquet() { return library() ? "" : library().error().message; }

Result<std::unique_ptr<RowReader>> read_parquet_rows(const fs::path& file) {
  TRY_ASSIGN(const parquet::Library* arrow, library());
  return arrow->read(file.string());
}

Result<std::unique_ptr<RowWriter>> write_parquet_rows(const fs::path& file, const Schema& schema) {
  TRY_ASSIGN(const parquet::Library* arrow, library());
  if (file.has_parent_path()) TRY(make_directories(file.parent_path()));
  const fs::path beside = file.string() + fmt::format(".new-{}", ::getpid());
  auto whole = std::make_unique<WholeFile>(file, beside);
  TRY_ASSIGN(auto inner, arrow->write(beside.string(), schema));
  whole->fill(std::move(inner));
  return std::unique_ptr<RowWriter>(std::move(whole));
}

}  // namespace tritonsmith::datasets
