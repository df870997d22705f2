// Text that a browser sends to the probe server, as arbitrary bytes: URL, cookies and form, one per
// line. Anything that is not text is refused, accepted text survives being written and read again,
// and no redirect leads to another server.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "aggregator/probe_server/pages/links.h"
#include "aggregator/probe_server/web/filter.h"
#include "aggregator/probe_server/web/forwarded.h"
#include "aggregator/probe_server/web/guard.h"
#include "common/base/check.h"
#include "common/base/clean_text.h"
#include "common/http/request_target.h"

namespace fieldcost::probe_server {
namespace {

constexpr const char* kNames[] = {"label", "user", "build", "tag", "from", "to", "cursor", "id"};

std::string_view TakeLine(std::string_view& bytes) {
  const std::string_view line = bytes.substr(0, bytes.find('\n'));
  bytes.remove_prefix(std::min(bytes.size(), line.size() + 1));
  return line;
}

void CheckValue(std::string_view value) {
  FIELDCOST_CHECK(IsText(value, value.size()));
  const auto again = http::Parameters::Parse("a=" + EncodeLinkPart(value));
  FIELDCOST_CHECK(again.has_value() && again->Find("a") == value);
}

void CheckParameters(const http::Parameters& parameters) {
  for (const char* name : kNames) {
    for (const std::string_view value : parameters.All(name)) CheckValue(value);
  }
  const std::string_view cursor = parameters.Find("cursor");
  if (const auto parsed = ParseCursor(cursor)) {
    const auto again = ParseCursor(CursorText(*parsed));
    FIELDCOST_CHECK(again.has_value() && again->begin_ns == parsed->begin_ns &&
                    again->row == parsed->row);
  }
  if (const auto day = ParseDay("from", parameters.Find("from"))) {
    FIELDCOST_CHECK(*day % 86'400'000'000'000 == 0);
  }
  if (const auto ids = ParseIds(parameters.All("id"), 12)) {
    FIELDCOST_CHECK(!ids->empty() && ids->size() <= 12);
    for (const probe::EventKey& key : *ids) {
      FIELDCOST_CHECK(probe::EventKey::Parse(key.Text()) == key);
    }
  }
}

// A plain path has a single spelling.
void CheckPlainPath(std::string_view untrusted_target) {
  const auto path = http::PlainPath::Parse(untrusted_target);
  if (!path) return;
  std::string spelling;
  for (const std::string_view part : path->parts()) spelling.append("/").append(part);
  FIELDCOST_CHECK(spelling == untrusted_target);
}

void CheckTarget(std::string_view untrusted_target) {
  CheckPlainPath(untrusted_target);
  const auto target = http::ParseTarget(untrusted_target);
  if (IsOwnAddress(untrusted_target)) {
    FIELDCOST_CHECK(target.has_value() && untrusted_target.front() == '/');
    FIELDCOST_CHECK(untrusted_target.size() < 2 ||
                    (untrusted_target[1] != '/' && untrusted_target[1] != '\\'));
  }
  if (!target) return;
  for (const std::string& part : target->path) CheckValue(part);
  CheckParameters(target->query);
}

// For all input from a proxy, the result is an address, and for an untrusted peer its own address.
void CheckForwarded(const std::string& untrusted_value) {
  fieldcost::http::Request request{.headers = {{"Forwarded", untrusted_value}},
                                   .peer_address = "127.0.0.1"};
  const std::vector<AddressRange> trusted = {*ParseAddressRange("127.0.0.0/8")};
  FIELDCOST_CHECK(http::ParseIpAddress(ClientAddress(request, trusted)).has_value());
  request.peer_address = "192.0.2.1";
  FIELDCOST_CHECK(ClientAddress(request, trusted) == "192.0.2.1");
}

}  // namespace
}  // namespace fieldcost::probe_server

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fieldcost::probe_server;  // NOLINT(google-build-using-namespace)
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  CheckTarget(TakeLine(bytes));
  const std::string cookies(TakeLine(bytes));
  const fieldcost::http::Request request{
      .headers = {{"Cookie", cookies}, {"Authorization", cookies}, {"Origin", cookies}}};
  if (const auto session = SessionOf(request)) {
    FIELDCOST_CHECK(cookies.find(*session) != std::string::npos);
  }
  (void)TokenOf(request);
  CheckForwarded(cookies);
  FIELDCOST_CHECK(!IsOfOurPages(request) || !cookies.empty());
  if (const auto form = fieldcost::http::Parameters::Parse(bytes)) CheckParameters(*form);
  return 0;
}
