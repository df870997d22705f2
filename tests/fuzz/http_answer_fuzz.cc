// A server's response, and addresses as found in settings and the environment, one per line.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/check.h"
#include "common/http/http_message.h"
#include "common/http/ip_address.h"
#include "common/http/origin.h"
#include "common/http/proxy.h"
#include "tests/fuzz/request_text.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fieldcost::http;
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::string first(fieldcost::fuzz::TakeLine(bytes));
  const std::string second(fieldcost::fuzz::TakeLine(bytes));
  if (const auto wait = ParseRetryAfter(first)) {
    FIELDCOST_CHECK(wait->count() >= 0 && *wait <= std::chrono::hours(24));
  }
  if (const auto range = ParseContentRange(first)) {
    FIELDCOST_CHECK(range->first <= range->last);
    FIELDCOST_CHECK(!range->size || range->last < *range->size);
  }
  for (const int status : {200, 301, 503}) {
    const std::string text = DescribeAnswer(
        {.status = status, .headers = {{"Location", first}}, .body = std::string(bytes)});
    FIELDCOST_CHECK(text.size() < 4096 && text.find_first_of("\n\x1b") == std::string::npos);
  }
  if (const auto origin = ParseOrigin(first, "https", kHttpsPort)) {
    FIELDCOST_CHECK(origin->port != 0 && !origin->host.empty());
    const auto again = ParseOrigin("https://" + origin->Authority(), "https", kHttpsPort);
    FIELDCOST_CHECK(again && again->Authority() == origin->Authority());
    (void)IsExcepted(second, origin->host, origin->port);
  }
  if (const auto base = ParseBaseUrl(first)) {
    FIELDCOST_CHECK(base->path.size() <= kMaxBasePathBytes && !base->path.ends_with('/'));
    const auto again = ParseBaseUrl(base->server + base->path);
    FIELDCOST_CHECK(again && again->server == base->server && again->path == base->path);
  }
  (void)ChooseProxy(first, "", {.https_proxy = second, .no_proxy = std::string(bytes)});
  (void)ParseIpAddress(first);
  return 0;
}
