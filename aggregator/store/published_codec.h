#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "aggregator/store/published_unit.h"
#include "common/base/result.h"
#include "common/stats/api_key.h"

namespace fieldcost::store {

// Entries of Table::kPublished: the records of published units, and the marks of withdrawals from
// them. LAYOUT.md has grammar and worked examples, PUBLISHED.md explains them. All functions are
// pure. Decoders are total: anything malformed is kCorrupt, a newer program's is kUnsupported.

// Identifies a unit. Ordered as the bytes of AppendUnitKey(), hence as the rows of the unit.
struct PublishedKey {
  stats::ApiKey api;
  stats::Metric metric = stats::Metric::kWallTime;
  std::uint32_t first_week = 0;  // of the quarter: wire::FirstWeekOfQuarter()
  auto operator<=>(const PublishedKey&) const = default;
};

// A withdrawal that subtracted rows of a unit, until a publication has handled it.
struct WithdrawalMark {
  std::uint64_t withdrawal = 0;  // the number of its record
  // The number of the record that it subtracts; nullopt if unknown (the batch is not kept).
  std::optional<std::uint64_t> record;
  std::uint16_t weeks = 0;  // bits as in PublishedCut: the weeks of its rows; not zero
  bool operator==(const WithdrawalMark&) const = default;
};

// REQUIRES: no text of the key contains a zero byte.
void AppendUnitKey(const PublishedKey& key, std::string& bytes);
Status DecodeUnitKey(std::string_view untrusted_bytes, PublishedKey& key);
// The key of the unit that a row belongs to, and the bit of the row's week in it. REQUIRES: made by
// AppendRowKey().
std::string UnitKeyOfRow(std::string_view row_key);
std::uint16_t WeekBitOfRow(std::string_view row_key);

// Keys in the table. All records come before all marks; both are ordered by unit.
inline constexpr char kUnitPrefix = 'u';
inline constexpr char kMarkPrefix = 'w';
std::string UnitEntryKey(std::string_view unit_key);
std::string MarkEntryKey(std::string_view unit_key, std::uint64_t withdrawal);
// Splits the key of an entry: the unit's key, and for a mark the withdrawal's number.
struct PublishedEntryKey {
  std::string_view unit_key;
  std::optional<std::uint64_t> withdrawal;  // nullopt: a unit's record
  std::uint32_t first_week = 0;
};
Result<PublishedEntryKey> SplitEntryKey(std::string_view untrusted_key);

// kInvalidArgument: `unit` is not valid or exceeds a limit, so it could not be decoded.
Result<std::string> EncodePublishedUnit(const PublishedUnit& unit);
Result<PublishedUnit> DecodePublishedUnit(std::string_view untrusted_bytes);

// The value of a mark; its withdrawal's number is in the key.
std::string EncodeMark(const WithdrawalMark& mark);
Result<WithdrawalMark> DecodeMark(std::string_view untrusted_bytes, std::uint64_t withdrawal);

}  // namespace fieldcost::store
