// A log of the store's engine as found on disk, and the marks next to it.

#include <cstdint>
#include <string_view>

#include "aggregator/store/log_scan.h"
#include "common/base/check.h"

namespace {

using namespace fieldcost::store;

LogScan Scan(std::string_view log, const LogScanner::Visitor& visit) {
  LogScanner scanner(visit);
  for (; log.size() > kLogBlockBytes; log.remove_prefix(kLogBlockBytes)) {
    scanner.Take(log.substr(0, kLogBlockBytes));
  }
  scanner.Take(log);
  return scanner.result();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  std::uint64_t last = 0;
  const LogScan scan = Scan(bytes, [&](const LogRecord& record) {
    FIELDCOST_CHECK(record.offset >= last && record.offset < size);
    last = record.offset;
  });
  FIELDCOST_CHECK(scan.size == size && scan.whole_bytes <= size);
  FIELDCOST_CHECK(!scan.goes_on_at || *scan.goes_on_at >= scan.whole_bytes);
  // The intact prefix is intact on its own.
  FIELDCOST_CHECK(Scan(bytes.substr(0, scan.whole_bytes), {}).is_whole());
  ReadMarks(bytes);
  return 0;
}
