#include "common/serve/request_workers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <stdexcept>
#include <string>

namespace fieldcost::serve {
namespace {

http::Response Refuse(const http::Request& untrusted_request, const Error& error) {
  return {.status = HttpStatus(error.code),
          .body = untrusted_request.target + ": " + error.message};
}

class RequestWorkersTest : public ::testing::Test {
 protected:
  std::future<http::Response> Run(const std::string& target, RequestWorkers::Handler handler) {
    auto answer = std::make_shared<std::promise<http::Response>>();
    workers_.Run(
        {.method = "GET", .target = target},
        [answer](http::Response response) { answer->set_value(std::move(response)); },
        std::move(handler));
    return answer->get_future();
  }
  std::future<http::Response> Echo(const std::string& target) {
    return Run(target, [](const http::Request& request, const http::Respond& respond) {
      respond({.body = request.target});
    });
  }

  RequestWorkers workers_{1, 1, Refuse};
};

TEST_F(RequestWorkersTest, PassesTheRequestToItsHandler) { EXPECT_EQ(Echo("/a").get().body, "/a"); }

TEST_F(RequestWorkersTest, AnswersForAHandlerThatThrows) {
  const http::Response response =
      Run("/b", [](const auto&, const auto&) { throw std::runtime_error("no luck"); }).get();
  EXPECT_EQ(response.status, 500);
  EXPECT_EQ(response.body, "/b: the server has failed");
  EXPECT_EQ(Echo("/c").get().body, "/c") << "the worker continues";
}

TEST_F(RequestWorkersTest, RefusesRequestsWhenTooManyAreWaiting) {
  std::promise<void> started;
  std::promise<void> go;
  auto running = Run("/running", [&](const http::Request&, const http::Respond& respond) {
    started.set_value();
    go.get_future().wait();
    respond({.body = "done"});
  });
  started.get_future().wait();
  auto waiting = Echo("/waiting");
  const http::Response refused = Echo("/refused").get();
  EXPECT_EQ(refused.status, 503);
  EXPECT_EQ(refused.body, "/refused: the server is busy; try again in a moment");
  go.set_value();
  EXPECT_EQ(running.get().body, "done");
  EXPECT_EQ(waiting.get().body, "/waiting");
}

TEST_F(RequestWorkersTest, RefusesRequestsAfterAStop) {
  workers_.Stop();
  EXPECT_EQ(Echo("/late").get().status, 503);
}

}  // namespace
}  // namespace fieldcost::serve
