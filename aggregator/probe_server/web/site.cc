#include "aggregator/probe_server/web/site.h"

#include <array>
#include <functional>
#include <utility>

#include "aggregator/probe_server/pages/layout.h"
#include "aggregator/probe_server/pages/links.h"
#include "aggregator/probe_server/pages/style_sheet.h"
#include "aggregator/probe_server/web/guard.h"
#include "aggregator/probe_server/web/web_handlers.h"
#include "common/base/text.h"
#include "common/base/units.h"
#include "common/crypto/sha256.h"
#include "common/http/answers.h"
#include "common/http/conditional.h"
#include "common/http/own_host.h"
#include "common/http/routes.h"

namespace fieldcost::probe_server {
namespace {

constexpr std::size_t kMaxWaiting = 512;
constexpr std::size_t kMaxPasswordsWaiting = 64;  // each takes 90 ms

enum class Access { kAnybody, kSession, kAny };  // kAny: a session or a device
enum class Pool { kCommon, kPasswords };

struct Route {
  std::string_view method;
  std::string_view path;
  Access access;
  VisitHandler handler;              // null: Ingest()
  std::string_view parameters = {};  // of the query, separated by blanks; others are refused
  Pool pool = Pool::kCommon;
};
constexpr std::string_view kList = "label user build tag program from to aside cursor limit done";
constexpr std::string_view kCompared =
    "id ids base new label user program from to base_build base_tag new_build new_tag";
constexpr std::string_view kHistory = "label user build tag program from to";

constexpr std::array kRoutes = std::to_array<Route>({
    {"GET", "/", Access::kSession, ShowLabels, "before after"},
    {"GET", "/events", Access::kSession, ShowEvents, kList},
    {"GET", "/events/*", Access::kSession, ShowEvent, "done"},
    {"GET", "/events/*/steps/*", Access::kSession, ShowStep},
    {"POST", "/events/*/mark", Access::kSession, MarkByForm},
    {"GET", "/compare", Access::kSession, ShowComparison, kCompared},
    {"GET", "/history", Access::kSession, ShowHistory, kHistory},
    {"GET", "/purge", Access::kSession, AskToPurge, "label"},
    {"POST", "/purge", Access::kSession, PurgeByForm},
    {"GET", "/account", Access::kSession, ShowAccount, "done"},
    {"POST", "/account", Access::kSession, ChangePassword, "", Pool::kPasswords},
    {"POST", "/devices/*/revoke", Access::kSession, RevokeOwnDevice},
    {"GET", "/login", Access::kAnybody, ShowLogin, "next"},
    {"POST", "/login", Access::kAnybody, LogIn, "", Pool::kPasswords},
    {"POST", "/logout", Access::kSession, LogOut},
    {"POST", "/v1/devices", Access::kAnybody, EnrolDevice, "", Pool::kPasswords},
    {"POST", "/v1/probes", Access::kAny, nullptr},
    {"GET", "/v1/events", Access::kAny, ApiEvents, kList},
    {"GET", "/v1/events/*", Access::kAny, ApiEvent},
    {"POST", "/v1/events/*/mark", Access::kAny, ApiMark},
    {"GET", "/v1/compare", Access::kAny, ApiCompare, kCompared},
    {"GET", "/v1/history", Access::kAny, ApiHistory, kHistory},
    {"GET", "/v1/export", Access::kAny, ApiExport, "id ids format"},
    {"POST", "/v1/purge", Access::kAny, ApiPurge},
});

bool IsApi(std::string_view target) { return target.starts_with("/v1/"); }

// Style sheet and icon, which are the same for all users.
http::Response AssetAnswer(const http::Request& untrusted_request, std::string_view type,
                           std::string_view text) {
  return http::ConditionalAnswer(
      untrusted_request,
      {.size_bytes = text.size(),
       .etag = '"' + crypto::HexSha256(text) + '"',
       .type = std::string(type),
       .cache_control = "max-age=3600"},
      [text](http::ByteRange range) {
        return std::optional(std::string(text.substr(range.first, range.end - range.first)));
      });
}

http::Response ErrorPage(const Error& error, const Frame& frame = {.title = "This did not work"}) {
  http::Response response =
      http::HtmlAnswer(HttpStatus(error.code), MessagePage(frame, error.message));
  if (response.status == 503) response.headers.emplace_back("Retry-After", "5");
  return response;
}

http::Response ErrorFor(std::string_view target, const Error& error) {
  return IsApi(target) ? http::ErrorAnswer(error) : ErrorPage(error);
}

Status Identify(Visit& visit) {
  const WallTime now = visit.site.clock.Now();
  if (const auto token = TokenOf(visit.untrusted_request)) {
    FIELDCOST_ASSIGN(const auto device, FindDevice(visit.data.database(), *token));
    if (device) visit.viewer = Viewer{.user = device->user, .device = device->id};
    return {};
  }
  const auto id = SessionOf(visit.untrusted_request);
  if (!id) return {};
  FIELDCOST_ASSIGN(const auto session, FindSession(visit.data.database(), *id, now));
  if (!session) return {};
  visit.viewer = Viewer{.user = session->user, .name = session->user_name, .session = session->id};
  if (session->is_to_be_touched) {
    visit.site.writer.Post(
        [id = session->id, now](Data& data) { return TouchSession(data.database(), id, now); },
        [](const Status&) {});
  }
  return {};
}

// Refuses cross-site requests, with which a browser sends the user's cookies by itself.
Status CheckForm(Visit& visit, const Route& route) {
  const bool is_form = !IsApi(route.path);
  const bool by_cookie = visit.viewer && !visit.viewer->session.empty();
  const Error forged = Fail(ErrorCode::kPermissionDenied,
                            "this form was not sent by a page of this server, or its session has "
                            "ended; reload the page");
  // Programs send no origin. Browsers must, so that no page of another site can use its visitors to
  // guess passwords.
  const bool by_program = !is_form && !by_cookie && !IsOfBrowser(visit.untrusted_request);
  if (by_program) return {};
  if (!IsOfOurPages(visit.untrusted_request)) return forged;
  if (is_form) {
    if (visit.untrusted_request.body.size() > http::kMaxFormBytes) {
      return Fail(ErrorCode::kTooLarge, "the form has more than {} bytes", http::kMaxFormBytes);
    }
    FIELDCOST_ASSIGN(visit.form, http::Parameters::Parse(visit.untrusted_request.body));
  }
  if (!by_cookie || route.access == Access::kAnybody) return {};
  const std::string_view token =
      is_form ? visit.form.Find("form_token")
              : http::Find(visit.untrusted_request.headers, kFormTokenHeader);
  return IsFormToken(visit.viewer->session, token) ? Status() : forged;
}

http::Response Refusal(const Visit& visit, const Route& route) {
  if (route.access == Access::kSession) {
    const bool may_return = visit.untrusted_request.method == "GET";
    return http::Redirect(
        LinkTo("/login", {{"next", may_return ? visit.untrusted_request.target : "/"}}));
  }
  http::Response response = http::ErrorAnswer(
      Fail(ErrorCode::kUnauthenticated,
           "a valid token is needed; this request has none, or one that is wrong or revoked"));
  response.headers.emplace_back("WWW-Authenticate", "Bearer");
  return response;
}

bool MayPass(const Visit& visit, const Route& route) {
  if (route.access == Access::kAnybody) return true;
  if (!visit.viewer) return false;
  return route.access == Access::kAny || !visit.viewer->session.empty();
}

// The response; nullopt if Ingest() responds.
Result<std::optional<http::Response>> AnswerTo(Visit& visit, const Route& route,
                                               const http::Respond& respond) {
  FIELDCOST_TRY(Identify(visit));
  if (!MayPass(visit, route)) return std::optional(Refusal(visit, route));
  if (route.method == "POST") {
    if (const Status status = CheckForm(visit, route); !status) {
      if (status.error().code == ErrorCode::kPermissionDenied) ++visit.site.counters.forged_forms;
      return status.error();
    }
  }
  FIELDCOST_TRY(visit.target.query.CheckKnown(route.parameters));
  if (route.handler == nullptr) {
    Ingest(visit, respond);
    return std::optional<http::Response>();
  }
  FIELDCOST_ASSIGN(http::Response response, route.handler(visit));
  return std::optional(std::move(response));
}

void Answer(const SiteParts& parts, const http::Request& untrusted_request, http::Target target,
            const Route& route, const http::Respond& respond) {
  Readers::Lease data = parts.readers.Take();
  Visit visit{.site = parts,
              .untrusted_request = untrusted_request,
              .target = std::move(target),
              .data = *data};
  auto response = AnswerTo(visit, route, respond);
  if (response && *response && (*response)->body.size() > kMaxAnswerBytes) {
    response = Fail(ErrorCode::kTooLarge,
                    "the response would have {} KiB, more than {}: request fewer events, or "
                    "those of one label",
                    (*response)->body.size() / kKiB, kMaxAnswerBytes / kKiB);
  }
  if (!response && IsApi(route.path)) {
    respond(Guarded(http::ErrorAnswer(response.error())));
  } else if (!response) {
    respond(Guarded(ErrorPage(response.error(), visit.PageFrame("This did not work"))));
  } else if (*response) {
    respond(Guarded(std::move(**response)));
  }
}

http::Response Refused(const SiteParts& parts, const http::Request& untrusted_request,
                       const Error& error) {
  if (error.code == ErrorCode::kUnavailable) ++parts.counters.overloads;
  return Guarded(ErrorFor(untrusted_request.target, error));
}

}  // namespace

Site::Site(SiteParts parts)
    : parts_(std::move(parts)),
      workers_(kSiteThreads, kMaxWaiting, std::bind_front(Refused, std::cref(parts_))),
      password_workers_(kPasswordThreads, kMaxPasswordsWaiting,
                        std::bind_front(Refused, std::cref(parts_))) {}

Site::~Site() { Stop(); }

void Site::Stop() {
  workers_.Stop();
  password_workers_.Stop();
}

void Site::Handle(http::Request untrusted_request, const http::Respond& respond) {
  untrusted_request.peer_address = ClientAddress(untrusted_request, parts_.trusted_proxies);
  if (!http::IsOwnHost(http::Find(untrusted_request.headers, "Host"), parts_.hosts())) {
    respond(Guarded(
        ErrorFor(untrusted_request.target, Fail(ErrorCode::kPermissionDenied,
                                                "the Host header does not name this server; its "
                                                "names are in the certificate and server.hosts"))));
    return;
  }
  if (untrusted_request.target == "/style.css") {
    respond(Guarded(AssetAnswer(untrusted_request, "text/css; charset=utf-8", kStyleSheet.text)));
    return;
  }
  if (untrusted_request.target == "/icon.svg") {
    respond(Guarded(AssetAnswer(untrusted_request, "image/svg+xml", kIcon)));
    return;
  }
  auto target = http::ParseTarget(untrusted_request.target);
  if (!target) {
    respond(Guarded(ErrorFor(untrusted_request.target, target.error())));
    return;
  }
  const auto [route, allowed] =
      http::FindRoute<Route>(kRoutes, untrusted_request.method, target->path);
  if (route == nullptr) {
    respond(Guarded(allowed.empty() ? ErrorFor(untrusted_request.target,
                                               Fail(ErrorCode::kNotFound, "unknown address"))
                                    : http::WrongMethod(allowed)));
    return;
  }
  serve::RequestWorkers& workers = route->pool == Pool::kPasswords ? password_workers_ : workers_;
  workers.Run(std::move(untrusted_request), respond,
              [this, target = std::move(*target), route = route](
                  const http::Request& request, const http::Respond& respond_later) mutable {
                Answer(parts_, request, std::move(target), *route, respond_later);
              });
}

}  // namespace fieldcost::probe_server
