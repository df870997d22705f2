// Login, logout, passwords, and device tokens.
#include <fmt/format.h>

#include "aggregator/probe_server/accounts/guessing.h"
#include "aggregator/probe_server/accounts/password.h"
#include "aggregator/probe_server/accounts/users.h"
#include "aggregator/probe_server/pages/account_page.h"
#include "aggregator/probe_server/web/guard.h"
#include "aggregator/probe_server/web/json_body.h"
#include "aggregator/probe_server/web/web_handlers.h"
#include "common/base/json_writer.h"
#include "common/http/answers.h"

namespace fieldcost::probe_server {
namespace {

struct Credentials {
  std::string untrusted_user;
  std::string untrusted_password;
  bool in_session = false;  // confirmed within a session of the user
};

// The only message for a failed login.
constexpr char kWrong[] = "name or password is wrong";

Guesser GuesserOf(const Visit& visit, const Credentials& credentials) {
  return {.untrusted_name = credentials.untrusted_user,
          .address = visit.untrusted_request.peer_address,
          .in_session = credentials.in_session};
}

// A nonexistent name is not recorded, because it may be a mistyped password.
Status NoteFailure(const Visit& visit, const std::optional<User>& user, std::string_view purpose,
                   std::chrono::seconds wait) {
  const std::string account = user ? user->name : "";
  const AuditEntry failed = visit.Audited(std::string(purpose) + " failed", account);
  return visit.site.writer.Run([&](Data& data) -> Status {
    FIELDCOST_TRY(Audit(data, failed));
    if (wait.count() == 0) return {};
    return Audit(data, visit.Audited("locked", account, fmt::format("{} s", wait.count())));
  });
}

// Finds the user with these credentials. kUnauthenticated: they are wrong; kUnavailable: they were
// not checked, and `wait` is the time to wait (0: another reason). Nonexistent names get the same
// treatment.
Result<User> Check(const Visit& visit, const Credentials& credentials, std::string_view purpose,
                   std::chrono::seconds& wait) {
  const Guesser guesser = GuesserOf(visit, credentials);
  const WallTime now = visit.site.clock.Now();
  ++visit.site.counters.failed_logins;
  Attempt attempt;
  const Status begun = visit.site.writer.Run(
      [&](Data& data) { return BeginAttempt(data.database(), guesser, now, attempt); });
  wait = attempt.wait;
  FIELDCOST_TRY(begun);
  FIELDCOST_ASSIGN(const std::optional<User> user,
                   FindUser(visit.data.database(), credentials.untrusted_user));
  if (!VerifyPassword(user ? user->password_hash : "", credentials.untrusted_password)) {
    FIELDCOST_TRY(NoteFailure(visit, user, purpose, attempt.wait_if_wrong));
    return Fail(ErrorCode::kUnauthenticated, kWrong);
  }
  FIELDCOST_TRY(visit.site.writer.Run(
      [&](Data& data) { return NoteSuccess(data.database(), guesser, now); }));
  --visit.site.counters.failed_logins;
  ++visit.site.counters.logins;
  return *user;
}

int StatusOf(const Error& error, std::chrono::seconds wait) {
  return wait.count() != 0 ? 429 : HttpStatus(error.code);
}

http::Response WithWait(http::Response refusal, std::chrono::seconds wait) {
  if (wait.count() != 0) refusal.headers.emplace_back("Retry-After", std::to_string(wait.count()));
  return refusal;
}

http::Response LoginRefusal(const Visit& visit, const Credentials& credentials, const Error& error,
                            std::chrono::seconds wait) {
  Frame frame{.title = "Log in", .notice = error.message, .is_error = true};
  return WithWait(
      http::HtmlAnswer(StatusOf(error, wait),
                       LoginPage(frame, credentials.untrusted_user, visit.form.Find("next"))),
      wait);
}

// Begins a session of the user, replacing any session of the browser.
Result<std::string> Renew(const Visit& visit, const User& user, const std::string& what) {
  std::string id;
  const std::string old(SessionOf(visit.untrusted_request).value_or(""));
  const WallTime now = visit.site.clock.Now();
  const Status begun = visit.site.writer.Run([&](Data& data) -> Status {
    FIELDCOST_TRY(EndSession(data.database(), old));
    FIELDCOST_ASSIGN(id, BeginSession(data.database(), user.id, now));
    return Audit(data, visit.Audited(what, user.name));
  });
  FIELDCOST_TRY(begun);
  return id;
}

http::Response SendTo(std::string_view link, const std::string& cookie) {
  http::Response response = http::Redirect(link);
  response.headers.emplace_back("Set-Cookie", cookie);
  return response;
}

struct Enrolment {
  Credentials credentials;
  std::string untrusted_device;  // its requested name
};

// Parses a request for a device token. kInvalidArgument: not an object with the three strings.
Result<Enrolment> ReadEnrolment(const std::string& untrusted_body) {
  const auto object = ObjectOf(untrusted_body);
  if (object) {
    auto user = TextOf(*object, "user");
    auto password = TextOf(*object, "password");
    auto device = TextOf(*object, "name");
    if (user && password && device) {
      return Enrolment{.credentials = {std::move(*user), std::move(*password)},
                       .untrusted_device = std::move(*device)};
    }
  }
  return Fail(ErrorCode::kInvalidArgument,
              R"(expected a JSON object {{"user": "...", "password": "...", "name": "..."}})");
}

}  // namespace

Result<http::Response> ShowLogin(Visit& visit) {
  if (visit.viewer && !visit.viewer->session.empty()) return http::Redirect("/");
  return http::HtmlAnswer(200, LoginPage({.title = "Log in"}, "", visit.target.query.Find("next")));
}

Result<http::Response> LogIn(Visit& visit) {
  const Credentials credentials{std::string(visit.form.Find("user")),
                                std::string(visit.form.Find("password"))};
  std::chrono::seconds wait{0};
  const auto user = Check(visit, credentials, "login", wait);
  if (!user) return LoginRefusal(visit, credentials, user.error(), wait);
  FIELDCOST_ASSIGN(const std::string id, Renew(visit, *user, "login"));
  const std::string_view next = visit.form.Find("next");
  return SendTo(IsOwnAddress(next) ? next : "/", SessionCookie(id));
}

Result<http::Response> LogOut(Visit& visit) {
  FIELDCOST_TRY(visit.site.writer.Run(
      [&](Data& data) { return EndSession(data.database(), visit.viewer->session); }));
  return SendTo("/login", NoSessionCookie());
}

Result<http::Response> ChangePassword(Visit& visit) {
  const std::string_view wanted = visit.form.Find("new_password");
  FIELDCOST_TRY(CheckPassword(wanted));
  std::chrono::seconds wait{0};
  const auto user =
      Check(visit, {visit.viewer->name, std::string(visit.form.Find("password")), true},
            "password change", wait);
  if (!user) {
    return http::HtmlAnswer(StatusOf(user.error(), wait),
                            MessagePage(visit.PageFrame("Password"), user.error().message));
  }
  FIELDCOST_ASSIGN(const std::string hash, HashPassword(wanted));
  const bool keeps_devices = visit.form.Find("keep_devices") == "yes";
  FIELDCOST_TRY(visit.site.writer.Run([&](Data& data) {
    return SetPassword(data.database(), user->id, hash, {.ends_devices = !keeps_devices});
  }));
  FIELDCOST_ASSIGN(
      const std::string id,
      Renew(visit, *user, keeps_devices ? "password changed, devices kept" : "password changed"));
  return SendTo("/account?done=password", SessionCookie(id));
}

Result<http::Response> EnrolDevice(Visit& visit) {
  FIELDCOST_ASSIGN(const Enrolment enrolment, ReadEnrolment(visit.untrusted_request.body));
  FIELDCOST_TRY(CheckName("device", enrolment.untrusted_device));
  std::chrono::seconds wait{0};
  const auto user = Check(visit, enrolment.credentials, "enrolment", wait);
  if (!user) {
    return WithWait(http::JsonError(StatusOf(user.error(), wait), Name(user.error().code),
                                    user.error().message),
                    wait);
  }
  NewDevice made;
  FIELDCOST_TRY(visit.site.writer.Run([&](Data& data) -> Status {
    FIELDCOST_ASSIGN(made, AddDevice(data.database(), user->id, enrolment.untrusted_device,
                                     visit.site.clock.Now()));
    return Audit(data, visit.Audited("enrolment", user->name,
                                     fmt::format("device {} {}", made.id.value(),
                                                 enrolment.untrusted_device)));
  }));
  JsonWriter answer;
  answer.Object().Member("token", made.token).Member("device", made.id.value()).EndObject();
  return http::JsonAnswer(200, answer.TakeValue());
}

}  // namespace fieldcost::probe_server
