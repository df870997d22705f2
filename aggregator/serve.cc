#include "aggregator/serve.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "aggregator/ingest/ingest.h"
#include "aggregator/ingest/worker_pool.h"
#include "aggregator/publish/file_server.h"
#include "common/base/file.h"
#include "common/base/log.h"
#include "common/wire/limits.h"

namespace fieldcost::aggregator {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::chrono::seconds kDrainTime{20};
constexpr std::chrono::seconds kHealthCheckInterval{1};

sigset_t ServedSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int number : {SIGTERM, SIGINT, SIGUSR1, SIGHUP}) sigaddset(&signals, number);
  return signals;
}

// The next signal, or 0 after `limit`.
int WaitForSignal(std::chrono::seconds limit) {
  const sigset_t signals = ServedSignals();
  const timespec time{.tv_sec = limit.count(), .tv_nsec = 0};
  const int number = ::sigtimedwait(&signals, nullptr, &time);
  return number < 0 ? 0 : number;
}

// A secret that belongs to the store: with another one the server does not start.
template <typename Holder>
Result<Holder> OpenSecret(const Config& config, store::Store& store, const char* name) {
  FIELDCOST_TRY(MakeDirectories(config.store.data_dir / "keys", 0700));
  FIELDCOST_ASSIGN(Holder holder, Holder::LoadOrCreate(config.store.data_dir / "keys" / name));
  FIELDCOST_TRY(store.Bind(name, holder.Fingerprint()));
  return holder;
}

// The parts of a running service, in the order in which they start.
class Service {
 public:
  explicit Service(const Config& config) : config_(config) {}
  ~Service() { Stop(); }
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  Status Start();
  Status Run();
  void Stop();

 private:
  void Route(http::Request request, http::Respond respond);
  void Publish();

  const Config& config_;
  std::unique_ptr<store::Store> store_;
  std::optional<publish::Publisher> publisher_;
  std::optional<publish::FileServer> files_;
  std::optional<ingest::Ingest> ingest_;
  std::optional<ingest::WorkerPool> workers_;
  std::unique_ptr<http::Server> server_;
  std::atomic<bool> draining_{false};
  SteadyClock::time_point next_publication_{};
};

Status Service::Start() {
  FIELDCOST_ASSIGN(store_, store::Store::Open(config_.store));
  FIELDCOST_ASSIGN(auto pseudonyms,
                   OpenSecret<ingest::Pseudonyms>(config_, *store_, ingest::kPseudonymSecret));
  FIELDCOST_ASSIGN(auto receipts,
                   OpenSecret<ingest::Receipts>(config_, *store_, ingest::kReceiptSecret));
  FIELDCOST_ASSIGN(auto admission,
                   ingest::Admission::Load(config_.enrolment_mode, config_.token_files, *store_));
  FIELDCOST_ASSIGN(auto publisher, publish::Publisher::Open(config_.publish, SystemClock()));
  publisher_.emplace(std::move(publisher));
  files_.emplace(publisher_->directory(), publisher_->root().version);
  ingest_.emplace(*store_, SystemClock(), std::move(pseudonyms), std::move(receipts),
                  std::move(admission));
  workers_.emplace(config_.ingest_threads, config_.ingest_queue);
  http::ServerOptions options = config_.server;
  options.max_body_bytes = wire::kMaxBatchBodyBytes;
  FIELDCOST_ASSIGN(server_, http::Server::Start(std::move(options), [this](http::Request request,
                                                                           http::Respond respond) {
                     Route(std::move(request), std::move(respond));
                   }));
  const bool v6 = config_.server.address.find(':') != std::string::npos;
  const std::string& address = config_.server.address;
  const std::string url =
      fmt::format("https://{}:{}", v6 ? '[' + address + ']' : address, server_->port());
  if (store_->sequence() != 0) Publish();
  next_publication_ = SteadyClock::now() + config_.publish_interval;
  if (!config_.address_file.empty()) {
    FIELDCOST_TRY(WriteFileAtomically(config_.address_file, url + "\n", 0644));
  }
  LogInfo("listening on {}", url);
  return {};
}

void Service::Route(http::Request request, http::Respond respond) {
  if (ingest::Ingest::IsTarget(request.target)) {
    // Both are shared with the task only if the pool takes it.
    auto task = std::make_shared<std::pair<http::Request, http::Respond>>(std::move(request),
                                                                          std::move(respond));
    if (!workers_->TryRun([this, task] { task->second(ingest_->Handle(task->first)); })) {
      task->second(ingest_->Overloaded());
    }
    return;
  }
  const bool ready_asked = request.target == "/readyz";
  if (ready_asked || request.target == "/livez") {
    const bool good = !ready_asked || (store_->healthy() && !draining_);
    respond({.status = good ? 200 : 503,
             .headers = {{"Content-Type", "text/plain"}, {"Cache-Control", "no-store"}},
             .body = good ? "ok\n" : "not ready\n"});
    return;
  }
  respond(files_->Handle(request));
}

void Service::Publish() {
  auto report = publisher_->Publish(*store_);
  next_publication_ = SteadyClock::now() + config_.publish_interval;
  if (!report) {
    LogError("publication failed, the last one stays in force: {}", report.error().message);
    return;
  }
  LogInfo("published snapshot version={} rows={} withheld={} fragments={}", report->version,
          report->rows, report->withheld, report->fragments);
}

Status Service::Run() {
  for (;;) {
    const int number = WaitForSignal(kHealthCheckInterval);
    if (!store_->healthy()) {
      return Fail(ErrorCode::kIo, "the store in {} has failed; nothing more is accepted",
                  config_.store.data_dir.string());
    }
    if (number == SIGTERM || number == SIGINT) return {};
    const bool due = config_.publish_interval.count() != 0 &&
                     SteadyClock::now() >= next_publication_ && store_->sequence() != 0;
    if (number == SIGUSR1 || due) Publish();
  }
}

void Service::Stop() {
  draining_ = true;
  if (server_) {
    server_->Stop(kDrainTime);
    if (!config_.address_file.empty()) ::unlink(config_.address_file.c_str());
  }
  if (workers_) workers_->Stop();
  server_.reset();
  if (ingest_) LogInfo("{}", ingest_->counters().Summary());
  ingest_.reset();
  if (store_ && store_->healthy()) {
    if (Status status = store_->Checkpoint(); !status) {
      LogError("last checkpoint failed: {}", status.error().message);
    }
  }
  store_.reset();
}

}  // namespace

Status Serve(const Config& config) {
  const sigset_t signals = ServedSignals();
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
  Service service(config);
  FIELDCOST_TRY(service.Start());
  return service.Run();
}

}  // namespace fieldcost::aggregator
