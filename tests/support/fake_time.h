#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <system_error>

#include "common/base/file.h"
#include "tests/support/process.h"

// A program with its own clock needs libfaketime before the C library, which conflicts with the
// sanitizers' runtimes: they require that position themselves.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define FIELDCOST_SKIP_WITHOUT_FAKE_TIME() GTEST_SKIP() << "no clock can be put under a sanitizer"
#else
#define FIELDCOST_SKIP_WITHOUT_FAKE_TIME()                          \
  ASSERT_TRUE(std::filesystem::exists(FIELDCOST_FAKE_TIME_LIBRARY)) \
      << "install the package libfaketime"
#endif

namespace fieldcost::testing {

// Shifts a program's wall clock by `offset`: "+365d", "-3600s". The steady clock is unchanged.
inline ProcessOptions AtOffset(ProcessOptions options, const std::string& offset) {
  options.environment.insert(options.environment.end(),
                             {{"LD_PRELOAD", FIELDCOST_FAKE_TIME_LIBRARY},
                              {"FAKETIME", offset},
                              {"FAKETIME_DONT_FAKE_MONOTONIC", "1"}});
  return options;
}

// The same with an offset read from `file`, which may change while the program runs.
inline ProcessOptions AtOffsetIn(ProcessOptions options, const std::filesystem::path& file) {
  options.environment.insert(options.environment.end(),
                             {{"LD_PRELOAD", FIELDCOST_FAKE_TIME_LIBRARY},
                              {"FAKETIME_TIMESTAMP_FILE", file.string()},
                              {"FAKETIME_NO_CACHE", "1"},
                              {"FAKETIME_DONT_FAKE_MONOTONIC", "1"}});
  return options;
}

// libfaketime leaves shared memory named by the process id if a process runs another program in its
// place, and fails in a later process with the same id.
inline void RemoveMemoryOfEndedClocks() {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/dev/shm", error)) {
    const std::string name = entry.path().filename();
    if (!name.starts_with("faketime_shm_") && !name.starts_with("sem.faketime_sem_")) continue;
    if (std::filesystem::exists("/proc/" + name.substr(name.rfind('_') + 1))) continue;
    std::filesystem::remove(entry.path(), error);
  }
}

inline void SetOffset(const std::filesystem::path& file, const std::string& offset) {
  ASSERT_TRUE(WriteFileAtomically(file, offset + "\n", 0644).has_value());
}

}  // namespace fieldcost::testing
