#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "aggregator/probes/config.h"
#include "aggregator/probes/data/readers.h"
#include "aggregator/probes/data/writer.h"
#include "aggregator/probes/web/site.h"
#include "common/base/clock.h"
#include "common/http/server.h"

namespace fieldcost::probe_server {

inline constexpr std::size_t kReservedDescriptors = 128;

// The parts of a running server, in the order in which they start. Its functions are called by one
// thread, that of Serve().
class Service {
 public:
  // REQUIRES: both outlive this.
  Service(const Config& config, const Clock& clock) : config_(config), clock_(clock) {}
  ~Service() { Stop(); }
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  // Starts everything, and writes where it listens to log and files.
  Status Start();
  // kIo: the database has failed; end.
  Status CheckHealth();
  Status ReloadCertificate();
  // Has what is too old removed, at most once an hour; does not wait for it.
  void Expire();
  // Ends what was started; requests in progress are answered. Idempotent.
  void Stop();

 private:
  Status StartSite();
  // Takes the names of the certificate, and those of the configuration.
  Status ReadHosts();
  std::vector<std::string> Hosts() const;
  Status StartAdmin();
  void HandleAdmin(const http::Request& untrusted_request, const http::Respond& respond) const;
  void ExpireMore();
  bool IsDiskFull() const;
  std::string WhyNotReady() const;
  std::string Metrics() const;

  const Config& config_;
  const Clock& clock_;
  SiteCounters counters_;
  mutable std::mutex hosts_mutex_;
  std::vector<std::string> hosts_;
  std::atomic<std::uint64_t> expired_{0};
  std::unique_ptr<Writer> writer_;
  std::unique_ptr<Readers> readers_;
  std::unique_ptr<Site> site_;
  std::unique_ptr<http::Server> server_;
  std::unique_ptr<http::Server> admin_server_;
  std::optional<std::chrono::steady_clock::time_point> last_expiry_;
  bool is_stopped_ = false;
};

// Checks what a start needs without making anything; returns lines about what was found. The first
// error names what was tried, on what, why it failed, and what to do.
Result<std::string> CheckStart(const Config& config);

}  // namespace fieldcost::probe_server
