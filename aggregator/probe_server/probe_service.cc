#include "aggregator/probe_server/probe_service.h"

#include <utility>

#include "aggregator/probe_server/data/expire.h"
#include "common/base/file.h"
#include "common/base/log.h"
#include "common/http/certificate.h"
#include "common/probe/probe_limits.h"
#include "common/serve/address_file.h"
#include "common/serve/disk_room.h"
#include "common/serve/health.h"
#include "common/serve/metrics_text.h"

namespace fieldcost::probe_server {
namespace {

constexpr std::chrono::seconds kDrainTime{20};
constexpr std::chrono::hours kExpiryInterval{1};
constexpr unsigned kHttpThreads = 2;
constexpr std::size_t kMaxAdminConnections = 16;

}  // namespace

Status Service::Start() {
  http::ServerOptions options = config_.server;
  options.threads = kHttpThreads;
  options.max_body_bytes = probe::kMaxBatchBodyBytes;
  options.reserved_descriptors = kReservedDescriptors;
  FIELDCOST_TRY(http::ReserveDescriptors(options));
  FIELDCOST_TRY(CheckStart(config_).transform([](const std::string&) {}));
  FIELDCOST_TRY(StartSite());
  const auto handle = [this](http::Request request, const http::Respond& respond) {
    site_->Handle(std::move(request), respond);
  };
  FIELDCOST_ASSIGN(server_, http::Server::Start(options, handle));
  FIELDCOST_TRY(StartAdmin());
  const std::string url = serve::UrlOf(config_.server, *server_);
  FIELDCOST_TRY(serve::WriteAddressFile(config_.address_file, url));
  LogEvent(LogLevel::kInfo, "listening on " + url);
  return {};
}

Status Service::ReloadCertificate() {
  FIELDCOST_TRY(server_->ReloadCertificate());
  return ReadHosts();
}

Status Service::ReadHosts() {
  std::vector<std::string> names = config_.hosts;
  if (!config_.server.certificate_file.empty()) {
    FIELDCOST_ASSIGN(const std::vector<std::string> certified,
                     http::CertificateNames(config_.server.certificate_file));
    names.insert(names.end(), certified.begin(), certified.end());
  }
  const MutexLock lock(hosts_mutex_);
  hosts_ = std::move(names);
  return {};
}

std::vector<std::string> Service::Hosts() const {
  const MutexLock lock(hosts_mutex_);
  return hosts_;
}

Status Service::StartSite() {
  FIELDCOST_TRY(ReadHosts());
  FIELDCOST_TRY(MakeDirectories(config_.data_dir, 0700));
  FIELDCOST_ASSIGN(std::unique_ptr<Data> data,
                   Data::Open(config_.database(), sqlite::Database::Access::kCreate));
  FIELDCOST_ASSIGN(readers_, Readers::Open(config_.database(), kSiteReaders));
  writer_ = std::make_unique<Writer>(std::move(data));
  site_ = std::make_unique<Site>(
      SiteParts{.writer = *writer_,
                .readers = *readers_,
                .clock = clock_,
                .quota = {.steps_of_user = config_.points_per_user, .days = config_.retention_days},
                .is_disk_full = [this] { return IsDiskFull(); },
                .counters = counters_,
                .trusted_proxies = config_.trusted_proxies,
                .hosts = [this] { return Hosts(); }});
  return {};
}

Status Service::StartAdmin() {
  if (!config_.admin) return {};
  http::ServerOptions options = *config_.admin;
  options.threads = 1;
  options.reserved_descriptors = 0;  // the other listener's reserve includes them
  options.max_connections = kMaxAdminConnections;
  const auto handle = [this](const http::Request& untrusted_request, const http::Respond& respond) {
    auto response =
        serve::AnswerHealth(untrusted_request, {.why_not_ready = [this] { return WhyNotReady(); },
                                                .metrics = [this] { return Metrics(); }});
    respond(response ? std::move(*response) : http::NotFound());
  };
  FIELDCOST_ASSIGN(admin_server_, http::Server::Start(options, handle));
  const std::string url = serve::UrlOf(*config_.admin, *admin_server_);
  FIELDCOST_TRY(serve::WriteAddressFile(config_.admin_address_file, url));
  LogEvent(LogLevel::kInfo, "administration", {{"url", url}});
  return {};
}

Status Service::CheckHealth() {
  if (writer_->healthy()) return {};
  return Fail(ErrorCode::kIo, "the database {} has failed; nothing more is accepted",
              config_.database().string());
}

void Service::Expire() {
  const auto now = std::chrono::steady_clock::now();
  if (last_expiry_ && now - *last_expiry_ < kExpiryInterval) return;
  last_expiry_ = now;
  writer_->Post(
      [this](Data& data) { return ForgetOld(data, config_.retention_days, clock_.Now()); },
      [](const Status&) {});
  ExpireMore();
}

// Removes a few at a time, each after all work that is already waiting.
void Service::ExpireMore() {
  auto removed = std::make_shared<probe::Removed>();
  writer_->Post(
      [this, removed](Data& data) -> Status {
        FIELDCOST_ASSIGN(*removed, ExpireSome(data, config_.retention_days, clock_.Now()));
        return {};
      },
      [this, removed](const Status& status) {
        if (!status) {
          LogEvent(LogLevel::kError, "removing old events failed",
                   {{"error", status.error().message}});
          return;
        }
        expired_ += removed->events;
        if (removed->has_more) ExpireMore();
      });
}

bool Service::IsDiskFull() const {
  const std::optional<std::uint64_t> free_bytes = serve::FreeBytes(config_.data_dir);
  return free_bytes && *free_bytes < config_.min_free_bytes;
}

std::string Service::WhyNotReady() const {
  if (!writer_->healthy()) return "the database has failed";
  if (IsDiskFull()) return "less than data.min_free_mib is free on the disk of the data";
  if (const auto validity = server_->certificate_validity()) {
    const std::string why =
        http::WhyNotValid(*validity, std::chrono::floor<std::chrono::seconds>(clock_.Now()));
    if (!why.empty()) return "the certificate " + why;
  }
  return "";
}

std::string Service::Metrics() const {
  serve::MetricsText text;
  text.Gauge("fieldcost_probe_ready", "1 if batches are accepted", WhyNotReady().empty() ? 1 : 0);
  text.Counter("fieldcost_probe_batches_total", "accepted batches, without repetitions",
               counters_.batches.load());
  text.Counter("fieldcost_probe_points_total", "points in them", counters_.points.load());
  text.Counter("fieldcost_probe_duplicates_total", "batches sent again",
               counters_.duplicates.load());
  text.Counter("fieldcost_probe_refused_batches_total", "batches not taken",
               counters_.refused_batches.load());
  text.Counter("fieldcost_probe_logins_total", "successful logins", counters_.logins.load());
  text.Counter("fieldcost_probe_failed_logins_total", "failed or delayed logins",
               counters_.failed_logins.load());
  text.Counter("fieldcost_probe_forged_forms_total", "forged form submissions",
               counters_.forged_forms.load());
  text.Counter("fieldcost_probe_overloads_total", "requests refused because too many were waiting",
               counters_.overloads.load());
  text.Counter("fieldcost_probe_expired_events_total", "events removed for their age",
               expired_.load());
  const http::ServerCounters door = server_->counters();
  text.Gauge("fieldcost_probe_open_connections", "current connections", door.open_connections);
  text.Counter("fieldcost_probe_requests_total", "requests of all kinds", door.requests);
  text.Counter("fieldcost_probe_over_address_limit_total",
               "connections and requests above the limits of an address", door.over_address_limit);
  if (const auto validity = server_->certificate_validity()) {
    text.Gauge("fieldcost_certificate_expiry_timestamp_seconds",
               "expiry of the current certificate, in Unix time",
               validity->end.time_since_epoch().count());
  }
  serve::AddProcessMetrics(text);
  if (const auto free_bytes = serve::FreeBytes(config_.data_dir)) {
    text.Gauge("fieldcost_probe_disk_free_bytes", "free on the disk of the data", *free_bytes);
  }
  return text.Text();
}

void Service::Stop() {
  if (std::exchange(is_stopped_, true)) return;
  if (server_) {
    server_->Stop(kDrainTime);
    serve::RemoveAddressFile(config_.address_file);
  }
  if (site_) site_->Stop();
  if (writer_) writer_->Stop();
  if (admin_server_) {
    admin_server_->Stop(std::chrono::seconds(0));
    serve::RemoveAddressFile(config_.admin_address_file);
  }
  LogEvent(LogLevel::kInfo, "stopped",
           {{"batches", counters_.batches.load()}, {"refused", counters_.refused_batches.load()}});
}

}  // namespace fieldcost::probe_server
