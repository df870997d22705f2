#include "common/http/connections.h"

#include <exception>

#include "common/base/log.h"
#include "common/http/session.h"
#include "common/http/tls.h"

namespace fieldcost::http {
namespace {

namespace asio = boost::asio;
namespace ssl = boost::asio::ssl;
using asio::ip::tcp;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::size_t kMaxRefusing = 64;  // connections turned away that still get an answer

// What a new connection is told instead of being served; an empty Session::TurnedAway: it is
// served. Nothing: it is to be closed. REQUIRES: the lock.
std::optional<Session::TurnedAway> Admit(Connections::Core& core, const ClientNetwork& from) {
  using Kind = AddressLimits::Decision::Kind;
  const bool room_to_refuse = core.sessions.size() - core.serving < kMaxRefusing;
  if (core.serving >= core.options.max_connections) {
    ++core.counters.over_capacity;
    if (!room_to_refuse) return std::nullopt;
    return TryLater(503, kBusyRetry, "too many connections");
  }
  const AddressLimits::Decision decision = core.addresses.Connect(from, steady_clock::now());
  if (decision.kind == Kind::kServe) return Session::TurnedAway();
  ++core.counters.over_address_limit;
  if (decision.kind == Kind::kDrop || !room_to_refuse) return std::nullopt;
  return TryLater(429, decision.retry_after, "too many connections from this address");
}

}  // namespace

Connections::Connections(ServerOptions options, Handler handler)
    : core_(std::make_shared<Core>(std::move(options), std::move(handler))) {}

Connections::~Connections() = default;

Status Connections::LoadCertificate() {
  auto tls = std::make_shared<ssl::context>(ssl::context::tls_server);
  if (core_->with_tls()) {
    FIELDCOST_TRY(ConfigureTlsServer(tls->native_handle(), core_->options.certificate_file,
                                     core_->options.private_key_file));
  }
  const std::lock_guard lock(core_->mutex);
  core_->tls = std::move(tls);
  return {};
}

std::optional<std::chrono::sys_seconds> Connections::CertificateExpiry() const {
  const std::lock_guard lock(core_->mutex);
  return http::CertificateExpiry(core_->tls->native_handle());
}

ServerCounters Connections::counters() const {
  const DoorCounters& counted = core_->counters;
  ServerCounters counters{.connections = counted.connections,
                          .requests = counted.requests,
                          .handshake_failures = counted.handshake_failures,
                          .refused_heads = counted.refused_heads,
                          .deadlines = counted.deadlines,
                          .over_capacity = counted.over_capacity,
                          .over_address_limit = counted.over_address_limit};
  const std::lock_guard lock(core_->mutex);
  counters.open_connections = core_->sessions.size();
  return counters;
}

asio::io_context& Connections::io() { return core_->io; }

void Connections::Serve(UniqueFd accepted, const sockaddr_storage& peer) {
  tcp::socket socket(asio::make_strand(core_->io));
  boost::system::error_code error;
  // The protocol is only looked at to open a socket, not for one that is open.
  socket.assign(tcp::v4(), accepted.get(), error);
  if (error) return;
  accepted.Release();
  ++core_->counters.connections;
  const ClientNetwork from = NetworkOf(peer);
  std::shared_ptr<Session> session;
  {
    const std::lock_guard lock(core_->mutex);
    std::optional<Session::TurnedAway> turned_away = Admit(*core_, from);
    if (!turned_away) return;
    session = std::make_shared<Session>(*core_, std::move(socket), *core_->tls, from,
                                        *std::move(turned_away));
    core_->sessions.emplace(session.get(), session);
    if (session->served()) ++core_->serving;
  }
  asio::co_spawn(session->executor(), session->Run(core_),
                 [session, core = core_.get()](std::exception_ptr failure) {
                   try {
                     if (failure) std::rethrow_exception(failure);
                   } catch (const std::exception& thrown) {
                     LogError("http server: connection: {}", thrown.what());
                   }
                   session->Close();
                   const std::lock_guard lock(core->mutex);
                   core->sessions.erase(session.get());
                   if (session->served()) {
                     --core->serving;
                     core->addresses.Disconnect(session->from(), steady_clock::now());
                   }
                   core->ended.notify_all();
                 });
}

void Connections::CloseWhenDone() {
  const std::lock_guard lock(core_->mutex);
  for (const auto& [raw, session] : core_->sessions) session->Stop(false);
}

void Connections::Stop(milliseconds grace) {
  Core& core = *core_;
  CloseWhenDone();
  std::unique_lock lock(core.mutex);
  if (core.ended.wait_for(lock, grace, [&] { return core.sessions.empty(); })) return;
  for (const auto& [raw, session] : core.sessions) session->Stop(true);
  core.ended.wait(lock, [&] { return core.sessions.empty(); });
}

}  // namespace fieldcost::http
