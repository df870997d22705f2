// A module's file during the look-up of names with libdw.

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "agent/symbols/symbols.h"
#include "common/base/check.h"
#include "common/base/file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using fieldcost::symbols::DwarfModule;
  const fieldcost::UniqueFd fd(::memfd_create("module", 0));
  FIELDCOST_CHECK(fd.valid() && ::write(fd.get(), data, size) == static_cast<ssize_t>(size));
  fieldcost::symbols::Symbols symbols(std::vector<std::filesystem::path>{});
  const std::string path = "/proc/self/fd/" + std::to_string(fd.get());
  for (std::uint64_t address = 0; address < 0x2000; address += 7) {
    FIELDCOST_CHECK(symbols.FramesAt(path, "", address).size() <= DwarfModule::kMostInlined);
  }
  return 0;
}
