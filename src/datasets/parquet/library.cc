// The entry of libtritonsmith_parquet.so: readers and writers of Parquet files by Arrow.
#include <arrow/api.h>
#include <arrow/io/file.h>
#include <arrow/util/io_util.h>
#include <parquet/arrow/reader.h>
#include <parquet/arrow/writer.h>
#include <parquet/exception.h>

#include <cerrno>

#include "datasets/parquet/from_arrow.h"
#include "datasets/parquet/interface.h"
#include "datasets/parquet/to_arrow.h"

namespace tritonsmith::datasets::parquet {
namespace {

// Few rows at a time: a row of a data set of kernels holds several sources of 10 KB and more.
constexpr std::int64_t kBatchRows = 64;
constexpr std::size_t kGroupBytes = std::size_t{64} << 20;

tl::unexpected<Error> failed(const std::string& file, const arrow::Status& status) {
  return fail("{}: cannot be read as Parquet ({}); if it was fetched, fetch it again", file,
              status.message().substr(0, 300));
}

class ParquetRows : public RowReader {
 public:
  ParquetRows(std::string name, std::unique_ptr<::parquet::arrow::FileReader> file,
              std::shared_ptr<arrow::RecordBatchReader> batches)
      : name_(std::move(name)), file_(std::move(file)), batches_(std::move(batches)) {}

  Result<std::optional<Row>> next() override {
    while (batch_ == nullptr || at_ == batch_->num_rows()) {
      at_ = 0;
      if (const arrow::Status status = batches_->ReadNext(&batch_); !status.ok())
        return failed(name_, status);
      if (batch_ == nullptr) return std::nullopt;
    }
    Row row{.value = Json::object(),
            .location = fmt::format("{}, row {}", name_, ++number_),
            .problem = {}};
    for (int i = 0; i < batch_->num_columns(); ++i)
      row.value[batch_->column_name(i)] = value_at(*batch_->column(i), at_);
    ++at_;
    return row;
  }

 private:
  std::string name_;
  std::unique_ptr<::parquet::arrow::FileReader> file_;
  std::shared_ptr<arrow::RecordBatchReader> batches_;
  std::shared_ptr<arrow::RecordBatch> batch_;
  std::int64_t at_ = 0, number_ = 0;
};

arrow::Result<std::unique_ptr<RowReader>> open_rows(const std::string& file) {
  ARROW_ASSIGN_OR_RAISE(auto input, arrow::io::ReadableFile::Open(file));
  ::parquet::ReaderProperties pages(arrow::default_memory_pool());
  pages.enable_buffered_stream();  // otherwise a column of a row group is read whole
  ::parquet::ArrowReaderProperties how(/*use_threads=*/false);
  how.set_batch_size(kBatchRows);
  how.set_pre_buffer(false);
  ::parquet::arrow::FileReaderBuilder builder;
  ARROW_RETURN_NOT_OK(builder.Open(input, pages));
  builder.properties(how);
  std::unique_ptr<::parquet::arrow::FileReader> reader;
  ARROW_RETURN_NOT_OK(builder.Build(&reader));
  ARROW_ASSIGN_OR_RAISE(auto batches, reader->GetRecordBatchReader());
  return std::make_unique<ParquetRows>(file, std::move(reader), std::move(batches));
}

Result<std::unique_ptr<RowReader>> read(const std::string& file) {
  try {
    auto rows = open_rows(file);
    if (!rows.ok()) return failed(file, rows.status());
    return std::move(rows).ValueOrDie();
  } catch (const std::exception& error) {
    return failed(file, arrow::Status::Invalid(error.what()));
  }
}

class ParquetWriter : public RowWriter {
 public:
  ParquetWriter(const Schema& schema, std::unique_ptr<::parquet::arrow::FileWriter> file,
                std::shared_ptr<arrow::io::FileOutputStream> output)
      : batch_(schema), file_(std::move(file)), output_(std::move(output)) {}

  Status write(const Json& row) override {
    TRY(said(batch_.append(row)));
    if (batch_.bytes() >= kGroupBytes) TRY(said(flush()));
    return ok();
  }
  Status finish() override { return said(end()); }

 private:
  static Status said(const arrow::Status& status) {
    if (status.ok()) return ok();
    if (const int code = arrow::internal::ErrnoFromStatus(status); code != 0) {
      errno = code;
      return fail_errno("cannot be written");
    }
    return fail("{}", status.message().substr(0, 300));
  }
  arrow::Status flush() {
    ARROW_ASSIGN_OR_RAISE(const auto rows, batch_.take());
    if (rows->num_rows() == 0) return arrow::Status::OK();
    ARROW_RETURN_NOT_OK(file_->NewBufferedRowGroup());
    return file_->WriteRecordBatch(*rows);
  }
  arrow::Status end() {
    ARROW_RETURN_NOT_OK(flush());
    ARROW_RETURN_NOT_OK(file_->Close());
    return output_->Close();
  }

  RowBatch batch_;
  std::unique_ptr<::parquet::arrow::FileWriter> file_;
  std::shared_ptr<arrow::io::FileOutputStream> output_;
};

arrow::Result<std::unique_ptr<RowWriter>> create_rows(const std::string& file,
                                                      const Schema& schema) {
  ARROW_ASSIGN_OR_RAISE(auto output, arrow::io::FileOutputStream::Open(file));
  const auto how =
      ::parquet::WriterProperties::Builder().compression(::parquet::Compression::ZSTD)->build();
  const auto types = ::parquet::ArrowWriterProperties::Builder().store_schema()->build();
  ARROW_ASSIGN_OR_RAISE(
      auto writer, ::parquet::arrow::FileWriter::Open(
                       *arrow_schema(schema), arrow::default_memory_pool(), output, how, types));
  return std::make_unique<ParquetWriter>(schema, std::move(writer), std::move(output));
}

Result<std::unique_ptr<RowWriter>> write(const std::string& file, const Schema& schema) {
  try {
    auto writer = create_rows(file, schema);
    if (!writer.ok())
      return fail("cannot write {}: {}", file, writer.status().message().substr(0, 300));
    return std::move(writer).ValueOrDie();
  } catch (const std::exception& error) {
    return fail("cannot write {}: {}", file, error.what());
  }
}

constexpr Library kLibrary = {.interface = kInterface, .read = read, .write = write};

}  // namespace
}  // namespace tritonsmith::datasets::parquet

extern "C" __attribute__((visibility("default"))) const tritonsmith::datasets::parquet::Library*
tritonsmith_parquet() {
  return &tritonsmith::datasets::parquet::kLibrary;
}
