#include "common/http/address_limits.h"

#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <iterator>

#include "common/http/ip_address.h"

namespace fieldcost::http {
namespace {

using std::chrono::seconds;

constexpr seconds kRetryConnection{5};  // it is unknown when the other connections end

constexpr double kRefusalsPerSecond =
    1.0 / static_cast<double>(AddressLimits::kPoliteRefusalInterval.count());

// ::ffff:0:0/96, the prefix under which an IPv6 socket sees IPv4 clients.
constexpr std::array<std::uint8_t, 12> kMappedV4 = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

ClientNetwork NetworkAround(const IpAddress& address) {
  const auto bits = [&](std::size_t from, std::size_t to) {
    std::uint64_t value = 0;
    for (std::size_t i = from; i < to; ++i) value = value << 8 | address.bytes[i];
    return value;
  };
  if (!address.is_v6()) return {.v6 = false, .bits = bits(0, 4)};
  if (std::equal(kMappedV4.begin(), kMappedV4.end(), address.bytes.begin())) {
    return {.v6 = false, .bits = bits(kMappedV4.size(), 16)};
  }
  return {.v6 = true, .bits = bits(0, 8)};
}

}  // namespace

ClientNetwork NetworkOf(const sockaddr_storage& peer) {
  IpAddress address;
  if (peer.ss_family == AF_INET) {
    sockaddr_in v4{};
    std::memcpy(&v4, &peer, sizeof v4);
    address.size = sizeof v4.sin_addr;
    std::memcpy(address.bytes.data(), &v4.sin_addr, sizeof v4.sin_addr);
  } else {
    sockaddr_in6 v6{};
    std::memcpy(&v6, &peer, sizeof v6);
    address.size = sizeof v6.sin6_addr;
    std::memcpy(address.bytes.data(), &v6.sin6_addr, sizeof v6.sin6_addr);
  }
  return NetworkAround(address);
}

std::optional<ClientNetwork> NetworkOf(std::string_view address) {
  const auto parsed = ParseIpAddress(address.substr(0, address.find('%')));
  if (!parsed) return std::nullopt;
  return NetworkAround(*parsed);
}

AddressLimits::AddressLimits(AddressLimitOptions options)
    : options_(options),
      burst_(options.request_burst != 0 ? static_cast<double>(options.request_burst)
                                        : std::max(1.0, std::ceil(options.requests_per_second))) {}

void AddressLimits::Bucket::Fill(TimePoint now, double per_second, double capacity) {
  if (now <= filled) return;
  const double passed = std::chrono::duration<double>(now - filled).count();
  tokens = std::min(capacity, tokens + passed * per_second);
  filled = now;
}

// The entry of an address, created if missing, with its buckets refilled. Entries without a
// connection are in `idle_`.
AddressLimits::Entry& AddressLimits::Find(const ClientNetwork& from, TimePoint now) {
  auto found = entries_.find(from);
  if (found == entries_.end()) {
    found = entries_
                .emplace(from, Entry{.requests = {.tokens = burst_, .filled = now},
                                     .refusals = {.tokens = kPoliteRefusals, .filled = now},
                                     .idle = idle_.insert(idle_.end(), from)})
                .first;
  }
  (void)IsFull(found->second, now);
  return found->second;
}

bool AddressLimits::IsFull(Entry& entry, TimePoint now) const {
  entry.requests.Fill(now, options_.requests_per_second, burst_);
  entry.refusals.Fill(now, kRefusalsPerSecond, kPoliteRefusals);
  return entry.requests.tokens >= burst_ && entry.refusals.tokens >= kPoliteRefusals;
}

bool AddressLimits::TakeRequest(Entry& entry) {
  if (options_.requests_per_second <= 0) return true;
  if (entry.requests.tokens < 1) return false;
  entry.requests.tokens -= 1;
  return true;
}

bool AddressLimits::TakeRefusal(Entry& entry) {
  if (entry.refusals.tokens < 1) return false;
  entry.refusals.tokens -= 1;
  return true;
}

bool AddressLimits::TakeRefusal(const ClientNetwork& from, TimePoint now) {
  if (off()) return true;
  const bool taken = TakeRefusal(Find(from, now));
  ForgetIdle(now);
  return taken;
}

seconds AddressLimits::UntilNextRequest(const Entry& entry) const {
  const double wait = std::ceil((1 - entry.requests.tokens) / options_.requests_per_second);
  const auto longest = static_cast<double>(kMaxRetryAfter.count());
  return seconds(static_cast<seconds::rep>(std::clamp(wait, 1.0, longest)));
}

AddressLimits::Decision AddressLimits::Connect(const ClientNetwork& from, TimePoint now) {
  using Kind = Decision::Kind;
  if (off()) return {};
  Entry& entry = Find(from, now);
  const bool crowded =
      options_.max_connections != 0 && entry.connections >= options_.max_connections;
  if (!crowded && TakeRequest(entry)) {
    if (entry.connections++ == 0) idle_.erase(entry.idle);
    ForgetIdle(now);
    return {};
  }
  Decision decision{.kind = Kind::kDrop};
  if (TakeRefusal(entry)) {
    decision = {.kind = Kind::kRefuse,
                .retry_after = crowded ? kRetryConnection : UntilNextRequest(entry)};
  }
  ForgetIdle(now);
  return decision;
}

void AddressLimits::Disconnect(const ClientNetwork& from, TimePoint now) {
  const auto found = entries_.find(from);
  if (found == entries_.end() || found->second.connections == 0) return;
  if (--found->second.connections != 0) return;
  found->second.idle = idle_.insert(idle_.end(), from);
  ForgetIdle(now);
}

std::optional<seconds> AddressLimits::Request(const ClientNetwork& from, TimePoint now) {
  if (options_.requests_per_second <= 0) return std::nullopt;
  Entry& entry = Find(from, now);
  if (TakeRequest(entry)) return std::nullopt;
  return UntilNextRequest(entry);
}

// Forgets addresses without a connection whose buckets are full again, as far as they are at the
// ends of the list, and as many others as exceed the limit.
void AddressLimits::ForgetIdle(TimePoint now) {
  while (!idle_.empty()) {
    const bool first =
        idle_.size() > options_.max_remembered || IsFull(entries_.find(idle_.front())->second, now);
    if (!first && !IsFull(entries_.find(idle_.back())->second, now)) return;
    const auto forgotten = first ? idle_.begin() : std::prev(idle_.end());
    entries_.erase(*forgotten);
    idle_.erase(forgotten);
  }
}

}  // namespace fieldcost::http
