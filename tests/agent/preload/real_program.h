#pragma once

#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/agent/preload/preload_fixture.h"

namespace fieldcost::testing {

// A slice is the set of functions that one run measures, small enough for a run file. Together the
// slices contain every function that may be picked.
inline constexpr const char* kSlices[] = {
    "libc.so.6!_*",
    "libc.so.6!a*,libc.so.6!b*,libc.so.6!c*,libc.so.6!d*,libc.so.6!e*",
    "libc.so.6!f*,libc.so.6!g*,libc.so.6!h*,libc.so.6!i*",
    "libc.so.6!j*,libc.so.6!k*,libc.so.6!l*,libc.so.6!m*",
    "libc.so.6!n*,libc.so.6!o*,libc.so.6!p*,libc.so.6!q*,libc.so.6!r*",
    "libc.so.6!s*",
    "libc.so.6!t*,libc.so.6!u*,libc.so.6!v*,libc.so.6!w*,libc.so.6!x*",
    "libsqlite3.so.0!*,libpython3.11.so.1.0!*,libjemalloc.so.2!*",
    "libssl.so.3!*,libz.so.1!*,libzstd.so.1!*,liblzma.so.5!*",
    "libcrypto.so.3!A*,libcrypto.so.3!B*,libcrypto.so.3!C*,libcrypto.so.3!D*",
    "libcrypto.so.3!E*",
    "libcrypto.so.3!O*,libcrypto.so.3!P*,libcrypto.so.3!R*",
    "libcrypto.so.3!S*,libcrypto.so.3!T*,libcrypto.so.3!X*,libcrypto.so.3!i2*,libcrypto.so.3!d2*",
    "libstdc++.so.6!*",
    "libm.so.6!*,libcurl.so.4!*,libselinux.so.1!*,libpcre2-8.so.0!*,libreadline.so.8!*",
    "*",
};

// The minimum number of a library's functions to be measured over all slices.
struct AtLeast {
  const char* soname;
  std::size_t functions;
};

// A working directory, with input files, for an installed program.
class RealProgramFixture : public PreloadTest {
 protected:
  RealProgramFixture() {
    MakeStateDirectory(sampled_state_dir_.path(), {.sampling_log2 = kSampled});
    std::ofstream text(work_.path() / "text");
    for (int i = 0; i < 2000; ++i) text << "line " << i << ' ' << i * 7919 % 2003 << '\n';
  }

  // The picks of the processes since the last call; removes their run files.
  void CollectPicks() {
    CollectPicks(state_dir_, 0);
    CollectPicks(sampled_state_dir_, kSampled);
  }

  void ExpectPicked(const std::string& program, const std::vector<AtLeast>& wanted) const {
    std::size_t all = 0;
    std::cout << program << " was measured in";
    for (const auto& [soname, symbols] : picked_) {
      std::cout << ' ' << soname << ' ' << symbols.size();
      all += symbols.size();
    }
    std::cout << '\n';
    EXPECT_GT(all, 50U);
    for (const AtLeast& library : wanted) {
      const auto found = picked_.find(library.soname);
      EXPECT_GE(found == picked_.end() ? 0 : found->second.size(), library.functions)
          << library.soname;
    }
  }

  // `sampled`: one call in 16 is timed, otherwise all.
  std::vector<std::pair<std::string, std::string>> MeasuredEnvironment(const std::string& pick,
                                                                       bool sampled) const {
    return {{"LD_PRELOAD", kLibrary},
            {"FIELDCOST_STATE_DIR", (sampled ? sampled_state_dir_ : state_dir_).path().string()},
            {"FIELDCOST_METRICS", "time,cycles,alloc,io"},
            {"FIELDCOST_PICK", pick},
            {"LC_ALL", "C"}};
  }

  TempDir work_;

 private:
  static constexpr std::uint32_t kSampled = 4;  // one call in 2^4 is timed

  void CollectPicks(const TempDir& state_dir, std::uint32_t sampling_log2) {
    for (const auto& entry : std::filesystem::directory_iterator(state_dir.path() / "runs")) {
      std::ifstream file(entry.path(), std::ios::binary);
      shm::RunHeader header{};
      file.read(reinterpret_cast<char*>(&header), sizeof header);
      for (std::uint32_t p = 0; p < header.pick_count; ++p) {
        shm::Pick pick{};
        file.read(reinterpret_cast<char*>(&pick), sizeof pick);
        EXPECT_EQ(pick.sampling_log2, sampling_log2);
        picked_[pick.soname].insert(pick.symbol);
      }
      std::filesystem::remove(entry.path());
    }
  }

  TempDir sampled_state_dir_{kMemory};
  std::map<std::string, std::set<std::string>> picked_;
};

}  // namespace fieldcost::testing
