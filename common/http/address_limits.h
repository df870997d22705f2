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

// Whom the limits take for one client: an IPv4 address (also when it comes as ::ffff:a.b.c.d), or
// the /64 network of an IPv6 address, all of which one host can have.
struct ClientNetwork {
  bool v6 = false;
  std::uint64_t bits = 0;  // the address, or its upper half
  auto operator<=>(const ClientNetwork&) const = default;
};

ClientNetwork NetworkOf(const sockaddr_storage& peer);
// Reads a textual address, as Request::peer_address has it; nullopt if it is none.
std::optional<ClientNetwork> NetworkOf(std::string_view address);

struct AddressLimitOptions {
  std::size_t max_connections = 0;      // open at a time; 0 = no limit
  double requests_per_second = 0;       // 0 = no limit
  std::size_t request_burst = 0;        // 0 = as many as a second gives, at least one
  std::size_t max_remembered = 16'384;  // addresses without a connection
};

// How much of the server one client address may take. A pure function of what it was told and when;
// not thread-safe.
//
// Requests are paid from a token bucket. A connection pays for its first request when it opens: so
// nobody gets more TLS handshakes than requests. Above a limit an address gets a few polite
// refusals (each costs a handshake; kPoliteRefusals, then one per kPoliteRefusalInterval), after
// which its connections are to be closed without a word.
//
// Memory: an address is known while it has a connection, and afterwards until its buckets are full
// again. Of the latter there are at most `max_remembered`; the one that has been without a
// connection for the longest time is forgotten (and so forgiven) first.
class AddressLimits {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  static constexpr double kPoliteRefusals = 4;
  static constexpr std::chrono::seconds kPoliteRefusalInterval{10};
  static constexpr std::chrono::seconds kMaxRetryAfter{3600};

  explicit AddressLimits(AddressLimitOptions options);

  // Nothing is limited: no need to ask.
  bool off() const { return options_.max_connections == 0 && options_.requests_per_second <= 0; }

  struct Decision {
    enum class Kind { kServe, kRefuse, kDrop };
    Kind kind = Kind::kServe;
    std::chrono::seconds retry_after{0};  // with kRefuse
  };
  // Decides on a new connection. After kServe, Disconnect() must follow when it ends.
  Decision Connect(const ClientNetwork& from, TimePoint now);
  void Disconnect(const ClientNetwork& from, TimePoint now);

  // Whether a connection that is turned away for another reason gets a polite refusal: paid from
  // the same bucket as those of Connect().
  bool TakeRefusal(const ClientNetwork& from, TimePoint now);

  // Counts a request on an open connection, other than its first. If it is one too many: when to
  // come again.
  std::optional<std::chrono::seconds> Request(const ClientNetwork& from, TimePoint now);

  // Addresses known.
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
  std::map<ClientNetwork, Entry> entries_;  // ordered: no keys that collide
  std::list<ClientNetwork> idle_;           // without a connection, the longest first
};

}  // namespace fieldcost::http
