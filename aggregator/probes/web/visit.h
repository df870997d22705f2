#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "aggregator/probes/accounts/devices.h"
#include "aggregator/probes/accounts/sessions.h"
#include "aggregator/probes/data/accept.h"
#include "aggregator/probes/data/audit.h"
#include "aggregator/probes/data/marks.h"
#include "aggregator/probes/data/readers.h"
#include "aggregator/probes/data/writer.h"
#include "aggregator/probes/web/forwarded.h"
#include "aggregator/probes/web/parameters.h"
#include "common/base/clock.h"
#include "common/http/message.h"

namespace fieldcost::probe_server {

struct Frame;

// What happened since the start.
struct SiteCounters {
  std::atomic<std::uint64_t> batches{0};     // taken, each once
  std::atomic<std::uint64_t> points{0};      // in them
  std::atomic<std::uint64_t> duplicates{0};  // sent again
  std::atomic<std::uint64_t> refused_batches{0};
  std::atomic<std::uint64_t> logins{0};
  std::atomic<std::uint64_t> failed_logins{0};  // those that had to wait included
  std::atomic<std::uint64_t> forged_forms{0};   // that no page of ours had sent
  std::atomic<std::uint64_t> overloads{0};      // 503
};

// What the site works with. REQUIRES: all of it outlives the site.
struct SiteParts {
  Writer& writer;
  Readers& readers;
  const Clock& clock;
  Quota quota;
  std::function<bool()> is_disk_full;
  SiteCounters& counters;
  std::vector<AddressRange> trusted_proxies = {};
  // The names in `Host` that are this server's, beside addresses and localhost.
  std::function<std::vector<std::string>()> hosts;
};

// Who asks.
struct Viewer {
  UserId user;
  std::string name;                // of a session's user
  std::string session;             // its id; empty: it is a device
  std::optional<DeviceId> device;  // whose token it was

  Actor actor() const { return {.user = user, .is_device = device.has_value()}; }
};

// A request while it is answered, by one thread.
struct Visit {
  const SiteParts& site;
  const http::Request& untrusted_request;
  Target target;
  Parameters form;  // of a POST of a page
  Data& data;       // to look into
  std::optional<Viewer> viewer;

  Frame PageFrame(std::string title) const;
  // The viewer's name: of a session's user, or of a device's.
  Result<std::string> ViewerName() const;
  // An entry of the audit log about this request; the log of the program has it at once.
  AuditEntry Audited(std::string what, std::string account, std::string object = "") const;
  // A part of the address; "" beyond its end.
  std::string_view Part(std::size_t i) const {
    return i < target.path.size() ? std::string_view(target.path[i]) : std::string_view();
  }
};

using VisitHandler = Result<http::Response> (*)(Visit& visit);

}  // namespace fieldcost::probe_server
