#include "common/http/connections.h"

#include <utility>

#include "common/base/check.h"
#include "common/http/connections_core.h"
#include "common/http/http_session.h"

namespace fieldcost::http {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::size_t kMaxRefusing = 64;  // connections turned away that still get a response

// Takes away a session's place.
void TakePlace(Connections::Core& core, Connections::Core::Entry& entry)
    FIELDCOST_REQUIRES(core.mutex) {
  if (!entry.has_place) return;
  entry.has_place = false;
  if (entry.silent) core.silent.erase(*entry.silent);
  entry.silent.reset();
  --core.serving;
  core.addresses.Disconnect(entry.from, steady_clock::now());
}

// The response to a new connection that is turned away; an empty TurnedAway if it is to be served,
// nullopt if it is to be closed.
std::optional<TurnedAway> Admit(Connections::Core& core, const ClientNetwork& from)
    FIELDCOST_REQUIRES(core.mutex) {
  using Kind = AddressLimits::Decision::Kind;
  // Evicted sessions count until they have ended.
  const bool room_to_refuse = core.sessions.size() - core.serving < kMaxRefusing;
  const bool full = core.serving >= core.options.max_connections;
  if (full && (core.silent.empty() || !room_to_refuse)) {
    ++core.counters.over_capacity;
    if (!room_to_refuse || !core.addresses.TakeRefusal(from, steady_clock::now())) {
      return std::nullopt;
    }
    return TryLater(503, kBusyRetry, "too many connections");
  }
  const AddressLimits::Decision decision = core.addresses.Connect(from, steady_clock::now());
  if (decision.kind == Kind::kServe) {
    if (full) {
      Connections::Core::Entry& oldest = core.sessions.at(core.silent.front());
      TakePlace(core, oldest);
      oldest.session->Stop(true);
      ++core.counters.evicted;
    }
    return TurnedAway();
  }
  ++core.counters.over_address_limit;
  if (decision.kind == Kind::kDrop || !room_to_refuse) return std::nullopt;
  return TryLater(429, decision.retry_after, "too many connections from this address");
}

}  // namespace

Connections::Connections(ServerOptions options, Handler handler)
    : core_(std::make_shared<Core>(std::move(options), std::move(handler))) {}

Connections::~Connections() = default;

Status Connections::LoadCertificate() {
  FIELDCOST_ASSIGN(TlsSettings tls, LoadTls(core_->options));
  const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  const MutexLock lock(core_->mutex);
  if (core_->tls.validity) {
    FIELDCOST_TRY(CheckReplacement(*core_->tls.validity, *tls.validity, now,
                                   core_->options.certificate_file));
  }
  core_->tls = std::move(tls);
  return {};
}

std::optional<CertificateValidity> Connections::Validity() const {
  const MutexLock lock(core_->mutex);
  FIELDCOST_CHECK(core_->tls.context != nullptr);
  return core_->tls.validity;
}

ServerCounters Connections::counters() const {
  const DoorCounters& counted = core_->counters;
  ServerCounters counters{.connections = counted.connections,
                          .requests = counted.requests,
                          .handshake_failures = counted.handshake_failures,
                          .refused_heads = counted.refused_heads,
                          .deadlines = counted.deadlines,
                          .over_capacity = counted.over_capacity,
                          .over_address_limit = counted.over_address_limit,
                          .evicted = counted.evicted};
  const MutexLock lock(core_->mutex);
  counters.open_connections = core_->sessions.size();
  return counters;
}

boost::asio::io_context& Connections::io() { return *core_->io; }

void Connections::Serve(UniqueFd accepted, const sockaddr_storage& peer) {
  Core& core = *core_;
  ++core.counters.connections;
  const ClientNetwork from = NetworkOf(peer);
  std::shared_ptr<Session> session;
  {
    const MutexLock lock(core.mutex);
    std::optional<TurnedAway> turned_away = Admit(core, from);
    if (!turned_away) return;
    const bool served = !*turned_away;
    FIELDCOST_CHECK(core.tls.context != nullptr);
    session =
        Session::Make(core, *core.tls.context, std::move(accepted), from, *std::move(turned_away));
    if (session == nullptr) {
      if (served) core.addresses.Disconnect(from, steady_clock::now());
      return;
    }
    Core::Entry entry{.session = session, .from = from, .has_place = served, .silent = {}};
    if (served) {
      ++core.serving;
      entry.silent = core.silent.insert(core.silent.end(), session.get());
    }
    core.sessions.emplace(session.get(), std::move(entry));
  }
  session->Start(core_, [&core, raw = session.get()] {
    const MutexLock lock(core.mutex);
    const auto place = core.sessions.find(raw);
    TakePlace(core, place->second);
    core.sessions.erase(place);
    core.ended.NotifyAll();
  });
}

void Connections::CloseWhenDone() {
  const MutexLock lock(core_->mutex);
  for (const auto& [raw, entry] : core_->sessions) entry.session->Stop(false);
}

void Connections::Stop(milliseconds grace) {
  Core& core = *core_;
  CloseWhenDone();
  const MutexLock lock(core.mutex);
  const auto all_ended = [&core]() FIELDCOST_REQUIRES(core.mutex) { return core.sessions.empty(); };
  if (core.ended.WaitFor(core.mutex, grace, all_ended)) return;
  for (const auto& [raw, entry] : core.sessions) entry.session->Stop(true);
  core.ended.Wait(core.mutex, all_ended);
}

}  // namespace fieldcost::http
