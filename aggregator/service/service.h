#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "aggregator/admin/admin.h"
#include "aggregator/admin/latency.h"
#include "aggregator/admin/metrics.h"
#include "aggregator/config/aggregator_config.h"
#include "aggregator/ingest/ingest.h"
#include "aggregator/publish/file_check.h"
#include "aggregator/publish/file_server.h"
#include "aggregator/service/file_watch.h"
#include "aggregator/service/periodic_task.h"
#include "aggregator/service/publication.h"
#include "aggregator/upkeep/retention.h"
#include "aggregator/upkeep/scrub.h"
#include "common/base/mutex.h"
#include "common/base/result.h"
#include "common/base/worker_pool.h"
#include "common/http/http_server.h"

namespace fieldcost::aggregator {

// The engine's table files, and as many descriptors again for what it writes (logs, checkpoints,
// compactions, backups), for publications, published files, secrets and the operator's connections.
// Clients' connections must not use these up: a checkpoint without a descriptor makes the store
// fail.
inline constexpr std::size_t kReservedDescriptors = 2 * store::kMaxOpenFiles;

// The parts of a running service, in the order in which they start. Its functions are called by a
// single thread, that of Serve(), which waits for signals and never for a disk.
class Service {
 public:
  // REQUIRES: `config` outlives this.
  explicit Service(const Config& config) : config_(config) {}
  // REQUIRES: Start() has failed, or Stop() returned true.
  ~Service() = default;
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  // Starts everything; the first publication, even of an empty store, runs in the background.
  Status Start();
  // Whether the first publication is done.
  bool IsReadyToOpen() const { return publication_task_->idle(); }
  // Writes the addresses that it listens on to log and files.
  Status Open();

  // Checks store, memory and certificate; call periodically. kIo: the store has failed; shut down.
  Status CheckHealth();
  void AskToPublish() { publication_task_->Ask(); }
  // Reloads certificate and tokens; returns the first error, after trying all.
  Status Reload();

  // Makes /readyz report that it is draining, while all requests are still answered.
  void BeginDrain() { phase_ = Phase::kDraining; }
  // Stops everything. Returns false if background work is still running; the object must then not
  // be destroyed.
  [[nodiscard]] bool Stop();

 private:
  enum class Phase { kStarting, kServing, kDraining };

  Status StartAdmin();
  Status StartStore();
  Status StartServer();
  admin::Operations Operations();
  void Route(http::Request untrusted_request, http::Respond respond);
  Status ReloadCertificate();
  // Sets the names of the configuration or, if there are none, those of the certificate.
  Status SetNames();
  // Where the public listener is reached: if the certificate is not for the address that it listens
  // on (such as 0.0.0.0), under the certificate's first name.
  std::string CertifiedUrl() const;
  Result<publish::PublishReport> Publish();
  // Logs the agents of rows that a publication found fault with.
  void NoteContributors(ingest::Abuse kind, const std::vector<stats::RowKey>& rows);
  void Expire();
  Result<store::ExpiryEffect> ExpireBefore(std::uint32_t week, bool yes);
  void NoteDeletion(const Result<store::ExpiryReport>& report,
                    std::chrono::steady_clock::time_point start);
  std::optional<std::uint64_t> FreeBytes() const;
  bool IsDiskFull() const;  // below Config::min_free_bytes; logs each change
  std::string WhyNotReady() const;
  std::string WhyCertificateIsBad() const;  // "" = it is valid
  // Logs at most once an hour.
  void WarnOfHeldRoom();
  // Returns the memory of a checkpoint's rows to the system.
  void GiveBackMemory();
  // Reads all files next to the store. Damage that a publication can repair is published at once;
  // any remaining damage makes the service not ready.
  void CheckFiles();
  Result<publish::FileReport> FilesBesideStore();
  // Logs each reason for not being ready once when it begins.
  void SayWhatIsWrong();
  std::string Metrics() const;
  // kUnavailable: some parts that operators' requests need have not started.
  Status CheckServing() const;

  const Config& config_;
  http::ServerOptions server_options_;  // as configured, except for a lower limit of connections
  std::atomic<Phase> phase_{Phase::kStarting};
  bool is_open_ = false;
  admin::Latency batch_latency_;
  admin::BatchStageLatency batch_stages_;  // the store adds to it
  std::optional<admin::Admin> admin_;
  std::unique_ptr<http::Server> admin_server_;
  std::unique_ptr<store::Store> store_;
  std::optional<Publication> publication_;
  std::optional<publish::FileServer> files_;
  std::optional<ingest::Ingest> ingest_;
  std::optional<WorkerPool> workers_;
  std::unique_ptr<http::Server> server_;
  std::optional<FileWatch> certificate_watch_;
  std::optional<PeriodicTask> publication_task_;
  std::optional<PeriodicTask> retention_task_;
  std::optional<Scrub> scrub_;
  std::optional<PeriodicTask> scrub_task_;
  std::chrono::steady_clock::time_point next_held_warning_;
  std::uint64_t checkpoints_ = 0;  // when memory was last given back
  std::string said_of_clock_;
  std::string said_of_certificate_;
  mutable std::atomic<bool> was_full_{false};  // as of the last check
  std::atomic<std::uint64_t> certificate_failures_{0};
  mutable Mutex retention_mutex_;
  TaskState retention_state_ FIELDCOST_GUARDED_BY(retention_mutex_);
  std::map<std::string, std::string> bindings_;  // fingerprints of the secrets in use
  std::optional<PeriodicTask> files_task_;
  mutable Mutex files_mutex_;
  std::vector<std::string> damaged_files_ FIELDCOST_GUARDED_BY(files_mutex_);  // descriptions
};

}  // namespace fieldcost::aggregator
