#pragma once

#include <sys/socket.h>

#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <string_view>

namespace fieldcost::http {

// One client, for the limits: an IPv4 address (also as ::ffff:a.b.c.d), or the /64 network
// of an IPv6 address, since one host can have all addresses of a /64.
struct ClientNetwork {
  bool v6 = false;
  std::uint64_t bits = 0;  // the address, or its upper half
  auto operator<=>(const ClientNetwork&) const = default;
};

ClientNetwork NetworkOf(const sockaddr_storage& peer);
// Parses a textual address in the form of Request::peer_address; nullopt if invalid.
std::optional<ClientNetwork> NetworkOf(std::string_view address);

struct AddressLimitOptions {
  std::size_t max_connections = 0;      // open at a time; 0 = no limit
  double requests_per_second = 0;       // 0 = no limit
  std::size_t request_burst = 0;        // 0 = requests_per_second, at least one
  std::size_t max_remembered = 16'384;  // addresses without a connection
};

// Limits how much of the server one client address may use. A pure function of its calls and their
// times; not thread-safe.
//
// Requests are paid from a token bucket. A connection pays for its first request when it opens, so
// no client gets more TLS handshakes than requests. Above a limit, an address gets a few polite
// refusals (each costs a handshake; kPoliteRefusals, then one per kPoliteRefusalInterval); then its
// connections must be closed without a response.
//
// Memory: an address is remembered while it has a connection, and afterwards until its buckets are
// full again. At most `max_remembered` addresses without a connection are remembered; the one
// without a connection for the longest time is forgotten (and so forgiven) first.
class AddressLimits {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  static constexpr double kPoliteRefusals = 4;
  static constexpr std::chrono::seconds kPoliteRefusalInterval{10};
  static constexpr std::chrono::seconds kMaxRetryAfter{3600};

  explicit AddressLimits(AddressLimitOptions options);

  // True if nothing is limited, so that no other call is needed.
  bool off() const { return options_.max_connections == 0 && options_.requests_per_second <= 0; }

  struct Decision {
    enum class Kind { kServe, kRefuse, kDrop };
    Kind kind = Kind::kServe;
    std::chrono::seconds retry_after{0};  // with kRefuse
  };
  // Decides on a new connection. After kServe, Disconnect() must follow when it ends.
  Decision Connect(const ClientNetwork& from, TimePoint now);
  void Disconnect(const ClientNetwork& from, TimePoint now);

  // Returns whether a connection that is refused for another reason gets a polite refusal, which is
  // taken from the same bucket as Connect()'s.
  bool TakeRefusal(const ClientNetwork& from, TimePoint now);

  // Counts a request on an open connection, other than its first. If it exceeds the limit, returns
  // when to retry.
  std::optional<std::chrono::seconds> Request(const ClientNetwork& from, TimePoint now);

  // The number of addresses remembered.
  std::size_t size() const { return entries_.size(); }

 private:
  struct Bucket {
    double tokens;
    TimePoint filled;
    void Fill(TimePoint now, double per_second, double capacity);
  };
  struct Entry {
    std::size_t connections = 0;
    Bucket requests;
    Bucket refusals;
    std::list<ClientNetwork>::iterator idle;  // valid if connections == 0
  };

  Entry& Find(const ClientNetwork& from, TimePoint now);
  bool TakeRequest(Entry& entry);
  static bool TakeRefusal(Entry& entry);
  std::chrono::seconds UntilNextRequest(const Entry& entry) const;
  bool IsFull(Entry& entry, TimePoint now) const;
  void ForgetIdle(TimePoint now);

  const AddressLimitOptions options_;
  const double burst_;
  std::map<ClientNetwork, Entry> entries_;  // ordered, not hashed: keys cannot be made to collide
  std::list<ClientNetwork> idle_;           // without a connection, the longest idle first
};

}  // namespace fieldcost::http
