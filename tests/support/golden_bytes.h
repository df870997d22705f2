#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>

#include "agent/runs/run_file_reader.h"
#include "common/base/file.h"
#include "common/base/text.h"
#include "common/base/units.h"

namespace fieldcost::testing {

// A format's bytes, one line per 16 bytes that are not all zero.
inline std::string GoldenLines(const runs::RunBytes& bytes) {
  std::string text;
  constexpr std::size_t kLine = 16;
  for (std::uint64_t at = bytes.NextData(0); at < bytes.size(); at = bytes.NextData(at + kLine)) {
    std::array<char, kLine> line{};
    const std::size_t size = std::min<std::uint64_t>(kLine, bytes.size() - at);
    EXPECT_TRUE(bytes.Read(at, line.data(), size));
    if (line == std::array<char, kLine>{}) continue;
    std::ostringstream offset;
    offset << std::hex << at;
    text += offset.str() + " " + HexEncode({line.data(), size}) + "\n";
  }
  return text;
}

// After an intended change: run once with FIELDCOST_WRITE_GOLDEN=1, review the difference.
inline void ExpectGolden(const std::filesystem::path& path, const std::string& text) {
  if (std::getenv("FIELDCOST_WRITE_GOLDEN") != nullptr) {
    ASSERT_TRUE(WriteFileAtomically(path, text, 0644));
  }
  EXPECT_EQ(ReadFile(path, kMiB).value_or(""), text) << path;
}

}  // namespace fieldcost::testing
