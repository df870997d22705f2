#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace fieldcost::testing {

// While it exists, SQLite's databases use a disk that becomes full or loses power at a chosen
// operation. Files stay in the real directory; in addition it tracks which of their bytes would
// survive a power loss. At most one exists; databases opened before it are not affected. Not
// thread-safe.
//
// Of a file, everything that was there before and at its last sync is durable. Of later writes,
// truncations and deletions, a power loss keeps a random choice: none, all, the first ones, or any,
// of writes each sector of 512 bytes separately. A deletion becomes durable with the next sync of
// any file: SQLite then syncs the directory, too, and common file systems do both at once.
class FaultyDisk {
 public:
  // kFull: writes and the growth of shared memory fail from then on. kPowerLoss: the process makes
  // no further change; writes, syncs, truncations and deletions fail.
  enum class Fault { kFull, kPowerLoss };

  // For the files whose absolute paths begin with `prefix`.
  explicit FaultyDisk(std::filesystem::path prefix);
  ~FaultyDisk();
  FaultyDisk(const FaultyDisk&) = delete;
  FaultyDisk& operator=(const FaultyDisk&) = delete;

  // Fails at the operation with this number, from 1 on, counting from now those that can fail.
  void FailAt(Fault fault, std::uint64_t operation);
  bool has_failed() const { return has_failed_; }
  // There is room again.
  void Repair();
  // Leaves in the directory what survives a power loss at the failed operation, or now; then
  // repairs. REQUIRES: no database is open.
  void LosePower(std::uint64_t seed);

  // For the functions that SQLite calls.
  bool Holds(const char* path) const;
  void Opened(const std::string& path);
  enum class Operation { kWrite, kGrow, kSync, kTruncate, kDelete };
  // Whether the next operation fails.
  bool Fails(Operation operation);
  int ErrorOf(Operation operation) const;
  void Wrote(const std::string& path, std::uint64_t offset, std::string bytes);
  void Truncated(const std::string& path, std::uint64_t size);
  void Deleted(const std::string& path);
  void Synced(const std::string& path);

 private:
  struct Change {
    Operation operation = Operation::kWrite;
    std::uint64_t offset = 0;  // or the size after a truncation
    std::string bytes;
  };
  struct File {
    bool exists = true;
    std::string bytes;
    void Apply(const Change& change);
  };
  struct Tracked {
    File durable;
    std::vector<Change> changes;  // since then
  };

  static File Surviving(const Tracked& tracked, std::uint64_t& random);

  const std::string prefix_;
  std::map<std::string, Tracked> files_;
  Fault fault_ = Fault::kFull;
  std::uint64_t fail_at_ = 0;  // 0 = never
  std::uint64_t operations_ = 0;
  bool has_failed_ = false;
};

}  // namespace fieldcost::testing
