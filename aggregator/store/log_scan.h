#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace fieldcost::store {

// Reads the engine's files of records, its log and its list of files, to tell where they are whole.
// The engine itself takes a damaged record in the middle of a log for the torn end of it.
// The format is that of LevelDB's log, which RocksDB's documentation ("Write Ahead Log File
// Format") has kept: blocks of 32 KiB with fragments of records, each under a CRC-32C.

inline constexpr std::size_t kLogBlockBytes = 32'768;

struct LogScan {
  std::uint64_t size = 0;
  std::uint64_t whole_bytes = 0;  // up to there it is nothing but whole records
  // Place of a record that was begun later, after bytes that are none.
  std::optional<std::uint64_t> goes_on_at;
  bool is_whole() const { return whole_bytes == size; }
};

struct LogRecord {
  std::uint64_t offset = 0;
  bool after_damage = false;  // behind whole_bytes
  std::string_view bytes;
};

// Pure; memory of one record. Never fails: any input is a log that ends somewhere.
class LogScanner {
 public:
  using Visitor = std::function<void(const LogRecord& record)>;
  explicit LogScanner(Visitor visit = {}) : visit_(std::move(visit)) {}

  // The next block; each but the last has kLogBlockBytes.
  void Take(std::string_view untrusted_block);
  const LogScan& result() const { return scan_; }

 private:
  struct Fragment;
  static std::optional<Fragment> FragmentAt(std::string_view block, std::size_t at);
  bool Accept(const Fragment& fragment, std::uint64_t offset);
  // Where in the block a record begins that is newer than all before; its size if there is none.
  std::size_t FindStart(std::string_view block, std::size_t from) const;

  Visitor visit_;
  LogScan scan_;
  std::string record_;               // the fragments so far
  std::uint64_t record_offset_ = 0;  // of its first one
  std::uint64_t last_sequence_ = 0;  // the engine's number of the newest record
  bool in_record_ = false;
  bool damaged_ = false;
  bool searching_ = false;
};

// How much of a file was synced, as kept in a file beside it (DAMAGE.md has the bytes).
struct SyncedMark {
  std::uint64_t bytes = 0;
  bool retired = false;  // the file is not needed any more
  bool operator==(const SyncedMark&) const = default;
};
inline constexpr std::size_t kMarkBytes = 12;
std::string EncodeMark(const SyncedMark& mark);
// The newest of all that are whole; none: nothing is known.
SyncedMark ReadMarks(std::string_view untrusted_bytes);

}  // namespace fieldcost::store
