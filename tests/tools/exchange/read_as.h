#pragma once

#include <gtest/gtest.h>

#include <string>

#include "tests/tools/exchange/sample_tree.h"
#include "tools/exchange/exchange.h"

namespace fieldcost::exchange {

// What is read of a file, which its content must tell to be of the format.
inline Imported ReadAs(const std::string& bytes, Format format) {
  Result<Imported> imported = Import(bytes);
  EXPECT_TRUE(imported.has_value()) << imported.error().message;
  if (!imported) return {TreeOfStacks({}, {}), format, {}};
  EXPECT_EQ(imported->format, format) << bytes;
  return std::move(*imported);
}

}  // namespace fieldcost::exchange
