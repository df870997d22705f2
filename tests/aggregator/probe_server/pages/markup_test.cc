// Stored markup: anything that a device sends is shown as text in pages, pictures and JSON.
#include "tests/aggregator/probe_server/site_fixture.h"

namespace fieldcost::probe_server {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kMarkup[] = "\"'><script>alert(1)</script><svg onload=x>&amp;";

class MarkupTest : public SiteTest {
 protected:
  MarkupTest() {
    user_ = AddUserNamed(kMarkup);
    const std::string token = AddDeviceOf(user_, kMarkup);
    for (std::uint64_t i = 1; i <= 2; ++i) {
      options_.run = i;
      probe::Batch batch = testing::BatchOf(i, options_);
      for (probe::Site& site : batch.sites) site.label = kMarkup;
      for (probe::Frame& frame : batch.frames) frame.module = kMarkup;
      EXPECT_EQ(SendBatch(token, batch).status, 200);
    }
    session_ = LogIn(kMarkup);
    token_ = token;
  }

  testing::EventOptions options_{.label = kMarkup,
                                 .program = kMarkup,
                                 .build = kMarkup,
                                 .tags = {"<b>&\"'", "<i>'\""},
                                 .function = kMarkup,
                                 .file = kMarkup};
  UserId user_;
  std::string session_;
  std::string token_;
};

TEST_F(MarkupTest, NoPageHasMarkupThatCameFromADevice) {
  const std::string id = IdOf(options_.run, user_);
  const std::string first = IdOf(1, user_);
  const std::string label = EncodeLinkPart(kMarkup);
  ASSERT_EQ(Post("/events/" + id + "/mark", session_, {{"mark", "set_aside"}, {"reason", kMarkup}})
                .status,
            303);
  for (const std::string& target :
       {std::string("/"), std::string("/events?aside=show"),
        "/events?label=" + label + "&user=" + label + "&build=" + label + "&tag=" + label,
        "/events/" + id, "/events/" + id + "/steps/1", "/history?label=" + label,
        "/compare?id=" + id + "&id=" + first + "&base=" + label + "&new=%3Cb%3E",
        "/account?done=" + label, "/purge?label=" + label, "/login?next=" + label,
        "/events?from=" + label, "/" + label, "/events/" + label}) {
    const http::Response response = Get(target, session_);
    EXPECT_THAT(response.body, Not(HasSubstr("<script"))) << target;
    EXPECT_THAT(response.body, Not(HasSubstr("<svg onload"))) << target;
    EXPECT_THAT(response.body, Not(HasSubstr("\"'>"))) << target;
    EXPECT_THAT(response.body, Not(HasSubstr("<b>&\""))) << target;
  }
}

TEST_F(MarkupTest, TheTextItselfIsShown) {
  const std::string page = Get("/events?aside=show", session_).body;
  EXPECT_THAT(page, HasSubstr("&quot;&#39;&gt;&lt;script&gt;alert(1)&lt;/script&gt;"));
}

TEST_F(MarkupTest, TheLoginShowsANameAsText) {
  const http::Response response = TryLogIn("\"><script>x</script>", "y");
  EXPECT_THAT(response.body, Not(HasSubstr("<script")));
}

TEST_F(MarkupTest, JsonIsReadAsWhatWasSent) {
  const auto events = Api("/v1/events", token_).at("events").as_array();
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[0].at("label").as_string(), kMarkup);
  EXPECT_EQ(events[0].at("user").as_string(), kMarkup);
  const std::string id(events[0].at("id").as_string());
  const auto event = Api("/v1/events/" + id, token_);
  EXPECT_EQ(event.at("points").as_array()[1].at("function").as_string(), kMarkup);
}

TEST_F(MarkupTest, ApiResponsesAreJsonNotPages) {
  for (const std::string& target : {std::string("/v1/events"), std::string("/v1/nowhere"),
                                    "/v1/events?from=" + EncodeLinkPart(kMarkup)}) {
    const http::Response response = Send(WithToken({.target = target}, token_));
    EXPECT_EQ(http::Find(response.headers, "Content-Type"), "application/json") << target;
  }
}

}  // namespace
}  // namespace fieldcost::probe_server
