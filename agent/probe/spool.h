#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "common/base/clock.h"
#include "common/base/result.h"
#include "common/probe/event_store.h"
#include "common/shm/probe_file.h"
#include "common/sqlite/sqlite.h"

namespace fieldcost::probe {

// probe.db: the points that this machine's programs passed, the read positions of their rings, and
// batches to be sent to the server. Several processes may have it open. Not thread-safe. Errors:
// those of sqlite::Database and EventStore.
class Spool {
 public:
  static constexpr std::uint64_t kMostBytes = std::uint64_t{64} << 20;

  // Creates it if it does not exist.
  static Result<Spool> Open(const std::filesystem::path& file);
  // kNotFound if it does not exist.
  static Result<Spool> OpenExisting(const std::filesystem::path& file);

  EventStore& events() { return *events_; }
  sqlite::Database& database() { return *database_; }

  // The position up to which each ring of a run is stored; 0: nothing stored yet.
  using Positions = std::array<std::uint64_t, shm::kProbeRings>;
  Result<Positions> PositionsOf(std::uint64_t run);

  enum class Destination { kHere, kServer };
  // Stores a batch and the new positions atomically. Sets `batch.sequence`: a batch to be sent gets
  // the next number. The destination is determined within the transaction, so that data stored
  // while consent is withdrawn is either deleted with the rest or not queued.
  Status Keep(Batch batch, std::uint64_t run, const Positions& positions,
              const std::function<Result<Destination>()>& destination);
  // Call it once a run has been read completely.
  Status ForgetPositions(std::uint64_t run);

  // The device that owns the batches' numbers; empty if none yet.
  Result<std::string> Device();
  Status SetDevice(const std::string& device);

  struct Outgoing {
    std::uint64_t sequence = 0;
    std::string body;
  };
  Result<std::optional<Outgoing>> FirstOutgoing();
  Status MarkSent(std::uint64_t sequence);
  // Drops the bytes of a batch that the server rejects permanently, and counts it.
  Status MarkRefused(std::uint64_t sequence, const std::string& reason);
  // Call this before the first byte of a batch is sent, and again if it was not sent completely:
  // the mark records, even after a crash, that the server may have it.
  Status NoteLeaving(std::uint64_t sequence);
  Status NoteNotLeft();
  // Drops all batches, because consent was withdrawn or the server changes. Returns their number.
  Result<std::uint64_t> DropOutgoing();

  // The time of the next attempt after failures: 1 minute, doubling to 1 hour, or as the server
  // requests.
  Status NoteFailure(WallTime now, std::optional<std::chrono::seconds> retry_after);
  Status NoteSuccess();
  Result<WallTime> NextTry();  // the epoch: at once

  struct Totals {
    std::uint64_t queued = 0;  // batches
    std::uint64_t queued_bytes = 0;
    std::uint64_t sent = 0;
    std::uint64_t refused = 0;
    std::uint64_t dropped = 0;  // batches beyond kMostBytes, or by DropOutgoing()
    // Of those that DropOutgoing() dropped: sent, but the server did not respond.
    std::uint64_t may_have_arrived = 0;
    std::string last_refusal;
  };
  Result<Totals> Count();

  // Removes the oldest events and batches until everything takes at most `most_bytes`.
  Status Trim(std::uint64_t most_bytes = kMostBytes);

 private:
  Spool(std::unique_ptr<sqlite::Database> database, EventStore events);
  static Result<Spool> Open(const std::filesystem::path& file, sqlite::Database::Access access);
  Status Add(const char* number, std::uint64_t by);

  std::unique_ptr<sqlite::Database> database_;  // has a stable address
  std::unique_ptr<EventStore> events_;
};

}  // namespace fieldcost::probe
