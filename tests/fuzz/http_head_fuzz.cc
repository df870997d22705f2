// The server's head parser on arbitrary bytes: it must not crash, and everything it accepts must be
// as strict_head.h guarantees.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "common/base/check.h"
#include "common/http/strict_head.h"

namespace fieldcost::http {
namespace {

constexpr std::size_t kMaxBodyBytes = 1000;

// Receiving the bytes one at a time must make no difference.
void CheckScanInPieces(std::string_view bytes, HeadScan::Outcome outcome, std::size_t scanned) {
  HeadScan scan;
  HeadScan::Outcome piecewise = HeadScan::Outcome::kIncomplete;
  for (std::size_t size = 1; size <= bytes.size(); ++size) {
    piecewise = scan.Scan(bytes.substr(0, size));
    if (piecewise != HeadScan::Outcome::kIncomplete) break;
  }
  FIELDCOST_CHECK(piecewise == outcome);
  FIELDCOST_CHECK(scan.scanned == scanned);
}

void CheckPromises(const Head& head) {
  FIELDCOST_CHECK(head.method == "GET" || head.method == "HEAD" || head.method == "POST");
  FIELDCOST_CHECK(IsOriginForm(head.target) && head.target.size() <= kMaxTargetBytes);
  FIELDCOST_CHECK(head.headers.size() <= kMaxHeaderLines);
  FIELDCOST_CHECK(head.content_length <= kMaxBodyBytes);
  FIELDCOST_CHECK(head.method == "POST" || head.content_length == 0);
  const auto count = [&](std::string_view name) {
    return std::count_if(head.headers.begin(), head.headers.end(),
                         [&](const auto& header) { return EqualNames(header.first, name); });
  };
  FIELDCOST_CHECK(count("Host") == 1);
  FIELDCOST_CHECK(count("Transfer-Encoding") == 0);
  FIELDCOST_CHECK(count("Content-Length") <= 1);
  FIELDCOST_CHECK(head.method != "POST" || count("Content-Length") == 1);
  for (const auto& [name, value] : head.headers) {
    FIELDCOST_CHECK(IsToken(name) && IsFieldValue(value));
    FIELDCOST_CHECK(value.empty() || (value.front() != ' ' && value.back() != ' '));
  }
}

}  // namespace
}  // namespace fieldcost::http

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fieldcost::http;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  HeadScan scan;
  const HeadScan::Outcome outcome = scan.Scan(bytes);
  CheckScanInPieces(bytes, outcome, scan.scanned);
  const bool complete = outcome == HeadScan::Outcome::kComplete;
  const std::string_view head_bytes = complete ? bytes.substr(0, scan.scanned) : bytes;
  const auto head = ParseHead(head_bytes, kMaxBodyBytes);
  if (head) {
    FIELDCOST_CHECK(complete);  // the parser refuses everything that the scan refuses
    CheckPromises(*head);
  } else {
    FIELDCOST_CHECK(head.error().status >= 400 && head.error().status < 600);
  }
  return 0;
}
