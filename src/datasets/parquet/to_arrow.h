// Converts JSON rows to columns of Arrow.
#pragma once

#include <arrow/api.h>

#include <memory>
#include <vector>

#include "datasets/schema.h"

namespace tritonsmith::datasets::parquet {

std::shared_ptr<arrow::Schema> arrow_schema(const Schema& schema);

// Rows that wait to be written as one row group.
class RowBatch {
 public:
  explicit RowBatch(Schema schema);
  // Fails if a value does not fit its column: the schema was not found from this row.
  arrow::Status append(const Json& row);
  std::size_t bytes() const { return bytes_; }
  // Hands the rows over and begins anew.
  arrow::Result<std::shared_ptr<arrow::RecordBatch>> take();

 private:
  arrow::Status add(const Column& column, const Json* value, arrow::ArrayBuilder& builder);
  arrow::Status add_list(const Column& column, const Json& value, arrow::ArrayBuilder& builder);
  arrow::Status add_object(const Column& column, const Json& value, arrow::ArrayBuilder& builder);
  arrow::Status add_text(std::string_view text, arrow::ArrayBuilder& builder);

  Schema schema_;
  std::shared_ptr<arrow::Schema> types_;
  std::vector<std::unique_ptr<arrow::ArrayBuilder>> builders_;
  std::size_t bytes_ = 0;
  std::int64_t rows_ = 0;
};

}  // namespace tritonsmith::datasets::parquet
