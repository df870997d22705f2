#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/base/result.h"
#include "common/stats/stat_row.h"
#include "common/wire/batch.h"
#include "common/wire/wire_message.h"

namespace fieldcost::wire {

namespace proto {
class HardwareClass;
class RowTable;
}  // namespace proto

// The columns that batches and fragments share (wire.proto). For this folder's codecs only.

// Appends rows to a table. Deterministic: indices are given in order of first use.
class RowTableWriter {
 public:
  // `table` must outlive the writer and be empty.
  explicit RowTableWriter(proto::RowTable& table) : table_(table) {}

  void Append(const stats::ApiKey& api, stats::Metric metric, std::uint32_t week,
              const stats::CostHistogram& histogram);
  // Appends a row without buckets, as fragments have them. `api` is the API's index.
  void AppendKey(std::uint32_t api, stats::Metric metric, std::uint32_t week);
  // The API's index; the next free one if it is new. No row needs to have it.
  std::uint32_t ApiIndex(const stats::ApiKey& api);
  std::size_t string_count() const { return strings_.size(); }
  // The exact size of the table's encoding so far.
  std::size_t size_bytes() const;

 private:
  static constexpr std::size_t kFields = 19;  // RowTable's field numbers, and 0
  using Triple = std::array<std::uint32_t, 3>;

  std::uint32_t StringIndex(const std::string& text);

  proto::RowTable& table_;
  std::array<std::size_t, kFields> packed_bytes_{};  // of each packed column's values
  std::size_t string_bytes_ = 0;                     // including tags and lengths
  std::unordered_map<std::string, std::uint32_t> strings_;
  std::map<Triple, std::uint32_t> modules_;
  std::map<Triple, std::uint32_t> apis_;
};

// The size of field `number` with a value of `bytes`, including tag and length.
std::size_t FieldBytes(int number, std::size_t bytes);

// A row's numbers as received.
struct RowNumbers {
  std::uint32_t metric_number = 0;
  std::uint32_t week = 0;
  bool malformed = false;  // a bucket index is out of range or occurs twice
};

// Reads the rows of an external table. Reuses its memory for further tables. Not thread-safe.
class RowTableReader {
 public:
  // kTooLarge if `max_rows`, kMaxStrings or kMaxSymbolBytes is exceeded; kCorrupt if columns have
  // different lengths or an index is out of range. `table` must outlive the use of Get().
  Status Open(const proto::RowTable& untrusted_table, std::size_t max_rows);
  // The same of a table whose rows have no buckets; kCorrupt if it has any. REQUIRES: Get() is not
  // called.
  Status OpenKeys(const proto::RowTable& untrusted_table, std::size_t max_rows);

  std::size_t row_count() const { return row_count_; }
  std::size_t api_count() const;
  // REQUIRES: index < api_count().
  void GetApi(std::size_t index, stats::ApiKey& untrusted_api) const;

  // Fills the parts of a row in place, since histograms are large. REQUIRES: index < row_count().
  RowNumbers Get(std::size_t index, stats::ApiKey& untrusted_api,
                 stats::CostHistogram& untrusted_histogram) const;

 private:
  const proto::RowTable* table_ = nullptr;
  std::size_t row_count_ = 0;
  std::vector<std::uint32_t> first_bucket_;  // of each row
};

void WriteHardwareClass(const stats::HardwareClass& hardware, proto::HardwareClass& message);
// kTooLarge if a text is longer than kMaxClassTextBytes; nothing else is checked.
Status ReadHardwareClass(const proto::HardwareClass& untrusted_message,
                         stats::HardwareClass& hardware);

}  // namespace fieldcost::wire
