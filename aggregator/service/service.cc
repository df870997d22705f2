#include "aggregator/service/service.h"

#include <fmt/format.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "aggregator/publish/key_export.h"
#include "aggregator/service/service_start_check.h"
#include "aggregator/store/database_sync_times.h"
#include "aggregator/upkeep/backup.h"
#include "aggregator/upkeep/data_check.h"
#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/units.h"
#include "common/http/certificate.h"
#include "common/serve/address_file.h"
#include "common/serve/disk_room.h"
#include "common/wire/wire_limits.h"
#include "common/wire/wire_requests.h"

namespace fieldcost::aggregator {
namespace {

using SteadyClock = std::chrono::steady_clock;

// How long shutdown may take: for requests in progress, then for background work.
constexpr std::chrono::seconds kDrainTime{20};
constexpr std::chrono::seconds kBackgroundTime{10};
constexpr std::chrono::seconds kAdminDrainTime{1};
constexpr std::chrono::hours kRetentionInterval{24};
constexpr std::chrono::seconds kScrubInterval{60};
constexpr std::chrono::hours kFileCheckInterval{1};

constexpr char kHeldRoomIsShort[] =
    "the space for batches of new agents (ingest.held_mib) is nearly used up";
constexpr std::chrono::hours kHeldWarningInterval{1};

// A backup or a compaction of a large store takes long.
constexpr std::chrono::hours kAdminResponseTime{6};
constexpr std::size_t kMaxAdminConnections = 64;

constexpr std::size_t kMaxAdminBodyBytes = 16 * kKiB;

// Opens a secret that belongs to the store: with a different one the server does not start.
template <typename Holder>
Result<Holder> OpenSecret(const Config& config, store::Store& store, const char* name,
                          std::map<std::string, std::string>& bindings) {
  const std::filesystem::path file = config.store.data_dir / "keys" / name;
  FIELDCOST_TRY(MakeDirectories(file.parent_path(), 0700));
  std::error_code error;
  if (!std::filesystem::exists(file, error)) {
    // Does not create a missing one: it would be mistaken for the original.
    FIELDCOST_ASSIGN(const bool had_one, store.IsBound(name));
    if (had_one) {
      return Fail(ErrorCode::kCorrupt,
                  "secret file {} is missing, but {} was filled with it; restore it from a backup",
                  file.string(), (config.store.data_dir / "store").string());
    }
  }
  FIELDCOST_ASSIGN(Holder holder, Holder::LoadOrCreate(file));
  FIELDCOST_TRY(store.Bind(name, holder.Fingerprint()));
  bindings[name] = holder.Fingerprint();
  return holder;
}

}  // namespace

Status Service::Start() {
  // Checked before anything is created that a failed start would leave.
  FIELDCOST_TRY(CheckStart(config_, Listening::kStarts));
  server_options_ = config_.server;
  server_options_.reserved_descriptors = kReservedDescriptors;
  FIELDCOST_TRY(http::ReserveDescriptors(server_options_));
  FIELDCOST_TRY(StartAdmin());
  FIELDCOST_TRY(StartStore());
  FIELDCOST_TRY(StartServer());
  // Also if there are no rows yet, so that new agents can sync.
  publication_task_.emplace(config_.publish_interval, true, [this](bool) { (void)Publish(); });
  files_task_.emplace(kFileCheckInterval, true, [this](bool) { CheckFiles(); });
  retention_task_.emplace(kRetentionInterval, true, [this](bool) { Expire(); });
  if (config_.scrub_days != 0) {
    scrub_.emplace(*store_, SystemClock(), std::chrono::days(config_.scrub_days));
    scrub_task_.emplace(kScrubInterval, true, [this](bool) {
      WorkWhenIdle();
      if (const Status status = scrub_->Step(kScrubInterval); !status) {
        LogEvent(LogLevel::kError, "the store's files cannot be checked",
                 {{"error", status.error().message}});
      }
    });
  }
  phase_ = Phase::kServing;
  SayWhatIsWrong();
  return {};
}

Status Service::StartAdmin() {
  if (!config_.admin) return {};
  FIELDCOST_ASSIGN(ingest::TokenSet tokens, ingest::TokenSet::Load(config_.admin->token_files));
  admin_.emplace(Operations());
  admin_->SetTokens(std::move(tokens));
  http::ServerOptions options = config_.admin->server;
  options.threads = 1;
  options.reserved_descriptors = 0;  // its own are among those of the other listener
  options.max_body_bytes = kMaxAdminBodyBytes;
  options.max_connections = kMaxAdminConnections;
  options.response_timeout = kAdminResponseTime;
  options.whole_response_timeout = kAdminResponseTime;
  const auto handle = [this](http::Request request, http::Respond respond) {
    admin_->Handle(std::move(request), std::move(respond));
  };
  FIELDCOST_ASSIGN(admin_server_, http::Server::Start(options, handle));
  return {};
}

Status Service::StartStore() {
  store::StoreOptions store_options = config_.store;
  store_options.file_system = store::WithLogSyncTimes(
      [this](std::chrono::nanoseconds duration) { batch_stages_.AddSync(duration); });
  FIELDCOST_ASSIGN(store_, store::Store::Open(std::move(store_options)));
  FIELDCOST_ASSIGN(auto pseudonyms, OpenSecret<ingest::Pseudonyms>(
                                        config_, *store_, ingest::kPseudonymSecret, bindings_));
  FIELDCOST_ASSIGN(auto receipts, OpenSecret<ingest::Receipts>(config_, *store_,
                                                               ingest::kReceiptSecret, bindings_));
  FIELDCOST_ASSIGN(auto names, ingest::AbuseNames::LoadOrCreate(
                                   config_.store.data_dir / "keys" / ingest::kAbuseNamesSecret,
                                   SystemClock().Now()));
  FIELDCOST_ASSIGN(auto admission,
                   ingest::Admission::Load(config_.enrolment_mode, config_.token_files, *store_));
  FIELDCOST_ASSIGN(auto publisher, publish::Publisher::Open(config_.publish, SystemClock()));
  publish::WarnOfOfflineKeys(config_.store.data_dir / "keys");
  publication_.emplace(std::move(publisher), *store_, SystemClock());
  files_.emplace(publication_->publisher().directory(), publication_->publisher().root().version);
  ingest::IngestOptions options = config_.ingest;
  options.disk_is_full = [this] { return IsDiskFull(); };
  FIELDCOST_ASSIGN(options.roots, publication_->publisher().RootFingerprints());
  ingest_.emplace(*store_, SystemClock(), std::move(pseudonyms), std::move(receipts),
                  std::move(admission), std::move(options), std::move(names));
  workers_.emplace(config_.ingest_threads, config_.ingest_queue);
  return {};
}

Status Service::StartServer() {
  certificate_watch_.emplace(std::vector<std::filesystem::path>{config_.server.certificate_file,
                                                                config_.server.private_key_file});
  FIELDCOST_TRY(SetNames());
  http::ServerOptions options = server_options_;
  options.max_body_bytes = wire::kMaxBatchBodyBytes;
  const auto handle = [this](http::Request request, http::Respond respond) {
    Route(std::move(request), std::move(respond));
  };
  FIELDCOST_ASSIGN(server_, http::Server::Start(std::move(options), handle));
  return {};
}

Status Service::Open() {
  is_open_ = true;
  if (admin_server_) {
    const std::string url = serve::UrlOf(config_.admin->server, *admin_server_);
    FIELDCOST_TRY(serve::WriteAddressFile(config_.admin->address_file, url));
    LogEvent(LogLevel::kInfo, "administration", {{"url", url}});
  }
  const std::string url = CertifiedUrl();
  FIELDCOST_TRY(serve::WriteAddressFile(config_.address_file, url));
  LogEvent(LogLevel::kInfo, "listening on " + url);
  return {};
}

std::string Service::CertifiedUrl() const {
  const auto names = http::CertificateNames(config_.server.certificate_file);
  std::string url = serve::UrlOf(config_.server, *server_);
  if (!names || http::IsCertifiedHost(config_.server.address, *names)) return url;
  const auto name = std::find_if(names->begin(), names->end(), [](const std::string& candidate) {
    return candidate.find('*') == std::string::npos;
  });
  return name == names->end() ? url : serve::UrlOf("https", *name, server_->port());
}

void Service::Route(http::Request request, http::Respond respond) {
  if (!ingest::Ingest::IsTarget(request.target)) return respond(files_->Handle(request));
  struct Task {
    http::Request request;
    http::Respond respond;
    SteadyClock::time_point received;
    store::StageTimes stages;
  };
  const auto received = SteadyClock::now();
  store::StageTimes stages(request.first_byte_at);
  stages.EndAt(store::BatchStage::kReceive, received);
  // Shared with the pool, which may refuse it.
  auto task =
      std::make_shared<Task>(Task{std::move(request), std::move(respond), received, stages});
  const bool taken = workers_->TryRun([this, task] {
    task->stages.End(store::BatchStage::kQueue);
    http::Response response = ingest_->Handle(task->request, task->stages);
    if (task->request.target == wire::kBatchesPath) {
      batch_latency_.Add(SteadyClock::now() - task->received);
      batch_stages_.Add(task->stages);
    }
    task->respond(std::move(response));
  });
  if (!taken) task->respond(ingest_->Overloaded());
}

void Service::NoteContributors(ingest::Abuse kind, const std::vector<stats::RowKey>& rows) {
  if (rows.empty()) return;
  if (const Status status = ingest_->NoteContributors(kind, rows); !status) {
    LogEvent(LogLevel::kError, "cannot determine the agents of these rows",
             {{"kind", ingest::Name(kind)}, {"error", status.error().message}});
  }
}

Result<publish::PublishReport> Service::Publish() {
  auto report = publication_->Publish();
  if (!report) return report;
  files_->SetRootVersion(report->root_version);
  FIELDCOST_ASSIGN(const auto roots, publication_->publisher().RootFingerprints());
  ingest_->AddRoots(roots);
  NoteContributors(ingest::Abuse::kCrowding, report->crowding);
  NoteContributors(ingest::Abuse::kInconsistentRow, report->inconsistent);
  const MutexLock lock(files_mutex_);
  if (!damaged_files_.empty() && files_task_) files_task_->Ask();
  return report;
}

Result<publish::FileReport> Service::FilesBesideStore() {
  return publication_->BetweenPublications(
      [this] { return CheckFilesBesideStore(config_.store.data_dir, bindings_); });
}

void Service::CheckFiles() {
  WorkWhenIdle();
  const auto report = FilesBesideStore();
  if (!report) {
    return LogEvent(LogLevel::kError, "cannot check the files next to the store",
                    {{"error", report.error().message}});
  }
  std::vector<std::string> damaged;
  bool can_be_mended = false;
  for (const publish::DamagedFile& file : report->damaged) {
    damaged.push_back(publish::Describe(file));
    can_be_mended |= file.is_mended_by_publication;
  }
  const MutexLock lock(files_mutex_);
  // Avoids endless publications if the disk damages what was just written.
  if (damaged == damaged_files_) return;
  damaged_files_ = std::move(damaged);
  for (const std::string& description : damaged_files_) {
    LogEvent(LogLevel::kError, "a file is damaged", {{"file", description}});
  }
  if (damaged_files_.empty()) {
    LogEvent(LogLevel::kInfo, "all files next to the store are intact again");
  }
  if (can_be_mended) publication_task_->Ask();
}

Status Service::CheckServing() const {
  if (phase_ == Phase::kServing) return {};
  return Fail(ErrorCode::kUnavailable, "the service is {}",
              phase_ == Phase::kStarting ? "starting" : "shutting down");
}

Status Service::CheckHealth() {
  if (!store_->healthy()) {
    return Fail(ErrorCode::kIo, "the store in {} has failed; no batch is accepted",
                config_.store.data_dir.string());
  }
  WarnOfHeldRoom();
  GiveBackMemory();
  SayWhatIsWrong();
  if (certificate_watch_->HaveChanged()) {
    if (const Status status = ReloadCertificate(); !status) {
      LogEvent(LogLevel::kError, "cannot use the new certificate; the old one stays in force",
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

void Service::GiveBackMemory() {
  const std::uint64_t checkpoints = store_->Gauges().checkpoints;
  if (std::exchange(checkpoints_, checkpoints) != checkpoints) ::malloc_trim(0);
}

std::string Service::WhyCertificateIsBad() const {
  const auto validity = server_->certificate_validity();
  if (!validity) return "";
  const std::string why =
      http::WhyNotValid(*validity, std::chrono::floor<std::chrono::seconds>(SystemClock().Now()));
  return why.empty() ? "" : "the certificate " + why;
}

void Service::SayWhatIsWrong() {
  const auto say = [](std::string& said, std::string why) {
    if (said.empty() && !why.empty()) {
      LogEvent(LogLevel::kError, "the service is not ready", {{"why", why}});
    }
    said = std::move(why);
  };
  say(said_of_clock_, ingest_->WhyNothingIsAccepted());
  std::string why = WhyCertificateIsBad();
  if (!why.empty()) {
    why += fmt::format(
        ": clients refuse it; put a valid one and its key into {} and {}; the server loads them by "
        "itself",
        config_.server.certificate_file.string(), config_.server.private_key_file.string());
  }
  say(said_of_certificate_, std::move(why));
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
             "the certificate has no names: no batch is accepted unless server.names is set",
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

void Service::Expire() {
  const auto start = SteadyClock::now();
  NoteDeletion(DeleteOld(*store_, SystemClock(), config_.retention_weeks), start);
}

Result<store::ExpiryEffect> Service::ExpireBefore(std::uint32_t week, bool yes) {
  const auto start = SteadyClock::now();
  auto effect = DeleteBefore(*store_, SystemClock(), config_.retention_weeks, week, yes);
  if (yes && effect) NoteDeletion(store::ExpiryReport(*effect), start);
  return effect;
}

void Service::NoteDeletion(const Result<store::ExpiryReport>& report,
                           SteadyClock::time_point start) {
  const MutexLock lock(retention_mutex_);
  NoteTaskRun(report ? TaskOutcome::kDone : TaskOutcome::kFailed, start, SystemClock(),
              retention_state_);
  if (!report) {
    LogEvent(LogLevel::kError, "retention failed", {{"error", report.error().message}});
  } else {
    LogEvent(LogLevel::kInfo, "deleted expired data",
             {{"first_week", store_->first_week()},
              {"rows", report->rows},
              {"ledger_entries", report->ledger_entries},
              {"held_batches", report->held_batches},
              {"kept_batches", report->kept_batches}});
  }
}

std::optional<std::uint64_t> Service::FreeBytes() const {
  return serve::FreeBytes(config_.store.data_dir);
}

bool Service::IsDiskFull() const {
  const std::optional<std::uint64_t> free_bytes = FreeBytes();
  const bool is_full = free_bytes && *free_bytes < config_.min_free_bytes;
  if (was_full_.exchange(is_full) == is_full) return is_full;
  if (is_full) {
    LogEvent(LogLevel::kWarning, "the data disk is full: no batch is accepted",
             {{"free_mib", *free_bytes / kMiB}, {"min_free_mib", config_.min_free_bytes / kMiB}});
  } else {
    LogEvent(LogLevel::kInfo, "the data disk has space again: batches are accepted");
  }
  return is_full;
}

std::string Service::WhyNotReady() const {
  const Phase phase = phase_;
  if (phase == Phase::kStarting) return "starting";
  if (phase == Phase::kDraining) return "draining";
  if (!store_->healthy()) return "the store has failed";
  if (IsDiskFull()) {
    return fmt::format("less than {} MiB are free on the data disk", config_.min_free_bytes / kMiB);
  }
  if (std::string why = ingest_->WhyNothingIsAccepted(); !why.empty()) return why;
  if (std::string why = WhyCertificateIsBad(); !why.empty()) return why;
  if (store_->Gauges().IsHeldRoomShort()) return kHeldRoomIsShort;
  const MutexLock lock(files_mutex_);
  if (!damaged_files_.empty()) return "a file is damaged: " + damaged_files_.front();
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
  state.batch_stages = &batch_stages_;
  state.server = server_->counters();
  if (const auto validity = server_->certificate_validity()) {
    state.certificate_expiry = validity->end;
  }
  state.offline_keys = publish::OfflineKeyFiles(config_.store.data_dir / "keys").size();
  state.store = store_->Gauges();
  state.stored_bytes = store_->StoredBytes();
  state.publication = publication_->state();
  if (retention_task_) {
    const MutexLock lock(retention_mutex_);
    state.retention = retention_state_;
  }
  if (scrub_) state.scrub = scrub_->state();
  {
    const MutexLock lock(files_mutex_);
    state.damaged_files = damaged_files_.size();
  }
  return admin::RenderMetrics(state);
}

bool Service::Stop() {
  const bool started = phase_ != Phase::kStarting;
  // Before `phase_` implies that all parts exist.
  if (!started && admin_server_) admin_server_->Stop(std::chrono::seconds(0));
  phase_ = Phase::kDraining;
  if (server_) server_->Stop(kDrainTime);
  if (is_open_) serve::RemoveAddressFile(config_.address_file);
  if (workers_) workers_->Stop();
  const auto deadline = SteadyClock::now() + kBackgroundTime;
  const auto left = [deadline] {
    return std::max(
        std::chrono::milliseconds(0),
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - SteadyClock::now()));
  };
  bool idle = true;
  if (publication_task_) idle = publication_task_->Stop(left()) && idle;
  if (files_task_) idle = files_task_->Stop(left()) && idle;
  if (retention_task_) idle = retention_task_->Stop(left()) && idle;
  if (scrub_task_) idle = scrub_task_->Stop(left()) && idle;
  if (admin_) idle = admin_->Stop(left()) && idle;
  if (ingest_)
    LogEvent(LogLevel::kInfo, "stopped; totals since the start: " + ingest_->counters().Summary());
  if (!idle) {
    LogEvent(LogLevel::kWarning, "ending without waiting any longer for background work");
    return false;
  }
  if (started && store_->healthy()) {
    if (Status status = store_->Checkpoint(); !status) {
      LogEvent(LogLevel::kError, "last checkpoint failed", {{"error", status.error().message}});
    }
  }
  if (admin_server_) admin_server_->Stop(kAdminDrainTime);
  if (is_open_ && config_.admin) serve::RemoveAddressFile(config_.admin->address_file);
  return true;
}

}  // namespace fieldcost::aggregator
