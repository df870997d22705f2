#pragma once

#include <stdlib.h>
#include <unistd.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "agent/unwind/unwinder.h"
#include "common/base/check.h"
#include "tests/agent/unwind/made_elf.h"

namespace fieldcost::testing {

// A simulated process with one module, which contains these bytes and is mapped at kMadeStart.
class MadeProcess {
 public:
  static constexpr std::uint64_t kMadeStart = 0x5555'0000'0000;

  explicit MadeProcess(const std::string& file)
      : map(1), tables({.most_bytes = 1 << 20, .open = Opener(file)}), unwinder(tables) {
    unwind::Mapping mapping;
    mapping.start = kMadeStart;
    mapping.end = kMadeStart + 0x10000;
    mapping.file.inode = 7;
    mapping.path = "/made";
    FIELDCOST_CHECK(map.Add(mapping));
  }

  // The address of the code's byte `offset`.
  static std::uint64_t Address(std::uint64_t offset) { return kMadeStart + kMadeCode + offset; }

  unwind::ModuleMap map;
  unwind::TableCache tables;
  unwind::Unwinder unwinder;

 private:
  static unwind::TableCache::Opener Opener(std::string file) {
    return [file = std::move(file)](pid_t, const unwind::Mapping&) -> Result<UniqueFd> {
      char name[] = "/tmp/fieldcost_made_XXXXXX";
      UniqueFd fd(::mkstemp(name));
      FIELDCOST_CHECK(fd.valid());
      ::unlink(name);
      FIELDCOST_CHECK(::write(fd.get(), file.data(), file.size()) ==
                      static_cast<ssize_t>(file.size()));
      return fd;
    };
  }
};

}  // namespace fieldcost::testing
