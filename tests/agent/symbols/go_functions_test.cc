#include "agent/symbols/go_functions.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace fieldcost::symbols {
namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr std::uint64_t kText = 0x401000;

template <typename Number>
void Append(Bytes& bytes, std::initializer_list<Number> numbers) {
  for (const Number number : numbers) {
    const auto* const begin = reinterpret_cast<const std::uint8_t*>(&number);
    bytes.insert(bytes.end(), begin, begin + sizeof number);
  }
}

void AppendText(Bytes& bytes, const std::string& text) {
  bytes.insert(bytes.end(), text.begin(), text.end());
}

// main.f is at 0x401000, main.(*T).g at 0x401020; the code ends at 0x401030.
Bytes TableOfGo118(std::uint32_t magic = 0xfffffff0) {
  Bytes bytes;
  Append<std::uint32_t>(bytes, {magic});
  Append<std::uint8_t>(bytes, {0, 0, 1, 8});
  Append<std::uint64_t>(bytes, {2, 0, kText, 72, 0, 0, 0, 96});  // 2 functions; names, list
  AppendText(bytes, std::string("main.f\0main.(*T).g\0\0\0\0\0\0", 24));
  Append<std::uint32_t>(bytes, {0, 20, 0x20, 28, 0x30});  // start, description; end of the code
  Append<std::uint32_t>(bytes, {0, 0, 0x20, 7});          // start, name
  return bytes;
}

Bytes TableOfGo116() {
  Bytes bytes;
  Append<std::uint32_t>(bytes, {0xfffffffa});
  Append<std::uint8_t>(bytes, {0, 0, 1, 8});
  Append<std::uint64_t>(bytes, {2, 0, 64, 0, 0, 0, 88});
  AppendText(bytes, std::string("main.f\0main.(*T).g\0\0\0\0\0\0", 24));
  Append<std::uint64_t>(bytes, {kText, 40, kText + 0x20, 52, kText + 0x30});
  Append<std::uint64_t>(bytes, {kText});
  Append<std::uint32_t>(bytes, {0});
  Append<std::uint64_t>(bytes, {kText + 0x20});
  Append<std::uint32_t>(bytes, {7});
  return bytes;
}

void ExpectNames(const Bytes& table) {
  const auto functions = GoFunctions::Of(table, kText);
  ASSERT_TRUE(functions);
  EXPECT_EQ(functions->functions(), 2U);
  EXPECT_EQ(functions->Find(kText - 1), "");
  EXPECT_EQ(functions->Find(kText), "main.f");
  EXPECT_EQ(functions->Find(kText + 0x1f), "main.f");
  EXPECT_EQ(functions->Find(kText + 0x20), "main.(*T).g");
  EXPECT_EQ(functions->Find(kText + 0x2f), "main.(*T).g");
  EXPECT_EQ(functions->Find(kText + 0x30), "");
  EXPECT_EQ(functions->Find(0), "");
  EXPECT_EQ(functions->Find(UINT64_MAX), "");
}

TEST(GoFunctionsTest, AddressesHaveTheirNamesInEachLayout) {
  ExpectNames(TableOfGo116());
  ExpectNames(TableOfGo118());
  ExpectNames(TableOfGo118(0xfffffff1));  // 1.20
}

TEST(GoFunctionsTest, AddressesAreRelativeToTheCodeOfGo118) {
  const Bytes table = TableOfGo118();
  EXPECT_EQ(GoFunctions::Of(table, 0x1000)->Find(0x1020), "main.(*T).g");
  std::uint64_t stated = 0;
  std::memcpy(&stated, &table[GoFunctions::kTextStartPosition], sizeof stated);
  EXPECT_EQ(stated, kText);
}

TEST(GoFunctionsTest, RejectsOtherHeaders) {
  for (const std::size_t changed : {0U, 3U, 4U, 5U, 6U, 7U}) {
    Bytes table = TableOfGo118();
    table[changed] ^= 0x40;
    EXPECT_FALSE(GoFunctions::Begins(table)) << changed;
    EXPECT_FALSE(GoFunctions::Of(table, kText)) << changed;
  }
  EXPECT_FALSE(GoFunctions::Begins({}));
}

TEST(GoFunctionsTest, RejectsMoreFunctionsThanThereAreBytes) {
  for (const std::uint64_t count : {5UL, 1UL << 32, 1UL << 61, 1UL << 63, UINT64_MAX}) {
    Bytes table = TableOfGo118();
    std::memcpy(&table[8], &count, sizeof count);
    EXPECT_FALSE(GoFunctions::Of(table, kText)) << count;
  }
}

// Each part has its own allocation of its exact size, so that sanitizers detect reads beyond it.
TEST(GoFunctionsTest, ReadsNothingBeyondATruncatedTable) {
  for (const Bytes& whole : {TableOfGo116(), TableOfGo118()}) {
    for (std::size_t size = 0; size < whole.size(); ++size) {
      const Bytes part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
      const auto functions = GoFunctions::Of(part, kText);
      // The last bytes are the position of the last name.
      EXPECT_EQ(functions ? functions->Find(kText + 0x20) : "", "") << size;
    }
  }
}

TEST(GoFunctionsTest, PositionsOutsideTheTableHaveNoNames) {
  constexpr std::size_t kDescription = 108;  // of main.(*T).g
  constexpr std::size_t kName = 128;
  for (const std::size_t field : {kDescription, kName}) {
    for (const std::uint32_t value : {0x1000U, 0x7fffffffU, UINT32_MAX}) {
      Bytes table = TableOfGo118();
      std::memcpy(&table[field], &value, sizeof value);
      const auto functions = GoFunctions::Of(table, kText);
      ASSERT_TRUE(functions);
      EXPECT_EQ(functions->Find(kText + 0x20), "") << field;
      EXPECT_EQ(functions->Find(kText), "main.f") << field;
    }
  }
}

TEST(GoFunctionsTest, NamesEndWithTheTableOrAtTheirLimit) {
  Bytes table = TableOfGo118();
  const std::uint64_t names = table.size();
  std::memcpy(&table[8 + 3 * 8], &names, sizeof names);
  AppendText(table, "abc");
  EXPECT_EQ(GoFunctions::Of(table, kText)->Find(kText), "abc");
  table.resize(table.size() + 2 * GoFunctions::kMostNameBytes, 'x');
  EXPECT_EQ(GoFunctions::Of(table, kText)->Find(kText).size(), GoFunctions::kMostNameBytes);
}

}  // namespace
}  // namespace fieldcost::symbols
