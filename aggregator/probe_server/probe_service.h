#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "aggregator/probe_server/data/database_writer.h"
#include "aggregator/probe_server/data/readers.h"
#include "aggregator/probe_server/probe_server_config.h"
#include "aggregator/probe_server/web/site.h"
#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "common/http/http_server.h"

namespace fieldcost::probe_server {

inline constexpr std::size_t kReservedDescriptors = 128;

// The parts of a running server, in the order in which they start. Only the thread of Serve() calls
// its functions. The administration listener starts last, so that its thread finds the other parts
// complete; they are not replaced afterwards.
class Service {
 public:
  // REQUIRES: both outlive this object.
  Service(const Config& config, const Clock& clock) : config_(config), clock_(clock) {}
  ~Service() { Stop(); }
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  // Starts everything and writes the listening addresses to the log and the address files.
  Status Start();
  // kIo: the database has failed, and the server must shut down.
  Status CheckHealth();
  Status ReloadCertificate();
  // Starts the removal of old data, at most once per hour, without waiting for it.
  void Expire();
  // Stops everything after responding to requests in progress. Idempotent.
  void Stop();

 private:
  Status StartSite();
  // Reads the server's names from the certificate and the configuration.
  Status ReadHosts();
  std::vector<std::string> Hosts() const;
  // REQUIRES: everything else has started, since the listener's thread reads it without a lock.
  Status StartAdmin();
  void ExpireMore();
  bool IsDiskFull() const;
  std::string WhyNotReady() const;
  std::string Metrics() const;

  const Config& config_;
  const Clock& clock_;
  SiteCounters counters_;
  mutable Mutex hosts_mutex_;
  std::vector<std::string> hosts_ FIELDCOST_GUARDED_BY(hosts_mutex_);
  std::atomic<std::uint64_t> expired_{0};
  std::unique_ptr<Writer> writer_;
  std::unique_ptr<Readers> readers_;
  std::unique_ptr<Site> site_;
  std::unique_ptr<http::Server> server_;
  std::unique_ptr<http::Server> admin_server_;
  std::optional<std::chrono::steady_clock::time_point> last_expiry_;
  bool is_stopped_ = false;
};

// Checks everything that the startup needs, without creating anything; returns lines that describe
// the findings. The first error states what was attempted, on what, why it failed, and what to do.
Result<std::string> CheckStart(const Config& config);

}  // namespace fieldcost::probe_server
