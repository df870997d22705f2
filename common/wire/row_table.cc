// The columns of RowTable (wire.proto has the field numbers; numbers are packed varints). Each name
// in braces is a column; the columns of a group have the same length.
//
//   RowTable := string*                                      ; each once, in order of first use
//               module { soname package_version build_id }*  ; indices into strings
//               api    { module symbol symbol_version }*     ; into modules, strings, strings
//               row    { api metric week bucket_count }*     ; this row has that many buckets
//               bucket { slot count sum_low sum_high squares_low squares_high }*
//                                              ; row by row, ascending slots, count > 0
//               row_untimed* ; one per row; absent if all are 0
//
// In fragments, rows have neither bucket_count nor buckets here.
#include "common/wire/row_table.h"

#include <algorithm>
#include <bit>

#include "common/base/check.h"
#include "common/wire/wire.pb.h"
#include "common/wire/wire_limits.h"

namespace fieldcost::wire {
namespace {

// Returns the key's number; if it has none yet, assigns the next free one and sets `is_new`.
template <typename Map, typename Key>
std::uint32_t Number(Map& numbers, const Key& key, bool& is_new) {
  const auto [place, inserted] =
      numbers.try_emplace(key, static_cast<std::uint32_t>(numbers.size()));
  is_new = inserted;
  return place->second;
}

constexpr std::size_t VarintBytes(std::uint64_t value) {
  return (static_cast<std::size_t>(std::bit_width(value | 1)) + 6) / 7;
}

// Appends a number to a packed column, and its size to `bytes`.
template <typename Column, typename Value>
void Put(Column& column, std::size_t& bytes, Value value) {
  column.Add(value);
  bytes += VarintBytes(value);
}

template <typename Column>
bool AllBelow(const Column& column, int bound) {
  return std::all_of(column.begin(), column.end(), [bound](std::uint32_t index) {
    return index < static_cast<std::uint32_t>(bound);
  });
}

Error LengthsDiffer(std::string_view group) {
  return Fail(ErrorCode::kCorrupt, "columns of the {} have different lengths", group);
}

Error IndexOutOfRange(std::string_view group) {
  return Fail(ErrorCode::kCorrupt, "a column of the {} has an index out of range", group);
}

Status CheckStrings(const proto::RowTable& table) {
  if (static_cast<std::size_t>(table.strings_size()) > kMaxStrings) {
    return Fail(ErrorCode::kTooLarge, "{} strings, at most {} are accepted", table.strings_size(),
                kMaxStrings);
  }
  for (const std::string& text : table.strings()) {
    if (text.size() > kMaxSymbolBytes) {
      return Fail(ErrorCode::kTooLarge, "a text of {} bytes, at most {} are accepted", text.size(),
                  kMaxSymbolBytes);
    }
  }
  return {};
}

Status CheckKeys(const proto::RowTable& table) {
  const int strings = table.strings_size();
  const int modules = table.module_soname_size();
  if (table.module_package_version_size() != modules || table.module_build_id_size() != modules) {
    return LengthsDiffer("modules");
  }
  if (!AllBelow(table.module_soname(), strings) ||
      !AllBelow(table.module_package_version(), strings) ||
      !AllBelow(table.module_build_id(), strings)) {
    return IndexOutOfRange("modules");
  }
  const int apis = table.api_module_size();
  if (table.api_symbol_size() != apis || table.api_symbol_version_size() != apis) {
    return LengthsDiffer("APIs");
  }
  if (!AllBelow(table.api_module(), modules) || !AllBelow(table.api_symbol(), strings) ||
      !AllBelow(table.api_symbol_version(), strings)) {
    return IndexOutOfRange("APIs");
  }
  return {};
}

Status CheckRowKeys(const proto::RowTable& table, std::size_t max_rows) {
  const int rows = table.row_api_size();
  if (static_cast<std::size_t>(rows) > max_rows) {
    return Fail(ErrorCode::kTooLarge, "{} rows, at most {} are accepted", rows, max_rows);
  }
  if (table.row_metric_size() != rows || table.row_week_size() != rows) {
    return LengthsDiffer("rows");
  }
  if (!AllBelow(table.row_api(), table.api_module_size())) return IndexOutOfRange("rows");
  return {};
}

// REQUIRES: the keys of the rows are valid.
Status CheckBuckets(const proto::RowTable& table) {
  const int rows = table.row_api_size();
  if (table.row_bucket_count_size() != rows ||
      (table.row_untimed_size() != 0 && table.row_untimed_size() != rows)) {
    return LengthsDiffer("rows");
  }
  const int buckets = table.bucket_slot_size();
  if (table.bucket_count_size() != buckets || table.bucket_sum_low_size() != buckets ||
      table.bucket_sum_high_size() != buckets || table.bucket_squares_low_size() != buckets ||
      table.bucket_squares_high_size() != buckets) {
    return LengthsDiffer("buckets");
  }
  return {};
}

// Whether the table is one of rows without buckets.
bool HasKeysOnly(const proto::RowTable& table) {
  return table.row_bucket_count_size() == 0 && table.row_untimed_size() == 0 &&
         table.bucket_slot_size() == 0 && table.bucket_count_size() == 0 &&
         table.bucket_sum_low_size() == 0 && table.bucket_sum_high_size() == 0 &&
         table.bucket_squares_low_size() == 0 && table.bucket_squares_high_size() == 0;
}

}  // namespace

std::size_t FieldBytes(int number, std::size_t bytes) {
  constexpr unsigned kWireTypeBits = 3;
  return VarintBytes(std::uint64_t{static_cast<unsigned>(number)} << kWireTypeBits) +
         VarintBytes(bytes) + bytes;
}

std::uint32_t RowTableWriter::StringIndex(const std::string& text) {
  bool is_new = false;
  const std::uint32_t index = Number(strings_, text, is_new);
  if (is_new) {
    table_.add_strings(text);
    string_bytes_ += FieldBytes(proto::RowTable::kStringsFieldNumber, text.size());
  }
  return index;
}

std::uint32_t RowTableWriter::ApiIndex(const stats::ApiKey& api) {
  bool is_new = false;
  // In separate statements: the order of evaluation determines the bytes.
  const std::uint32_t soname = StringIndex(api.soname);
  const std::uint32_t package_version = StringIndex(api.package_version);
  const std::uint32_t build_id = StringIndex(api.build_id);
  const std::uint32_t module = Number(modules_, Triple{soname, package_version, build_id}, is_new);
  if (is_new) {
    Put(*table_.mutable_module_soname(), packed_bytes_[proto::RowTable::kModuleSonameFieldNumber],
        soname);
    Put(*table_.mutable_module_package_version(),
        packed_bytes_[proto::RowTable::kModulePackageVersionFieldNumber], package_version);
    Put(*table_.mutable_module_build_id(),
        packed_bytes_[proto::RowTable::kModuleBuildIdFieldNumber], build_id);
  }
  const std::uint32_t symbol = StringIndex(api.symbol);
  const std::uint32_t symbol_version = StringIndex(api.symbol_version);
  const std::uint32_t index = Number(apis_, Triple{module, symbol, symbol_version}, is_new);
  if (is_new) {
    Put(*table_.mutable_api_module(), packed_bytes_[proto::RowTable::kApiModuleFieldNumber],
        module);
    Put(*table_.mutable_api_symbol(), packed_bytes_[proto::RowTable::kApiSymbolFieldNumber],
        symbol);
    Put(*table_.mutable_api_symbol_version(),
        packed_bytes_[proto::RowTable::kApiSymbolVersionFieldNumber], symbol_version);
  }
  return index;
}

void RowTableWriter::AppendKey(std::uint32_t api, stats::Metric metric, std::uint32_t week) {
  Put(*table_.mutable_row_api(), packed_bytes_[proto::RowTable::kRowApiFieldNumber], api);
  Put(*table_.mutable_row_metric(), packed_bytes_[proto::RowTable::kRowMetricFieldNumber],
      static_cast<std::uint32_t>(metric));
  Put(*table_.mutable_row_week(), packed_bytes_[proto::RowTable::kRowWeekFieldNumber], week);
}

void RowTableWriter::Append(const stats::ApiKey& api, stats::Metric metric, std::uint32_t week,
                            const stats::CostHistogram& histogram) {
  AppendKey(ApiIndex(api), metric, week);
  std::uint32_t buckets = 0;
  histogram.ForEachUsed([&](unsigned slot, const stats::Bucket& bucket) {
    Put(*table_.mutable_bucket_slot(), packed_bytes_[proto::RowTable::kBucketSlotFieldNumber],
        slot);
    Put(*table_.mutable_bucket_count(), packed_bytes_[proto::RowTable::kBucketCountFieldNumber],
        bucket.count);
    Put(*table_.mutable_bucket_sum_low(), packed_bytes_[proto::RowTable::kBucketSumLowFieldNumber],
        stats::Low64(bucket.sum));
    Put(*table_.mutable_bucket_sum_high(),
        packed_bytes_[proto::RowTable::kBucketSumHighFieldNumber], stats::High64(bucket.sum));
    Put(*table_.mutable_bucket_squares_low(),
        packed_bytes_[proto::RowTable::kBucketSquaresLowFieldNumber],
        stats::Low64(bucket.sum_of_squares));
    Put(*table_.mutable_bucket_squares_high(),
        packed_bytes_[proto::RowTable::kBucketSquaresHighFieldNumber],
        stats::High64(bucket.sum_of_squares));
    ++buckets;
  });
  Put(*table_.mutable_row_bucket_count(),
      packed_bytes_[proto::RowTable::kRowBucketCountFieldNumber], buckets);
  if (histogram.untimed() != 0 || table_.row_untimed_size() != 0) {
    // The first row with a nonzero value adds the column, with zeros for the rows before it.
    const int before = table_.row_api_size() - 1;
    std::size_t& bytes = packed_bytes_[proto::RowTable::kRowUntimedFieldNumber];
    if (table_.row_untimed_size() == 0) bytes = static_cast<std::size_t>(before) * VarintBytes(0);
    table_.mutable_row_untimed()->Resize(before, 0);
    Put(*table_.mutable_row_untimed(), bytes, histogram.untimed());
  }
}

std::size_t RowTableWriter::size_bytes() const {
  std::size_t bytes = string_bytes_;
  for (std::size_t field = 0; field < kFields; ++field) {
    if (packed_bytes_[field] != 0) {
      bytes += FieldBytes(static_cast<int>(field), packed_bytes_[field]);
    }
  }
  return bytes;
}

Status RowTableReader::OpenKeys(const proto::RowTable& untrusted_table, std::size_t max_rows) {
  const proto::RowTable& table = untrusted_table;
  table_ = nullptr;
  row_count_ = 0;
  first_bucket_.clear();
  FIELDCOST_TRY(CheckStrings(table));
  FIELDCOST_TRY(CheckKeys(table));
  FIELDCOST_TRY(CheckRowKeys(table, max_rows));
  if (!HasKeysOnly(table)) {
    return Fail(ErrorCode::kCorrupt, "rows with buckets where only keys are expected");
  }
  table_ = &table;
  row_count_ = static_cast<std::size_t>(table.row_api_size());
  return {};
}

Status RowTableReader::Open(const proto::RowTable& untrusted_table, std::size_t max_rows) {
  const proto::RowTable& table = untrusted_table;
  table_ = nullptr;
  row_count_ = 0;
  first_bucket_.clear();
  FIELDCOST_TRY(CheckStrings(table));
  FIELDCOST_TRY(CheckKeys(table));
  FIELDCOST_TRY(CheckRowKeys(table, max_rows));
  FIELDCOST_TRY(CheckBuckets(table));
  std::uint64_t next = 0;  // at most max_rows * 2^32
  for (const std::uint32_t count : table.row_bucket_count()) {
    first_bucket_.push_back(static_cast<std::uint32_t>(next));
    next += count;
  }
  if (next != static_cast<std::uint64_t>(table.bucket_slot_size())) {
    first_bucket_.clear();
    return Fail(ErrorCode::kCorrupt, "the rows count {} buckets, but there are {}", next,
                table.bucket_slot_size());
  }
  table_ = &table;
  row_count_ = first_bucket_.size();
  return {};
}

std::size_t RowTableReader::api_count() const {
  return table_ == nullptr ? 0 : static_cast<std::size_t>(table_->api_module_size());
}

void RowTableReader::GetApi(std::size_t index, stats::ApiKey& untrusted_api) const {
  FIELDCOST_CHECK(table_ != nullptr && index < api_count());
  const proto::RowTable& table = *table_;
  const auto at = [](std::uint32_t number) { return static_cast<int>(number); };
  const int api = static_cast<int>(index);
  const int module = at(table.api_module(api));
  untrusted_api.soname = table.strings(at(table.module_soname(module)));
  untrusted_api.package_version = table.strings(at(table.module_package_version(module)));
  untrusted_api.build_id = table.strings(at(table.module_build_id(module)));
  untrusted_api.symbol = table.strings(at(table.api_symbol(api)));
  untrusted_api.symbol_version = table.strings(at(table.api_symbol_version(api)));
}

RowNumbers RowTableReader::Get(std::size_t index, stats::ApiKey& untrusted_api,
                               stats::CostHistogram& untrusted_histogram) const {
  FIELDCOST_CHECK(table_ != nullptr && index < first_bucket_.size());
  const proto::RowTable& table = *table_;
  const auto at = [](std::uint32_t number) { return static_cast<int>(number); };
  const int row_number = static_cast<int>(index);
  GetApi(table.row_api(row_number), untrusted_api);
  RowNumbers numbers{.metric_number = table.row_metric(row_number),
                     .week = table.row_week(row_number)};
  untrusted_histogram.Clear();
  if (table.row_untimed_size() != 0) untrusted_histogram.SetUntimed(table.row_untimed(row_number));
  const int first = at(first_bucket_[index]);
  const int end = first + at(table.row_bucket_count(row_number));
  std::array<bool, shm::kBucketSlots> seen{};
  for (int i = first; i < end; ++i) {
    const std::uint32_t slot = table.bucket_slot(i);
    if (slot >= shm::kBucketSlots || seen[slot]) {
      numbers.malformed = true;
      return numbers;
    }
    seen[slot] = true;
    untrusted_histogram.SetBucket(
        slot, {.count = table.bucket_count(i),
               .sum = stats::MakeUint128(table.bucket_sum_high(i), table.bucket_sum_low(i)),
               .sum_of_squares =
                   stats::MakeUint128(table.bucket_squares_high(i), table.bucket_squares_low(i))});
  }
  return numbers;
}

void WriteHardwareClass(const stats::HardwareClass& hardware, proto::HardwareClass& message) {
  message.set_architecture(hardware.architecture);
  message.set_cpu_family(hardware.cpu_family);
  message.set_log2_cores(hardware.log2_cores);
  message.set_log2_memory_mib(hardware.log2_memory_mib);
  message.set_os_release(hardware.os_release);
}

Status ReadHardwareClass(const proto::HardwareClass& untrusted_message,
                         stats::HardwareClass& hardware) {
  for (const std::string* text :
       {&untrusted_message.architecture(), &untrusted_message.cpu_family(),
        &untrusted_message.os_release()}) {
    if (text->size() > kMaxClassTextBytes) {
      return Fail(ErrorCode::kTooLarge,
                  "a hardware class text of {} bytes, at most {} are accepted", text->size(),
                  kMaxClassTextBytes);
    }
  }
  hardware.architecture = untrusted_message.architecture();
  hardware.cpu_family = untrusted_message.cpu_family();
  hardware.log2_cores = untrusted_message.log2_cores();
  hardware.log2_memory_mib = untrusted_message.log2_memory_mib();
  hardware.os_release = untrusted_message.os_release();
  return {};
}

}  // namespace fieldcost::wire
