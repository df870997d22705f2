#include "aggregator/publish/spill.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <random>
#include <vector>

#include "aggregator/publish/publish_limits.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::publish {
namespace {

TEST(SpillTest, RecordsComeBackByPartitionInTheirOrder) {
  const testing::TempDir dir;
  constexpr std::size_t kPartitions = 5;
  auto spill = Spill::Create(dir.path(), kPartitions);
  ASSERT_TRUE(spill.has_value());
  std::mt19937 random(1);
  std::vector<std::vector<std::string>> expected(kPartitions);
  // The last partition stays empty; the others overflow their buffers several times.
  for (int i = 0; i < 4'000; ++i) {
    const std::size_t partition = random() % (kPartitions - 1);
    std::string record(random() % 300, static_cast<char>(i));
    ASSERT_TRUE(spill->Append(partition, record).has_value());
    expected[partition].push_back(std::move(record));
  }
  for (int round = 0; round < 2; ++round) {
    for (std::size_t partition = 0; partition < kPartitions; ++partition) {
      std::vector<std::string> found;
      ASSERT_TRUE(spill
                      ->ForEach(partition,
                                [&](std::string_view record) -> Status {
                                  found.emplace_back(record);
                                  return {};
                                })
                      .has_value());
      EXPECT_EQ(found, expected[partition]);
    }
  }
}

TEST(SpillTest, RemovesItsFile) {
  const testing::TempDir dir;
  auto spill = Spill::Create(dir.path(), 1);
  ASSERT_TRUE(spill.has_value());
  ASSERT_TRUE(spill->Append(0, std::string(2 * kSpillChunkBytes, 'x')).has_value());
  EXPECT_TRUE(std::filesystem::is_empty(dir.path()));
}

TEST(SpillTest, ADirectoryThatIsNotThereIsAnError) {
  const testing::TempDir dir;
  EXPECT_FALSE(Spill::Create(dir.path() / "nowhere", 1).has_value());
}

}  // namespace
}  // namespace fieldcost::publish
