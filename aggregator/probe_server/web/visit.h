#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "aggregator/probe_server/accounts/devices.h"
#include "aggregator/probe_server/accounts/sessions.h"
#include "aggregator/probe_server/data/accept.h"
#include "aggregator/probe_server/data/audit.h"
#include "aggregator/probe_server/data/database_writer.h"
#include "aggregator/probe_server/data/marks.h"
#include "aggregator/probe_server/data/readers.h"
#include "aggregator/probe_server/web/forwarded.h"
#include "common/base/clock.h"
#include "common/http/http_message.h"
#include "common/http/request_target.h"

namespace fieldcost::probe_server {

struct Frame;

// Counters since the start.
struct SiteCounters {
  std::atomic<std::uint64_t> batches{0};     // accepted, without duplicates
  std::atomic<std::uint64_t> points{0};      // in them
  std::atomic<std::uint64_t> duplicates{0};  // sent again
  std::atomic<std::uint64_t> refused_batches{0};
  std::atomic<std::uint64_t> logins{0};
  std::atomic<std::uint64_t> failed_logins{0};  // including those refused by a waiting time
  std::atomic<std::uint64_t> forged_forms{0};   // not sent by our own pages
  std::atomic<std::uint64_t> overloads{0};      // 503
};

// The site's dependencies. REQUIRES: all of them outlive the site.
struct SiteParts {
  Writer& writer;
  Readers& readers;
  const Clock& clock;
  Quota quota;
  std::function<bool()> is_disk_full;
  SiteCounters& counters;
  std::vector<AddressRange> trusted_proxies = {};
  // This server's names, accepted in `Host` in addition to IP addresses and localhost.
  std::function<std::vector<std::string>()> hosts;
};

// The authenticated originator of a request.
struct Viewer {
  UserId user;
  std::string name;                // of a session's user
  std::string session;             // its id; empty for a device
  std::optional<DeviceId> device;  // the device with the token

  Actor actor() const { return {.user = user, .is_device = device.has_value()}; }
};

// A request while one thread handles it.
struct Visit {
  const SiteParts& site;
  const http::Request& untrusted_request;
  http::Target target;
  http::Parameters form;  // of a page's POST
  Data& data;             // for reading
  std::optional<Viewer> viewer;

  Frame PageFrame(std::string title) const;
  // The viewer's name: of a session's user, or of a device's.
  Result<std::string> ViewerName() const;
  // Makes an audit entry for this request and writes it to the program's log at once.
  AuditEntry Audited(std::string what, std::string account, std::string object = "") const;
  // A part of the path; "" beyond its end.
  std::string_view Part(std::size_t i) const {
    return i < target.path.size() ? std::string_view(target.path[i]) : std::string_view();
  }
};

using VisitHandler = Result<http::Response> (*)(Visit& visit);

}  // namespace fieldcost::probe_server
