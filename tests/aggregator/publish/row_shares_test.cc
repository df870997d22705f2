#include "aggregator/publish/row_shares.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <set>

namespace fieldcost::publish {
namespace {

constexpr std::size_t kRoom = 1'000;

RowClaim Claim(std::string library, std::string api, std::string version, std::uint64_t agents,
               bool is_of_class = false) {
  RowClaim claim{.library = std::move(library),
                 .api = std::move(api),
                 .version = std::move(version),
                 .is_of_class = is_of_class,
                 .agents = agents};
  claim.tie_hash = std::hash<std::string>()(claim.library + "|" + claim.api + "|" + claim.version);
  return claim;
}

// Returns how many of the first `honest` claims are chosen.
std::size_t ChosenOf(std::size_t honest, const std::vector<RowClaim>& claims,
                     std::size_t room = kRoom) {
  const std::vector<std::size_t> chosen = ChooseRows(claims, room);
  EXPECT_EQ(chosen.size(), std::min(room, claims.size()));
  EXPECT_TRUE(std::ranges::is_sorted(chosen));
  EXPECT_EQ(std::set<std::size_t>(chosen.begin(), chosen.end()).size(), chosen.size());
  return static_cast<std::size_t>(
      std::ranges::count_if(chosen, [&](std::size_t index) { return index < honest; }));
}

// Returns claims for ten libraries of thirty functions, with a few agents each.
std::vector<RowClaim> Honest() {
  std::vector<RowClaim> claims;
  for (unsigned library = 0; library < 10; ++library) {
    for (unsigned api = 0; api < 30; ++api) {
      claims.push_back(Claim(fmt::format("lib{}.so", library), fmt::format("f{}", api), "1", 6));
    }
  }
  return claims;
}

TEST(RowSharesTest, KeepsAllThatFits) {
  const std::vector<RowClaim> honest = Honest();
  EXPECT_EQ(ChosenOf(honest.size(), honest, honest.size()), honest.size());
  EXPECT_EQ(ChooseRows({}, kRoom).size(), 0U);
  EXPECT_EQ(ChooseRows(honest, 0).size(), 0U);
}

TEST(RowSharesTest, InventedVersionsDisplaceNoOtherApi) {
  std::vector<RowClaim> claims = Honest();
  const std::size_t honest = claims.size();
  for (unsigned version = 0; version < 50'000; ++version) {
    claims.push_back(Claim("lib3.so", "f7", fmt::format("0.{}", version), 8));
  }
  // The real version may be lost: nothing but its agents distinguishes it from the invented ones.
  EXPECT_GE(ChosenOf(honest, claims), honest - 1);
}

TEST(RowSharesTest, InventedApisDisplaceNoOtherLibrary) {
  std::vector<RowClaim> claims = Honest();
  const std::size_t honest = claims.size();
  for (unsigned api = 0; api < 50'000; ++api) {
    claims.push_back(Claim("lib3.so", fmt::format("a{}", api), "1", 8));
  }
  EXPECT_GE(ChosenOf(honest, claims), honest - 30);
}

TEST(RowSharesTest, InventedLibrariesDisplaceOnlyWhatFewAgentsContributedTo) {
  // kHostileAgents keys name each invented library; together these exceed half of the space.
  constexpr std::uint64_t kHostileAgents = 5;
  for (const std::uint64_t agents : {kHostileAgents - 1, kHostileAgents + 1}) {
    std::vector<RowClaim> claims = Honest();
    const std::size_t honest = claims.size();
    for (RowClaim& claim : claims) claim.agents = agents;
    for (unsigned library = 0; library < 50'000; ++library) {
      claims.push_back(Claim(fmt::format("a{}.so", library), "f", "1", kHostileAgents));
    }
    EXPECT_EQ(ChosenOf(honest, claims), agents > kHostileAgents ? honest : 0U) << agents;
  }
}

TEST(RowSharesTest, RowsOfClassesTakeOnlyWhatIsLeft) {
  std::vector<RowClaim> claims = Honest();
  const std::size_t honest = claims.size();
  for (unsigned number = 0; number < 5'000; ++number) {
    claims.push_back(Claim("lib1.so", "f1", fmt::format("{}", number), 900, true));
  }
  EXPECT_EQ(ChosenOf(honest, claims), honest);
}

TEST(RowSharesTest, TheOrderOfRowsDecidesNothing) {
  std::vector<RowClaim> claims = Honest();
  for (unsigned number = 0; number < 3'000; ++number) {
    claims.push_back(Claim(fmt::format("lib{}.so", number % 17), fmt::format("f{}", number % 61),
                           fmt::format("{}", number), number % 9, number % 5 == 0));
  }
  const std::vector<std::size_t> expected = ChooseRows(claims, kRoom);
  std::vector<std::size_t> order(claims.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::mt19937_64 random(20261126);
  for (int i = 0; i < 20; ++i) {
    std::shuffle(order.begin(), order.end(), random);
    std::vector<RowClaim> shuffled;
    for (const std::size_t index : order) shuffled.push_back(claims[index]);
    std::vector<std::size_t> chosen;
    for (const std::size_t index : ChooseRows(shuffled, kRoom)) chosen.push_back(order[index]);
    std::ranges::sort(chosen);
    ASSERT_EQ(chosen, expected);
  }
}

}  // namespace
}  // namespace fieldcost::publish
