#include "common/http/answers.h"

#include <gtest/gtest.h>

#include "common/base/result.h"

namespace fieldcost::http {
namespace {

TEST(AnswersTest, EveryResponseOfASiteIsGuarded) {
  const SitePolicy policy{.content_security_policy = "default-src 'none'",
                          .resource_policy = "cross-origin"};
  const Response page = Guarded(HtmlAnswer(200, "<p>"), policy);
  EXPECT_EQ(page.body, "<p>");
  EXPECT_EQ(Find(page.headers, "Content-Security-Policy"), "default-src 'none'");
  EXPECT_EQ(Find(page.headers, "Cross-Origin-Resource-Policy"), "cross-origin");
  EXPECT_EQ(Find(page.headers, "X-Content-Type-Options"), "nosniff");
  EXPECT_EQ(Find(page.headers, "Referrer-Policy"), "same-origin");
  EXPECT_EQ(Find(page.headers, "Cross-Origin-Opener-Policy"), "same-origin");
  EXPECT_EQ(Find(page.headers, "Cache-Control"), "no-store");
}

TEST(AnswersTest, ACachingTimeIsKept) {
  const Response kept = Guarded({.headers = {{"Cache-Control", "max-age=60"}}}, {});
  EXPECT_EQ(Find(kept.headers, "Cache-Control"), "max-age=60");
}

TEST(AnswersTest, ABusyServerNamesATimeToRetry) {
  const Response busy = ErrorAnswer(Fail(ErrorCode::kUnavailable, "busy"));
  EXPECT_EQ(busy.status, 503);
  EXPECT_EQ(Find(busy.headers, "Retry-After"), "5");
  EXPECT_EQ(Find(ErrorAnswer(Fail(ErrorCode::kNotFound, "none")).headers, "Retry-After"), "");
}

TEST(AnswersTest, ARedirectIsFollowedWithGet) {
  EXPECT_EQ(Redirect("/login").status, 303);
  EXPECT_EQ(Find(Redirect("/login").headers, "Location"), "/login");
}

}  // namespace
}  // namespace fieldcost::http
