#pragma once

#include <gtest/gtest.h>

#include <string>

#include "tests/tools/exchange/sample_tree.h"
#include "tools/exchange/exchange.h"

namespace fieldcost::exchange {

// Imports a file whose format must be detected from its content.
inline Imported ReadAs(const std::string& bytes, Format format) {
  Result<Imported> imported = Import(bytes);
  EXPECT_TRUE(imported.has_value()) << imported.error().message;
  if (!imported) return {TreeOfStacks({}, {}), format, {}};
  EXPECT_EQ(imported->format, format) << bytes;
  return std::move(*imported);
}

}  // namespace fieldcost::exchange
