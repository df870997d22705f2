// The output of perf script.

#include "tests/fuzz/import_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return FuzzImport(fieldcost::exchange::Format::kPerfScript, data, size);
}
