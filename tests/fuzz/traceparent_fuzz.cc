// The environment variable TRACEPARENT, which any parent program may have set.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "agent/probe_preload/traceparent.h"
#include "common/base/check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fieldcost::probe_preload;
  const std::string text(reinterpret_cast<const char*>(data), size);
  fieldcost::shm::ProbeEventId event{};
  std::uint64_t parent = 0;
  if (!ReadTraceparent(text.c_str(), &event, &parent)) return 0;
  FIELDCOST_CHECK(std::strlen(text.c_str()) >= kTraceparentBytes && event.run != 0);
  char written[kTraceparentBytes + 1];
  WriteTraceparent(event, parent, written);
  fieldcost::shm::ProbeEventId same{};
  std::uint64_t same_parent = 0;
  FIELDCOST_CHECK(ReadTraceparent(written, &same, &same_parent));
  FIELDCOST_CHECK(same.run == event.run && same.number == event.number && same_parent == parent);
  return 0;
}
