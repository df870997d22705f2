// Reads logs in the engine's format (RocksDB's log_format.h), and the marks stored next to them.
// Integers are big endian.
//
//   marks := mark*                           ; appended; incomplete marks are skipped
//   mark  := synced_bytes:u64 crc32c(these 8 bytes):u32      ; 2^64 - 1: retired
#include "aggregator/store/log_scan.h"

#include <algorithm>
#include <limits>

#include "aggregator/store/store_row_codec.h"
#include "common/base/byte_order.h"
#include "common/base/crc32c.h"

namespace fieldcost::store {
namespace {

constexpr std::size_t kHeaderBytes = 7;  // u32 checksum, u16 size, u8 type; little endian
constexpr std::size_t kTypeAt = 6;
constexpr std::uint32_t kMaskDelta = 0xa282ead8;
// A record of the log begins with the engine's number of its first change, and their number.
constexpr std::size_t kBatchHeadBytes = 12;

enum FragmentType : std::uint8_t { kFull = 1, kFirst = 2, kMiddle = 3, kLast = 4 };

constexpr std::uint64_t kRetiredBytes = std::numeric_limits<std::uint64_t>::max();
constexpr std::size_t kMarkNumberBytes = 8;

std::uint32_t Masked(std::uint32_t crc) { return (crc >> 15 | crc << 17) + kMaskDelta; }

std::uint64_t SequenceOf(std::string_view start) {
  return start.size() < kBatchHeadBytes ? 0 : ReadLittleEndian(start.substr(0, 8));
}

}  // namespace

struct LogScanner::Fragment {
  FragmentType type;
  std::string_view payload;
  bool begins() const { return type == kFull || type == kFirst; }
  bool ends() const { return type == kFull || type == kLast; }
  std::size_t size() const { return kHeaderBytes + payload.size(); }
};

std::optional<LogScanner::Fragment> LogScanner::FragmentAt(std::string_view block, std::size_t at) {
  if (block.size() - at < kHeaderBytes) return std::nullopt;
  const auto type = static_cast<std::uint8_t>(block[at + kTypeAt]);
  const std::size_t size = ReadLittleEndian(block.substr(at + 4, 2));
  if (type < kFull || type > kLast || block.size() - at - kHeaderBytes < size) return std::nullopt;
  const auto checksum = static_cast<std::uint32_t>(ReadLittleEndian(block.substr(at, 4)));
  if (Masked(Crc32c(block.substr(at + kTypeAt, 1 + size))) != checksum) return std::nullopt;
  return Fragment{static_cast<FragmentType>(type), block.substr(at + kHeaderBytes, size)};
}

bool LogScanner::Accept(const Fragment& fragment, std::uint64_t offset) {
  if (fragment.begins() == in_record_) return false;
  if (fragment.begins()) {
    record_.clear();
    record_offset_ = offset;
    last_sequence_ = std::max(last_sequence_, SequenceOf(fragment.payload));
  }
  in_record_ = !fragment.ends();
  if (visit_) record_ += fragment.payload;
  if (in_record_) return true;
  if (!damaged_) scan_.whole_bytes = offset + fragment.size();
  if (visit_) {
    visit_({.offset = record_offset_, .after_damage = damaged_, .bytes = record_});
  }
  return true;
}

// A crash tears only one record, since the next one begins after this one is synced. So later
// fragments of it may follow, but not the first fragment of another record, except old contents of
// the disk, which have lower numbers.
std::size_t LogScanner::FindStart(std::string_view block, std::size_t from) const {
  for (std::size_t at = from; at + kHeaderBytes + kBatchHeadBytes <= block.size(); ++at) {
    const auto type = static_cast<std::uint8_t>(block[at + kTypeAt]);
    if (type != kFull && type != kFirst) continue;
    const auto fragment = FragmentAt(block, at);
    if (!fragment || SequenceOf(fragment->payload) <= last_sequence_) continue;
    if (type == kFirst && at + fragment->size() != kLogBlockBytes) continue;
    return at;
  }
  return block.size();
}

void LogScanner::Take(std::string_view untrusted_block) {
  const std::uint64_t begin = scan_.size;
  scan_.size += untrusted_block.size();
  std::size_t at = 0;
  while (untrusted_block.size() - at >= kHeaderBytes) {
    if (searching_) {
      at = FindStart(untrusted_block, at);
      if (at == untrusted_block.size()) return;
      if (!scan_.goes_on_at) scan_.goes_on_at = begin + at;
      searching_ = false;
      in_record_ = false;
    }
    const auto fragment = FragmentAt(untrusted_block, at);
    if (fragment && Accept(*fragment, begin + at)) {
      at += fragment->size();
      continue;
    }
    damaged_ = true;
    searching_ = true;
  }
}

std::string EncodeMark(const SyncedMark& mark) {
  std::string bytes;
  AppendBigEndian64(mark.retired ? kRetiredBytes : mark.bytes, bytes);
  AppendBigEndian32(Crc32c(bytes), bytes);
  return bytes;
}

SyncedMark ReadMarks(std::string_view untrusted_bytes) {
  SyncedMark newest;
  for (; untrusted_bytes.size() >= kMarkBytes; untrusted_bytes.remove_prefix(kMarkBytes)) {
    const std::string_view cell = untrusted_bytes.substr(0, kMarkBytes);
    const std::uint64_t bytes = ReadBigEndian(cell.substr(0, kMarkNumberBytes));
    const SyncedMark mark{.bytes = bytes == kRetiredBytes ? 0 : bytes,
                          .retired = bytes == kRetiredBytes};
    if (EncodeMark(mark) != cell) continue;
    newest.bytes = std::max(newest.bytes, mark.bytes);
    newest.retired = newest.retired || mark.retired;
  }
  return newest;
}

}  // namespace fieldcost::store
