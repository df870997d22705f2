// Published units and marks of withdrawals. u32 and u64 in keys are big endian; the row codec has
// row values and varints.
//
//   unit key   := soname 0x00 package_version 0x00 build_id 0x00 symbol 0x00 symbol_version 0x00
//                 metric:u32 first_week:u32                      ; first_week is that of a quarter
//   entry keys := "u" unit key                                   ; a unit's record
//               | "w" unit key withdrawal:u64                    ; a mark
//   mark       := version:u8 = 1 varint record, varint weeks     ; record 0: unknown
//   unit       := version:u8 = 1 varint next_serial, varint seen, flags:u8
//                 varint weeks_with_calls, (varint calls)*       ; bit by week; each calls > 0
//                 varint waiting_weeks, ranges
//                 varint cuts, cut*, varint classes, class*, varint recent, recent*
//   flags      := 1 has_untracked
//   ranges     := varint count, (varint gap, varint records, varint gap_s, varint seconds)*
//                 ; gaps to the end of the range before, or to 0
//   cut        := varint gap, varint length, varint weeks, ranges, sums
//                 ; serials: gap after the last one of the cut before, or 0; last - first
//   sums       := varint size, row value                         ; as in store_row_codec.cc
//   class      := text text varint log2_cores, varint log2_memory_mib, text
//                 varint seen, varint behind_from
//                 varint parts, part*, varint newcomers, newcomers*
//   text       := varint size, bytes                  ; architecture, CPU family, OS release
//   part       := varint 0, ranges, sums
//               | varint cut          ; ranges and sums of this cut, the first one is 1
//   newcomers  := varint gap, varint moved, varint newcomers
//                 ; moved: 0 none, otherwise moved_with - serial + 1
//   recent     := varint gap, flags:u8, varint others ; flags: 1 is_whole
#include "aggregator/store/published_codec.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "aggregator/store/store_limits.h"
#include "aggregator/store/store_parts.h"
#include "aggregator/store/store_row_codec.h"
#include "common/base/byte_order.h"
#include "common/base/check.h"
#include "common/wire/wire_limits.h"

namespace fieldcost::store {
namespace {

constexpr char kUnitVersion = 1;
constexpr char kMarkVersion = 1;
constexpr std::uint8_t kHasUntracked = 1;
constexpr std::uint8_t kIsWhole = 1;
constexpr std::size_t kTextsOfApi = 5;
constexpr std::size_t kMetricBytes = 4;
constexpr std::uint64_t kMax32 = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint64_t kMax64 = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t kWeekBits = (1U << kWeeksOfUnit) - 1;

Error MalformedEntry(std::string_view what) {
  return Fail(ErrorCode::kCorrupt, "stored {} is malformed", what);
}

// Checks the first byte and removes it.
Status TakeVersion(std::string_view& bytes, char known, std::string_view what) {
  if (bytes.empty()) return MalformedEntry(what);
  const auto version = static_cast<std::uint8_t>(bytes.front());
  bytes.remove_prefix(1);
  if (version == static_cast<std::uint8_t>(known)) return {};
  return Fail(ErrorCode::kUnsupported, "stored {} has format version {}; this program knows {}",
              what, version, int{known});
}

void AppendRanges(const std::vector<CutRange>& ranges, std::string& bytes) {
  AppendVarint(ranges.size(), bytes);
  CutRange before;
  for (const CutRange& range : ranges) {
    AppendVarint(range.after_number - before.until_number, bytes);
    AppendVarint(range.until_number - range.after_number, bytes);
    AppendVarint(range.after_s - before.until_s, bytes);
    AppendVarint(range.until_s - range.after_s, bytes);
    before = range;
  }
}

void AppendSums(const CompactRow& sums, std::string& bytes) {
  std::string value;
  AppendRowValue(sums, value);
  AppendVarint(value.size(), bytes);
  bytes += value;
}

// The number of the cut that has the same ranges and sums, the first one is 1; 0 if none has.
std::size_t SameCut(const ClassPart& part, const std::vector<PublishedCut>& cuts) {
  const auto place = std::ranges::find_if(cuts, [&](const PublishedCut& cut) {
    return cut.ranges == part.ranges && cut.sums == part.sums;
  });
  return place == cuts.end() ? 0 : static_cast<std::size_t>(place - cuts.begin()) + 1;
}

void AppendText(std::string_view text, std::string& bytes) {
  AppendVarint(text.size(), bytes);
  bytes += text;
}

void AppendCut(const PublishedCut& cut, std::uint32_t before, std::string& bytes) {
  AppendVarint(cut.first_serial - before, bytes);
  AppendVarint(cut.last_serial - cut.first_serial, bytes);
  AppendVarint(cut.weeks, bytes);
  AppendRanges(cut.ranges, bytes);
  AppendSums(cut.sums, bytes);
}

void AppendClass(const TrackedClass& tracked, const std::vector<PublishedCut>& cuts,
                 std::string& bytes) {
  AppendText(tracked.hardware.architecture, bytes);
  AppendText(tracked.hardware.cpu_family, bytes);
  AppendVarint(tracked.hardware.log2_cores, bytes);
  AppendVarint(tracked.hardware.log2_memory_mib, bytes);
  AppendText(tracked.hardware.os_release, bytes);
  AppendVarint(tracked.seen, bytes);
  AppendVarint(tracked.behind_from, bytes);
  AppendVarint(tracked.parts.size(), bytes);
  for (const ClassPart& part : tracked.parts) {
    const std::size_t cut = SameCut(part, cuts);
    AppendVarint(cut, bytes);
    if (cut != 0) continue;
    AppendRanges(part.ranges, bytes);
    AppendSums(part.sums, bytes);
  }
  AppendVarint(tracked.newcomers.size(), bytes);
  std::uint32_t before = 0;
  for (const ClassNewcomers& entry : tracked.newcomers) {
    AppendVarint(entry.serial - before, bytes);
    AppendVarint(entry.moved_with == 0 ? 0 : std::uint64_t{entry.moved_with} - entry.serial + 1,
                 bytes);
    AppendVarint(entry.newcomers, bytes);
    before = entry.serial;
  }
}

// Whether the times of the ranges ascend like their numbers.
bool AreInTime(const std::vector<CutRange>& ranges) {
  const auto is_early = [](const CutRange& before, const CutRange& after) {
    return after.after_s < before.until_s;
  };
  return std::ranges::adjacent_find(ranges, is_early) == ranges.end();
}

// Whether the unit meets the format's conditions that Validate() does not check.
bool IsEncodable(const PublishedUnit& unit) {
  const auto fits = [](std::string_view text) { return text.size() <= wire::kMaxClassTextBytes; };
  return std::ranges::all_of(unit.classes, [&](const TrackedClass& tracked) {
    return fits(tracked.hardware.architecture) && fits(tracked.hardware.cpu_family) &&
           fits(tracked.hardware.os_release) &&
           std::ranges::all_of(tracked.parts, AreInTime, &ClassPart::ranges);
  });
}

// Takes parts of a unit from the front of its bytes. After something malformed, `ok()` is false and
// all further numbers are 0.
class UnitReader {
 public:
  explicit UnitReader(std::string_view untrusted_bytes) : rest_(untrusted_bytes) {}

