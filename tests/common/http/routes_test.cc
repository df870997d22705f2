#include "common/http/routes.h"

#include <gtest/gtest.h>

#include <array>

namespace fieldcost::http {
namespace {

struct Row {
  std::string_view method;
  std::string_view path;
};
constexpr std::array kRows = std::to_array<Row>(
    {{"GET", "/"}, {"GET", "/events/*"}, {"POST", "/events/*/mark"}, {"POST", "/events/*"}});

FoundRoute<Row> Find(std::string_view method, const std::vector<std::string>& path) {
  return FindRoute<Row>(kRows, method, path);
}

TEST(RoutesTest, AStarMatchesOnePart) {
  EXPECT_EQ(Find("GET", {}).route, &kRows[0]);
  EXPECT_EQ(Find("GET", {"events", "a/b"}).route, &kRows[1]);
  EXPECT_EQ(Find("POST", {"events", "7", "mark"}).route, &kRows[2]);
}

TEST(RoutesTest, NamesTheMethodsOfThePath) {
  EXPECT_EQ(Find("PUT", {"events", "7"}).route, nullptr);
  EXPECT_EQ(Find("PUT", {"events", "7"}).allowed, "GET, POST");
  for (const std::vector<std::string>& path : std::vector<std::vector<std::string>>{
           {"events"}, {"events", "7", "mark", "x"}, {"events", "7", "other"}, {"*"}}) {
    EXPECT_EQ(Find("GET", path).allowed, "");
    EXPECT_EQ(Find("GET", path).route, nullptr);
  }
}

}  // namespace
}  // namespace fieldcost::http
