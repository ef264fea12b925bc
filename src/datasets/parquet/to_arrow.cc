#include "datasets/parquet/to_arrow.h"

#include "datasets/parquet/from_arrow.h"

namespace tritonsmith::datasets::parquet {
namespace {

std::shared_ptr<arrow::DataType> type_of(const Column& column) {
  switch (column.kind) {
    case ColumnKind::boolean:
      return arrow::boolean();
    case ColumnKind::integer:
      return arrow::int64();
    case ColumnKind::number:
      return arrow::float64();
    case ColumnKind::list:
      return arrow::list(type_of(column.inner.front()));
    case ColumnKind::object: {
      if (column.inner.empty()) return arrow::utf8();  // Parquet has no object without members
      arrow::FieldVector fields;
      for (const Column& each : column.inner)
        fields.push_back(arrow::field(each.name, type_of(each)));
      return arrow::struct_(fields);
    }
    case ColumnKind::unknown:
    case ColumnKind::text:
    case ColumnKind::json:
      return arrow::utf8();
  }
  return arrow::utf8();
}

arrow::Status misfit(const Column& column, const Json& value) {
  return arrow::Status::TypeError("column ", column.name, " cannot hold ", value.type_name());
}

}  // namespace

std::shared_ptr<arrow::Schema> arrow_schema(const Schema& schema) {
  arrow::FieldVector fields;
  for (const Column& each : schema) fields.push_back(arrow::field(each.name, type_of(each)));
  return arrow::schema(fields);
}

RowBatch::RowBatch(Schema schema) : schema_(std::move(schema)), types_(arrow_schema(schema_)) {
  for (const auto& field : types_->fields())
    builders_.push_back(arrow::MakeBuilder(field->type()).ValueOrDie());
}

arrow::Status RowBatch::append(const Json& row) {
  for (std::size_t i = 0; i < schema_.size(); ++i) {
    const auto at = row.find(schema_[i].name);
    ARROW_RETURN_NOT_OK(add(schema_[i], at == row.end() ? nullptr : &*at, *builders_[i]));
  }
  ++rows_;
  return arrow::Status::OK();
}

arrow::Result<std::shared_ptr<arrow::RecordBatch>> RowBatch::take() {
  arrow::ArrayVector columns;
  for (const auto& builder : builders_) {
    ARROW_ASSIGN_OR_RAISE(auto column, builder->Finish());
    columns.push_back(std::move(column));
  }
  auto batch = arrow::RecordBatch::Make(types_, rows_, std::move(columns));
  rows_ = 0;
  bytes_ = 0;
  return batch;
}

arrow::Status RowBatch::add(const Column& column, const Json* value, arrow::ArrayBuilder& builder) {
  bytes_ += 8;
  if (value == nullptr || value->is_null()) return builder.AppendNull();
  switch (column.kind) {
    case ColumnKind::boolean:
      if (!value->is_boolean()) return misfit(column, *value);
      return static_cast<arrow::BooleanBuilder&>(builder).Append(value->get<bool>());
    case ColumnKind::integer:
      if (!value->is_number_integer()) return misfit(column, *value);
      return static_cast<arrow::Int64Builder&>(builder).Append(value->get<std::int64_t>());
    case ColumnKind::number:
      if (!value->is_number()) return misfit(column, *value);
      return static_cast<arrow::DoubleBuilder&>(builder).Append(value->get<double>());
    case ColumnKind::list:
      return add_list(column, *value, builder);
    case ColumnKind::object:
      return add_object(column, *value, builder);
    case ColumnKind::text:
      if (!value->is_string()) return misfit(column, *value);
      return add_text(value->get_ref<const std::string&>(), builder);
    case ColumnKind::unknown:
      return misfit(column, *value);
    case ColumnKind::json:
      return add_text(one_line(*value), builder);
  }
  return misfit(column, *value);
}

arrow::Status RowBatch::add_list(const Column& column, const Json& value,
                                 arrow::ArrayBuilder& builder) {
  if (!value.is_array()) return misfit(column, value);
  auto& list = static_cast<arrow::ListBuilder&>(builder);
  ARROW_RETURN_NOT_OK(list.Append());
  for (const Json& each : value)
    ARROW_RETURN_NOT_OK(add(column.inner.front(), &each, *list.value_builder()));
  return arrow::Status::OK();
}

arrow::Status RowBatch::add_object(const Column& column, const Json& value,
                                   arrow::ArrayBuilder& builder) {
  if (!value.is_object()) return misfit(column, value);
  if (column.inner.empty()) return add_text("{}", builder);
  auto& object = static_cast<arrow::StructBuilder&>(builder);
  ARROW_RETURN_NOT_OK(object.Append());
  for (std::size_t i = 0; i < column.inner.size(); ++i) {
    const auto at = value.find(column.inner[i].name);
    ARROW_RETURN_NOT_OK(add(column.inner[i], at == value.end() ? nullptr : &*at,
                            *object.field_builder(static_cast<int>(i))));
  }
  return arrow::Status::OK();
}

arrow::Status RowBatch::add_text(std::string_view text, arrow::ArrayBuilder& builder) {
  bytes_ += text.size();
  return static_cast<arrow::StringBuilder&>(builder).Append(text);
}

}  // namespace tritonsmith::datasets::parquet
