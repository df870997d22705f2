#include "aggregator/service.h"

#include <fmt/format.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "aggregator/backup.h"
#include "aggregator/keys.h"
#include "aggregator/publish/key_export.h"
#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/units.h"
#include "common/http/tls.h"
#include "common/wire/limits.h"
#include "common/wire/requests.h"

namespace fieldcost::aggregator {
namespace {

using SteadyClock = std::chrono::steady_clock;

// Of the end: for requests in progress, then for publication and the like.
constexpr std::chrono::seconds kDrainTime{20};
constexpr std::chrono::seconds kBackgroundTime{10};
constexpr std::chrono::seconds kAdminDrainTime{1};
constexpr std::chrono::hours kRetentionInterval{24};

constexpr char kHeldRoomIsShort[] =
    "the room for batches of new agents (ingest.held_mib) is nearly used up";
constexpr std::chrono::hours kHeldWarningInterval{1};

// A backup or a compaction of a large store takes its time.
constexpr std::chrono::hours kAdminResponseTime{6};
constexpr std::size_t kMaxAdminConnections = 64;
constexpr std::size_t kMaxAdminBodyBytes = 16 * kKiB;

// A secret that belongs to the store: with another one the server does not start.
template <typename Holder>
Result<Holder> OpenSecret(const Config& config, store::Store& store, const char* name) {
  FIELDCOST_TRY(MakeDirectories(config.store.data_dir / "keys", 0700));
  FIELDCOST_ASSIGN(Holder holder, Holder::LoadOrCreate(config.store.data_dir / "keys" / name));
  FIELDCOST_TRY(store.Bind(name, holder.Fingerprint()));
  return holder;
}

std::string UrlOf(const char* scheme, const http::ServerOptions& options,
                  const http::Server& server) {
  const bool v6 = options.address.find(':') != std::string::npos;
  return fmt::format("{}://{}:{}", scheme, v6 ? '[' + options.address + ']' : options.address,
                     server.port());
}

// Of taking out an agent's batches: the command that has asked for it cannot show it.
void LogProgress(int done, int total) {
  constexpr int kStep = 1'000;
  if (done % kStep != 0) return;
  LogEvent(LogLevel::kInfo, "taking out a revoked agent's batches",
           {{"done", done}, {"of", total}});
}

// Files that others wait for tell a URL.
Status WriteUrl(const std::filesystem::path& file, const std::string& url) {
  if (file.empty()) return {};
  return WriteFileAtomically(file, url + "\n", 0644);
}

void RemoveUrl(const std::filesystem::path& file) {
  if (!file.empty()) ::unlink(file.c_str());
}

}  // namespace

Status Service::Start() {
  FIELDCOST_TRY(StartAdmin());
  FIELDCOST_TRY(StartStore());
  FIELDCOST_TRY(StartServer());
  const bool has_rows = store_->sequence() != 0;
  publication_task_.emplace(config_.publish_interval, has_rows, [this](bool asked) {
    if (asked || store_->sequence() != 0) (void)Publish();
  });
  retention_task_.emplace(kRetentionInterval, true,
                          [this](bool) { (void)Expire(DeletionBy::kServer); });
  phase_ = Phase::kServing;
  return {};
}

Status Service::StartAdmin() {
  if (!config_.admin) return {};
  FIELDCOST_ASSIGN(ingest::TokenSet tokens, ingest::TokenSet::Load(config_.admin->token_files));
  admin_.emplace(Operations());
  admin_->SetTokens(std::move(tokens));
  http::ServerOptions options = config_.admin->server;
  options.threads = 1;
  options.max_body_bytes = kMaxAdminBodyBytes;
  options.max_connections = kMaxAdminConnections;
  options.response_timeout = kAdminResponseTime;
  options.whole_response_timeout = kAdminResponseTime;
  FIELDCOST_ASSIGN(admin_server_, http::Server::Start(options, [this](http::Request request,
                                                                      http::Respond respond) {
                     admin_->Handle(std::move(request), std::move(respond));
                   }));
  return {};
}

Status Service::StartStore() {
  FIELDCOST_ASSIGN(store_, store::Store::Open(config_.store));
  FIELDCOST_ASSIGN(auto pseudonyms,
                   OpenSecret<ingest::Pseudonyms>(config_, *store_, ingest::kPseudonymSecret));
  FIELDCOST_ASSIGN(auto receipts,
                   OpenSecret<ingest::Receipts>(config_, *store_, ingest::kReceiptSecret));
  FIELDCOST_ASSIGN(auto names, ingest::AbuseNames::LoadOrCreate(
                                   config_.store.data_dir / "keys" / ingest::kAbuseNamesSecret,
                                   SystemClock().Now()));
  FIELDCOST_ASSIGN(auto admission,
                   ingest::Admission::Load(config_.enrolment_mode, config_.token_files, *store_));
  FIELDCOST_ASSIGN(auto publisher, publish::Publisher::Open(config_.publish, SystemClock()));
  WarnOfOfflineKeys(config_);
  publication_.emplace(std::move(publisher), *store_, SystemClock());
  files_.emplace(publication_->publisher().directory(), publication_->publisher().root().version);
  ingest::IngestOptions options = config_.ingest;
  options.disk_is_full = [this] { return IsDiskFull(); };
  ingest_.emplace(*store_, SystemClock(), std::move(pseudonyms), std::move(receipts),
                  std::move(admission), std::move(options), std::move(names));
  workers_.emplace(config_.ingest_threads, config_.ingest_queue);
  return {};
}

Status Service::StartServer() {
  certificate_watch_.emplace(std::vector<std::filesystem::path>{config_.server.certificate_file,
                                                                config_.server.private_key_file});
  FIELDCOST_TRY(SetNames());
  http::ServerOptions options = config_.server;
  options.max_body_bytes = wire::kMaxBatchBodyBytes;
  FIELDCOST_ASSIGN(server_, http::Server::Start(std::move(options), [this](http::Request request,
                                                                           http::Respond respond) {
                     Route(std::move(request), std::move(respond));
                   }));
  return {};
}

Status Service::Open() {
  is_open_ = true;
  if (admin_server_) {
    const std::string url = UrlOf("http", config_.admin->server, *admin_server_);
    FIELDCOST_TRY(WriteUrl(config_.admin->address_file, url));
    LogEvent(LogLevel::kInfo, "administration", {{"url", url}});
  }
  const std::string url = UrlOf("https", config_.server, *server_);
  FIELDCOST_TRY(WriteUrl(config_.address_file, url));
  LogEvent(LogLevel::kInfo, "listening on " + url);
  return {};
}

void Service::Route(http::Request request, http::Respond respond) {
  if (!ingest::Ingest::IsTarget(request.target)) return respond(files_->Handle(request));
  const auto start = SteadyClock::now();
  // Both are shared with the task only if the pool takes it.
  auto task = std::make_shared<std::pair<http::Request, http::Respond>>(std::move(request),
                                                                        std::move(respond));
  const bool taken = workers_->TryRun([this, task, start] {
    http::Response response = ingest_->Handle(task->first);
    if (task->first.target == wire::kBatchesPath) batch_latency_.Add(SteadyClock::now() - start);
    task->second(std::move(response));
  });
  if (!taken) task->second(ingest_->Overloaded());
}

admin::Operations Service::Operations() {
  return {
      .why_not_ready = [this] { return WhyNotReady(); },
      .metrics = [this] { return Metrics(); },
      .publish = [this]() -> Result<publish::PublishReport> {
        FIELDCOST_TRY(CheckServing());
        return Publish();
      },
      .checkpoint = [this]() -> Result<std::uint64_t> {
        FIELDCOST_TRY(CheckServing());
        FIELDCOST_TRY(store_->Checkpoint());
        return store_->sequence();
      },
      .compact = [this]() -> Status {
        FIELDCOST_TRY(CheckServing());
        return store_->Compact();
      },
      .backup = [this](const std::filesystem::path& directory,
                       bool without_signing_keys) -> Result<std::uint64_t> {
        FIELDCOST_TRY(CheckServing());
        FIELDCOST_ASSIGN(const BackupReport report,
                         BackUp(*store_, {.data_dir = config_.store.data_dir,
                                          .directory = directory,
                                          .without_signing_keys = without_signing_keys}));
        return report.sequence;
      },
      .expire = [this]() -> Result<store::ExpiryReport> {
        FIELDCOST_TRY(CheckServing());
        return Expire(DeletionBy::kOperator);
      },
      .verify = [this]() -> Result<store::VerifyReport> {
        FIELDCOST_TRY(CheckServing());
        return store_->Verify();
      },
      .revoke = [this](const ingest::RevocationRequest& untrusted_request)
          -> Result<ingest::RevocationReport> {
        FIELDCOST_TRY(CheckServing());
        return ingest_->Revoke(untrusted_request, config_.publish.contribution_threshold,
                               LogProgress);
      },
      .reload = [this]() -> Status {
        FIELDCOST_TRY(CheckServing());
        return Reload();
      },
  };
}

Result<publish::PublishReport> Service::Publish() {
  auto report = publication_->Publish();
  if (report) files_->SetRootVersion(report->root_version);
  return report;
}

Status Service::CheckServing() const {
  if (phase_ == Phase::kServing) return {};
  return Fail(ErrorCode::kUnavailable, "the service is {}",
              phase_ == Phase::kStarting ? "starting" : "ending");
}

Status Service::CheckHealth() {
  if (!store_->healthy()) {
    return Fail(ErrorCode::kIo, "the store in {} has failed; nothing more is accepted",
                config_.store.data_dir.string());
  }
  WarnOfHeldRoom();
  if (certificate_watch_->HaveChanged()) {
    if (const Status status = ReloadCertificate(); !status) {
      LogEvent(LogLevel::kError, "the new certificate cannot be used, the old one stays",
               {{"error", status.error().message}});
    } else {
      LogEvent(LogLevel::kInfo, "the certificate has changed");
    }
  }
  return {};
}

void Service::WarnOfHeldRoom() {
  const store::StoreGauges gauges = store_->Gauges();
  if (!gauges.IsHeldRoomShort() || SteadyClock::now() < next_held_warning_) return;
  next_held_warning_ = SteadyClock::now() + kHeldWarningInterval;
  LogEvent(LogLevel::kWarning, kHeldRoomIsShort,
           {{"held_batches", gauges.held_batches},
            {"held_bytes", gauges.held_bytes},
            {"room_bytes", gauges.held_room_bytes},
            {"evicted_batches", gauges.evicted_batches}});
}

Status Service::ReloadCertificate() {
  Status status = server_->ReloadCertificate();
  if (status) status = SetNames();
  if (!status) ++certificate_failures_;
  return status;
}

Status Service::SetNames() {
  if (!config_.ingest.names.empty()) return {};
  FIELDCOST_ASSIGN(std::vector<std::string> names,
                   http::CertificateNames(config_.server.certificate_file));
  if (names.empty()) {
    LogEvent(LogLevel::kWarning,
             "the certificate names nobody: without [server] names no batch is taken",
             {{"certificate", config_.server.certificate_file.string()}});
  }
  ingest_->SetNames(std::move(names));
  return {};
}

Status Service::Reload() {
  Status certificate = ReloadCertificate();
  Status enrolment = ingest_->ReloadTokens();
  if (admin_) {
    FIELDCOST_ASSIGN(ingest::TokenSet tokens, ingest::TokenSet::Load(config_.admin->token_files));
    admin_->SetTokens(std::move(tokens));
  }
  return certificate ? enrolment : certificate;
}

Result<store::ExpiryReport> Service::Expire(DeletionBy by) {
  const auto start = SteadyClock::now();
  auto report = DeleteOld(*store_, SystemClock(), config_.retention_weeks, by);
  const std::lock_guard lock(retention_mutex_);
  Record(report.has_value(), start, SystemClock(), retention_state_);
  if (!report) {
    LogEvent(LogLevel::kError, "retention failed", {{"error", report.error().message}});
  } else {
    LogEvent(LogLevel::kInfo, "deleted what is too old",
             {{"first_week", store_->first_week()},
              {"rows", report->rows},
              {"ledger_entries", report->ledger_entries},
              {"held_batches", report->held_batches},
              {"kept_batches", report->kept_batches}});
  }
  return report;
}

std::optional<std::uint64_t> Service::FreeBytes() const {
  struct statvfs disk {};
  if (::statvfs(config_.store.data_dir.c_str(), &disk) != 0) return std::nullopt;
  return std::uint64_t{disk.f_bavail} * disk.f_frsize;
}

bool Service::IsDiskFull() const {
  const std::optional<std::uint64_t> free_bytes = FreeBytes();
  return free_bytes && *free_bytes < config_.min_free_bytes;
}

std::string Service::WhyNotReady() const {
  const Phase phase = phase_;
  if (phase == Phase::kStarting) return "starting";
  if (phase == Phase::kDraining) return "draining";
  if (!store_->healthy()) return "the store has failed";
  if (IsDiskFull()) {
    return fmt::format("less than {} MiB are free on the disk of the data",
                       config_.min_free_bytes / kMiB);
  }
  if (store_->Gauges().IsHeldRoomShort()) return kHeldRoomIsShort;
  return "";
}

std::string Service::Metrics() const {
  admin::ServiceState state{.version = FIELDCOST_VERSION,
                            .ready = WhyNotReady().empty(),
                            .free_bytes = FreeBytes(),
                            .certificate_failures = certificate_failures_};
  if (phase_ == Phase::kStarting) return admin::RenderMetrics(state);
  state.ingest = &ingest_->counters();
  state.batch_latency = &batch_latency_;
  state.server = server_->counters();
  state.certificate_expiry = server_->certificate_expiry();
  state.offline_keys = publish::OfflineKeyFiles(config_.store.data_dir / "keys").size();
  state.store = store_->Gauges();
  state.publication = publication_->state();
  if (retention_task_) {
    const std::lock_guard lock(retention_mutex_);
    state.retention = retention_state_;
  }
  return admin::RenderMetrics(state);
}

bool Service::Stop() {
  const bool started = phase_ != Phase::kStarting;
  // Before its state says that all parts are there.
  if (!started && admin_server_) admin_server_->Stop(std::chrono::seconds(0));
  phase_ = Phase::kDraining;
  if (server_) server_->Stop(kDrainTime);
  if (is_open_) RemoveUrl(config_.address_file);
  if (workers_) workers_->Stop();
  const auto deadline = SteadyClock::now() + kBackgroundTime;
  const auto left = [deadline] {
    return std::max(
        std::chrono::milliseconds(0),
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - SteadyClock::now()));
  };
  bool idle = true;
  if (publication_task_) idle = publication_task_->Stop(left()) && idle;
  if (retention_task_) idle = retention_task_->Stop(left()) && idle;
  if (admin_) idle = admin_->Stop(left()) && idle;
  if (ingest_) LogEvent(LogLevel::kInfo, ingest_->counters().Summary());
  if (!idle) {
    LogEvent(LogLevel::kWarning, "ending without waiting for background work");
    return false;
  }
  if (started && store_->healthy()) {
    if (Status status = store_->Checkpoint(); !status) {
      LogEvent(LogLevel::kError, "last checkpoint failed", {{"error", status.error().message}});
    }
  }
  if (admin_server_) admin_server_->Stop(kAdminDrainTime);
  if (is_open_ && config_.admin) RemoveUrl(config_.admin->address_file);
  return true;
}

}  // namespace fieldcost::aggregator
