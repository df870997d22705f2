#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace fieldcost::store {

// Reads the engine's log and list of files to find out up to where they are intact. (The engine
// itself treats a damaged record in the middle of a log as its torn end.) The format is that of
// LevelDB's log, kept by RocksDB ("Write Ahead Log File Format" in its documentation): blocks of 32
// KiB with fragments of records, each under a CRC-32C.

inline constexpr std::size_t kLogBlockBytes = 32'768;

struct LogScan {
  std::uint64_t size = 0;
  std::uint64_t whole_bytes = 0;  // the prefix that consists of whole records only
  // Offset of a record that begins after bytes that are not a record.
  std::optional<std::uint64_t> goes_on_at;
  bool is_whole() const { return whole_bytes == size; }
};

struct LogRecord {
  std::uint64_t offset = 0;
  bool after_damage = false;  // after whole_bytes
  std::string_view bytes;
};

// Pure; needs memory for one record. Never fails: any input is treated as a log that ends
// somewhere.
class LogScanner {
 public:
  using Visitor = std::function<void(const LogRecord& record)>;
  explicit LogScanner(Visitor visit = {}) : visit_(std::move(visit)) {}

  // Processes the next block; each but the last has kLogBlockBytes.
  void Take(std::string_view untrusted_block);
  const LogScan& result() const { return scan_; }

 private:
  struct Fragment;
  static std::optional<Fragment> FragmentAt(std::string_view block, std::size_t at);
  bool Accept(const Fragment& fragment, std::uint64_t offset);
  // Returns the offset in the block of the first record newer than all previous ones; the block's
  // size if there is none.
  std::size_t FindStart(std::string_view block, std::size_t from) const;

  Visitor visit_;
  LogScan scan_;
  std::string record_;               // the fragments so far
  std::uint64_t record_offset_ = 0;  // offset of the first fragment
  std::uint64_t last_sequence_ = 0;  // the engine's number of the newest record
  bool in_record_ = false;
  bool damaged_ = false;
  bool searching_ = false;
};

// How much of a file was synced, as stored in the file next to it (DAMAGE.md has the bytes).
struct SyncedMark {
  std::uint64_t bytes = 0;
  bool retired = false;  // the file is no longer needed
  bool operator==(const SyncedMark&) const = default;
};
inline constexpr std::size_t kMarkBytes = 12;
std::string EncodeMark(const SyncedMark& mark);
// Combines all complete marks into the newest; without any, returns 0 bytes.
SyncedMark ReadMarks(std::string_view untrusted_bytes);

}  // namespace fieldcost::store
