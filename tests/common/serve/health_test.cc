#include "common/serve/health.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fieldcost::serve {
namespace {

using ::testing::HasSubstr;

class ServeHealthTest : public ::testing::Test {
 protected:
  std::optional<http::Response> Ask(const std::string& target, const std::string& method = "GET",
                                    const std::string& host = "127.0.0.1:8444") {
    return AnswerHealth({.method = method, .target = target, .headers = {{"Host", host}}},
                        {.why_not_ready = [this] { return why_not_ready_; },
                         .metrics = [] { return std::string("a_metric 1\n"); }});
  }

  std::string why_not_ready_;
};

TEST_F(ServeHealthTest, AnswersItsThreePathsAndNoOthers) {
  EXPECT_EQ(Ask(kLivezPath)->body, "ok\n");
  EXPECT_EQ(Ask(kReadyzPath)->status, 200);
  const http::Response metrics = Ask(kMetricsPath).value();
  EXPECT_EQ(metrics.body, "a_metric 1\n");
  EXPECT_THAT(std::string(http::Find(metrics.headers, "Content-Type")), HasSubstr("version=0.0.4"));
  EXPECT_EQ(http::Find(metrics.headers, "Cache-Control"), "no-store");
  for (const char* target : {"/", "/healthz", "/livez/", "/metrics?x", "/v1/publish"}) {
    EXPECT_FALSE(Ask(target).has_value()) << target;
    EXPECT_FALSE(Ask(target, "POST").has_value()) << target;
  }
}

TEST_F(ServeHealthTest, AServerThatIsNotReadyIsStillAlive) {
  why_not_ready_ = "draining";
  EXPECT_EQ(Ask(kReadyzPath)->status, 503);
  EXPECT_EQ(Ask(kReadyzPath)->body, "not ready: draining\n");
  EXPECT_EQ(Ask(kLivezPath)->status, 200);
}

TEST_F(ServeHealthTest, AcceptsGetOnly) {
  for (const char* target : {kLivezPath, kReadyzPath, kMetricsPath}) {
    EXPECT_EQ(Ask(target, "POST")->status, 405) << target;
  }
}

TEST_F(ServeHealthTest, RefusesEveryRequestForAnotherHost) {
  for (const char* target : {kMetricsPath, "/v1/publish"}) {
    EXPECT_EQ(Ask(target, "GET", "rebound.example")->status, 403) << target;
  }
}

}  // namespace
}  // namespace fieldcost::serve