  bool ok() const { return ok_; }
  bool IsAtEnd() const { return ok_ && rest_.empty(); }

  std::uint64_t Number(std::uint64_t most) {
    std::uint64_t value = 0;
    ok_ = ok_ && stats::TakeVarint(rest_, most, value);
    return ok_ ? value : 0;
  }
  std::uint32_t Number32(std::uint64_t most = kMax32) {
    return static_cast<std::uint32_t>(Number(std::min(most, kMax32)));
  }
  std::uint16_t Weeks() { return static_cast<std::uint16_t>(Number(kWeekBits)); }
  // A number added to `before`.
  std::uint32_t After(std::uint32_t before) { return before + Number32(kMax32 - before); }
  std::string Text() {
    const std::uint64_t size = Number(std::min(rest_.size(), wire::kMaxClassTextBytes));
    if (size > rest_.size()) ok_ = false;
    if (!ok_) return {};
    std::string text(rest_.substr(0, size));
    rest_.remove_prefix(size);
    return text;
  }
  CompactRow Sums() {
    CompactRow sums;
    const std::uint64_t size = Number(kMax64);
    ok_ = ok_ && size <= rest_.size() && DecodeRowValue(rest_.substr(0, size), sums).has_value();
    if (ok_) rest_.remove_prefix(size);
    return sums;
  }
  std::vector<CutRange> Ranges() {
    std::vector<CutRange> ranges;
    CutRange range;
    for (std::uint64_t left = Number(kMaxCutRanges); ok_ && left > 0; --left) {
      range.after_number = range.until_number + Number(kMax64 - range.until_number);
      range.until_number = range.after_number + Number(kMax64 - range.after_number);
      range.after_s = After(range.until_s);
      range.until_s = After(range.after_s);
      ranges.push_back(range);
    }
    return ranges;
  }
  PublishedCut Cut(std::uint32_t before) {
    PublishedCut cut;
    cut.first_serial = After(before);
    cut.last_serial = After(cut.first_serial);
    cut.weeks = Weeks();
    cut.ranges = Ranges();
    cut.sums = Sums();
    return cut;
  }
  ClassPart Part(const std::vector<PublishedCut>& cuts) {
    const std::uint64_t cut = Number(cuts.size());
    if (cut != 0) return {.ranges = cuts[cut - 1].ranges, .sums = cuts[cut - 1].sums};
    ClassPart part;
    part.ranges = Ranges();
    part.sums = Sums();
    return part;
  }
  TrackedClass Class(const std::vector<PublishedCut>& cuts) {
    TrackedClass tracked;
    tracked.hardware.architecture = Text();
    tracked.hardware.cpu_family = Text();
    tracked.hardware.log2_cores = Number32();
    tracked.hardware.log2_memory_mib = Number32();
    tracked.hardware.os_release = Text();
    tracked.seen = Number(kMax64);
    tracked.behind_from = Number32();
    for (std::uint64_t left = Number(kMaxCutRanges); ok_ && left > 0; --left) {
      tracked.parts.push_back(Part(cuts));
    }
    std::uint32_t before = 0;
    for (std::uint64_t left = Number(kMaxRecentCuts); ok_ && left > 0; --left) {
      ClassNewcomers& entry = tracked.newcomers.emplace_back();
      entry.serial = before = After(before);
      const std::uint64_t moved = Number(kMax32 - entry.serial + 1);
      entry.moved_with = moved == 0 ? 0 : static_cast<std::uint32_t>(entry.serial + moved - 1);
      entry.newcomers = Number(kMax64);
    }
    return tracked;
  }
  RecentCut Recent(std::uint32_t before) {
    RecentCut recent;
    recent.serial = After(before);
    recent.is_whole = Number(kIsWhole) != 0;
    recent.others = Number(kMax64);
    return recent;
  }

