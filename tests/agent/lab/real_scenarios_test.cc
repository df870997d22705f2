#include <fstream>

#include "tests/agent/lab/measure_fixture.h"

// Installed programs, from end to end: they behave as usual, and each round times every call that
// the map found.

namespace fieldcost::lab {
namespace {

class RealScenarioTest : public MeasureTest {
 protected:
  // `known`: functions that an unwinder or the program itself calls more or less often when
  // measured.
  void ExpectAllCallsInEachRound(std::vector<std::string> command, std::size_t least_apis,
                                 const std::set<std::string>& known = {}) {
    MeasureOptions options = Options(std::move(command));
    const auto found = Measured(options);
    if (!found && found.error().code == ErrorCode::kNotFound) {
      GTEST_SKIP() << "not installed: " << options.runner.scenario.command[0];
    }
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_EQ(found->plain.status, 0);
    EXPECT_EQ(found->finished_rounds, 2U);
    EXPECT_EQ(found->failed_runs + found->other_outputs + found->refused, 0U);
    EXPECT_EQ(found->lost_calls, 0U);
    EXPECT_GE(found->sums.apis().size(), least_apis);
    for (const ApiSums& api : found->sums.apis()) {
      if (known.contains(api.api.symbol)) continue;
      EXPECT_EQ(api.times.calls, 2 * api.calls) << stats::DisplayName(api.api);
    }
    const Grouping& grouping = found->grouping;
    EXPECT_GE(grouping.groups.size(), grouping.clique.size());
    if (grouping.is_fewest) {
      EXPECT_EQ(grouping.groups.size(), grouping.clique.size());
    }
    std::cout << found->sums.apis().size() << " APIs, " << grouping.groups.size() << " groups, of "
              << grouping.clique.size() << " needed\n";
  }

  std::string Work(const std::string& name) const { return (work_.path() / name).string(); }

  testing::TempDir work_;
};

TEST_F(RealScenarioTest, Sqlite3) {
  std::ofstream(Work("q.sql"))
      << "create table t(a, b);"
         "with recursive n(i) as (select 1 union all select i+1 from n "
         "where i<500) insert into t select i, i*7919%997 from n;"
         "create index x on t(b); select sum(a), count(distinct b) from t;";
  ExpectAllCallsInEachRound({"/usr/bin/sqlite3", ":memory:", ".read " + Work("q.sql")}, 100);
}

TEST_F(RealScenarioTest, OpensslDigest) {
  std::ofstream(Work("text")) << std::string(100'000, 'x');
  ExpectAllCallsInEachRound({"/usr/bin/openssl", "dgst", "-sha256", Work("text")}, 50);
}

TEST_F(RealScenarioTest, GitLog) {
  const std::string script =
      "cd " + work_.path().string() +
      " && export GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b "
      "GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b && git init -q . && for i in 1 2 3 4 5; do "
      "echo $i > f; git add f; git commit -q -m $i; done";
  const testing::ProcessResult made = testing::RunProcess({.arguments = {"/bin/sh", "-c", script}});
  if (made.exit_status != 0) GTEST_SKIP() << "no git: " << made.errors;
  ExpectAllCallsInEachRound({"/usr/bin/git", "-C", work_.path().string(), "log", "-p"}, 30);
}

TEST_F(RealScenarioTest, Python3) {
  // How often it compares names depends on the addresses of its objects.
  ExpectAllCallsInEachRound({"/usr/bin/env", "PYTHONHASHSEED=0", "/usr/bin/python3", "-S", "-c",
                             "import json; print(sum(json.loads(json.dumps(list(range(500))))))"},
                            50, {"memcmp"});
}

TEST_F(RealScenarioTest, AThreadedOne) {
  ExpectAllCallsInEachRound({kVictims + "nestings", "threads-in-turn", "20"}, 3);
}

TEST_F(RealScenarioTest, AForkingOne) {
  ExpectAllCallsInEachRound({"/bin/sh", "-c", "for i in 1 2 3; do /bin/echo $i | /bin/cat; done"},
                            20);
}

}  // namespace
}  // namespace fieldcost::lab