 private:
  std::string_view rest_;
  bool ok_ = true;
};

}  // namespace

void AppendUnitKey(const PublishedKey& key, std::string& bytes) {
  const stats::ApiKey& api = key.api;
  for (const std::string* text :
       {&api.soname, &api.package_version, &api.build_id, &api.symbol, &api.symbol_version}) {
    bytes += *text;
    bytes += '\0';
  }
  AppendBigEndian32(static_cast<std::uint32_t>(key.metric), bytes);
  AppendBigEndian32(key.first_week, bytes);
}

Status DecodeUnitKey(std::string_view untrusted_bytes, PublishedKey& key) {
  std::string_view rest = untrusted_bytes;
  const std::array<std::string*, kTextsOfApi> texts = {&key.api.soname, &key.api.package_version,
                                                       &key.api.build_id, &key.api.symbol,
                                                       &key.api.symbol_version};
  for (std::string* const text : texts) {
    const std::size_t end = rest.find('\0');
    if (end == std::string_view::npos) return MalformedEntry("key of a published unit");
    text->assign(rest.substr(0, end));
    rest.remove_prefix(end + 1);
  }
  if (rest.size() != kMetricBytes + kWeekBytes) return MalformedEntry("key of a published unit");
  const auto metric = static_cast<std::uint32_t>(ReadBigEndian(rest.substr(0, kMetricBytes)));
  key.first_week = static_cast<std::uint32_t>(ReadBigEndian(rest.substr(kMetricBytes)));
  if (!stats::IsKnownMetric(metric) || wire::FirstWeekOfQuarter(key.first_week) != key.first_week) {
    return MalformedEntry("key of a published unit");
  }
  key.metric = static_cast<stats::Metric>(metric);
  return {};
}

std::string UnitKeyOfRow(std::string_view row_key) {
  std::string key(row_key.substr(0, SizeOfApi(row_key) + kMetricBytes));
  AppendBigEndian32(wire::FirstWeekOfQuarter(WeekOfRowKey(row_key)), key);
  return key;
}

std::uint16_t WeekBitOfRow(std::string_view row_key) {
  return static_cast<std::uint16_t>(1U << (WeekOfRowKey(row_key) % kWeeksOfUnit));
}

std::string UnitEntryKey(std::string_view unit_key) {
  return std::string(1, kUnitPrefix).append(unit_key);
}

std::string MarkEntryKey(std::string_view unit_key, std::uint64_t withdrawal) {
  return std::string(1, kMarkPrefix).append(unit_key).append(NumberKey(withdrawal));
}

Result<PublishedEntryKey> SplitEntryKey(std::string_view untrusted_key) {
  PublishedEntryKey parts;
  parts.unit_key = untrusted_key.substr(std::min<std::size_t>(untrusted_key.size(), 1));
  if (untrusted_key.starts_with(kMarkPrefix) && parts.unit_key.size() > kNumberBytes) {
    parts.withdrawal = ReadBigEndian(parts.unit_key.substr(parts.unit_key.size() - kNumberBytes));
    parts.unit_key.remove_suffix(kNumberBytes);
  } else if (!untrusted_key.starts_with(kUnitPrefix)) {
    return MalformedEntry("key of a published unit");
  }
  if (parts.unit_key.size() < kTextsOfApi + kMetricBytes + kWeekBytes) {
    return MalformedEntry("key of a published unit");
  }
  parts.first_week = WeekOfRowKey(parts.unit_key);
  return parts;
}

Result<std::string> EncodePublishedUnit(const PublishedUnit& unit) {
  if (!Validate(unit) || !IsEncodable(unit)) {
    return Fail(ErrorCode::kInvalidArgument, "the state of a published unit is impossible");
  }
  std::string bytes(1, kUnitVersion);
  AppendVarint(unit.next_serial, bytes);
  AppendVarint(unit.seen, bytes);
  bytes.push_back(static_cast<char>(unit.has_untracked ? kHasUntracked : 0));
  std::uint32_t weeks = 0;
  for (unsigned week = 0; week < kWeeksOfUnit; ++week) {
    weeks |= unit.week_calls[week] != 0 ? 1U << week : 0;
  }
  AppendVarint(weeks, bytes);
  for (const std::uint64_t calls : unit.week_calls) {
    if (calls != 0) AppendVarint(calls, bytes);
  }
  AppendVarint(unit.waiting_weeks, bytes);
  AppendRanges(unit.waiting, bytes);
  AppendVarint(unit.cuts.size(), bytes);
  std::uint32_t before = 0;
  for (const PublishedCut& cut : unit.cuts) {
    AppendCut(cut, std::exchange(before, cut.last_serial), bytes);
  }
  AppendVarint(unit.classes.size(), bytes);
  for (const TrackedClass& tracked : unit.classes) AppendClass(tracked, unit.cuts, bytes);
  AppendVarint(unit.recent.size(), bytes);
  before = 0;
  for (const RecentCut& recent : unit.recent) {
    AppendVarint(recent.serial - std::exchange(before, recent.serial), bytes);
    bytes.push_back(static_cast<char>(recent.is_whole ? kIsWhole : 0));
    AppendVarint(recent.others, bytes);
  }
  return bytes;
}

Result<PublishedUnit> DecodePublishedUnit(std::string_view untrusted_bytes) {
  constexpr std::string_view kWhat = "published unit";
  std::string_view rest = untrusted_bytes;
  FIELDCOST_TRY(TakeVersion(rest, kUnitVersion, kWhat));
  UnitReader reader(rest);
  PublishedUnit unit;
  unit.next_serial = reader.Number32();
  unit.seen = reader.Number(kMax64);
  unit.has_untracked = reader.Number(kHasUntracked) != 0;
  const std::uint16_t weeks = reader.Weeks();
  for (unsigned week = 0; week < kWeeksOfUnit; ++week) {
    if ((weeks >> week & 1U) == 0) continue;
    unit.week_calls[week] = reader.Number(kMax64);
    if (unit.week_calls[week] == 0) return MalformedEntry(kWhat);
  }
  unit.waiting_weeks = reader.Weeks();
  unit.waiting = reader.Ranges();
  std::uint32_t before = 0;
  for (std::uint64_t left = reader.Number(kMaxLiveCuts); reader.ok() && left > 0; --left) {
    unit.cuts.push_back(reader.Cut(before));
    before = unit.cuts.back().last_serial;
  }
  for (std::uint64_t left = reader.Number(kMaxTrackedClasses); reader.ok() && left > 0; --left) {
    unit.classes.push_back(reader.Class(unit.cuts));
  }
  before = 0;
  for (std::uint64_t left = reader.Number(kMaxRecentCuts); reader.ok() && left > 0; --left) {
    unit.recent.push_back(reader.Recent(before));
    before = unit.recent.back().serial;
  }
  if (!reader.IsAtEnd()) return MalformedEntry(kWhat);
  FIELDCOST_TRY(Validate(unit));
  return unit;
}

std::string EncodeMark(const WithdrawalMark& mark) {
  FIELDCOST_CHECK(mark.weeks != 0 && mark.weeks <= kWeekBits && mark.record != 0);
  std::string bytes(1, kMarkVersion);
  AppendVarint(mark.record.value_or(0), bytes);
  AppendVarint(mark.weeks, bytes);
  return bytes;
}

Result<WithdrawalMark> DecodeMark(std::string_view untrusted_bytes, std::uint64_t withdrawal) {
  constexpr std::string_view kWhat = "mark of a withdrawal";
  std::string_view rest = untrusted_bytes;
  FIELDCOST_TRY(TakeVersion(rest, kMarkVersion, kWhat));
  UnitReader reader(rest);
  WithdrawalMark mark{.withdrawal = withdrawal};
  if (const std::uint64_t record = reader.Number(kMax64); record != 0) mark.record = record;
  mark.weeks = reader.Weeks();
  if (!reader.IsAtEnd() || mark.weeks == 0) return MalformedEntry(kWhat);
  return mark;
}

}  // namespace fieldcost::store
