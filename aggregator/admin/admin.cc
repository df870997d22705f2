#include "aggregator/admin/admin.h"

#include <array>
#include <boost/json.hpp>
#include <optional>
#include <utility>

#include "aggregator/admin/admin_requests.h"
#include "common/base/log.h"
#include "common/base/mutex.h"
#include "common/base/worker_pool.h"
#include "common/http/request_target.h"
#include "common/http/routes.h"
#include "common/json/json_text.h"

namespace fieldcost::admin {
namespace {

namespace json = boost::json;

// Requests beyond these limits, in progress and waiting, are refused.
constexpr unsigned kAdminThreads = 4;
constexpr std::size_t kMaxWaiting = 16;
constexpr std::size_t kMaxBodyBytes = 8 * 1024;

http::Response Refuse(const Error& error) {
  return http::JsonError(HttpStatus(error.code), Name(error.code), error.message);
}

http::Response Answer(const json::object& object) {
  return {.headers = {{"Content-Type", "application/json"}, {"Cache-Control", "no-store"}},
          .body = JsonText(object)};
}

http::Response Answer(const Status& status) {
  return status ? Answer(json::object()) : Refuse(status.error());
}

Result<json::object> ObjectOf(const http::Request& untrusted_request) {
  const Error expected = Fail(ErrorCode::kInvalidArgument, "expected a JSON object");
  if (untrusted_request.body.size() > kMaxBodyBytes) return expected;
  boost::system::error_code error;
  const json::value untrusted_value = json::parse(untrusted_request.body, error);
  if (error || !untrusted_value.is_object()) return expected;
  return untrusted_value.get_object();
}

// Reads a request's body with a single member, a string.
Result<std::string> TextOf(const json::object& untrusted_object, std::string_view name) {
  const json::value* untrusted_text = untrusted_object.if_contains(name);
  if (untrusted_object.size() != 1 || untrusted_text == nullptr || !untrusted_text->is_string()) {
    return Fail(ErrorCode::kInvalidArgument, R"(expected a JSON object {{"{}": "..."}})", name);
  }
  const json::string& text = untrusted_text->get_string();
  return std::string(text.data(), text.size());
}

// Removes an optional member, true or false, from the object and returns it.
Result<bool> TakeFlag(json::object& untrusted_object, std::string_view name) {
  const json::value* untrusted_flag = untrusted_object.if_contains(name);
  if (untrusted_flag == nullptr) return false;
  if (!untrusted_flag->is_bool()) {
    return Fail(ErrorCode::kInvalidArgument, "{}: expected true or false", name);
  }
  const bool flag = untrusted_flag->get_bool();
  untrusted_object.erase(name);
  return flag;
}

http::Response Publish(const Operations& operations, const http::Request&) {
  const auto report = operations.publish();
  if (!report) return Refuse(report.error());
  return Answer({{"version", report->version},
                 {"store_sequence", report->store_sequence},
                 {"rows", report->rows},
                 {"withheld", report->withheld},
                 {"crowded_out", report->crowded_out},
                 {"unsound", report->unsound},
                 {"fragments", report->fragments},
                 {"new_fragments", report->new_fragments}});
}

http::Response Checkpoint(const Operations& operations, const http::Request&) {
  const auto sequence = operations.checkpoint();
  return sequence ? Answer({{"sequence", *sequence}}) : Refuse(sequence.error());
}

http::Response Compact(const Operations& operations, const http::Request&) {
  return Answer(operations.compact());
}

http::Response Backup(const Operations& operations, const http::Request& untrusted_request) {
  auto untrusted_object = ObjectOf(untrusted_request).value_or(json::object());
  const auto without_signing_keys = TakeFlag(untrusted_object, "without_signing_keys");
  if (!without_signing_keys) return Refuse(without_signing_keys.error());
  const auto directory = TextOf(untrusted_object, "directory");
  if (!directory) return Refuse(directory.error());
  if (!directory->starts_with('/') || directory->find('\0') != std::string::npos) {
    return Refuse(Fail(ErrorCode::kInvalidArgument, "directory: expected an absolute path"));
  }
  const auto sequence = operations.backup(*directory, *without_signing_keys);
  return sequence ? Answer({{"sequence", *sequence}}) : Refuse(sequence.error());
}

http::Response Expire(const Operations& operations, const http::Request& untrusted_request) {
  auto untrusted_object = ObjectOf(untrusted_request).value_or(json::object());
  const auto yes = TakeFlag(untrusted_object, "yes");
  if (!yes) return Refuse(yes.error());
  const json::value* untrusted_week = untrusted_object.if_contains("before");
  boost::system::error_code error;
  const auto week = untrusted_week == nullptr ? std::uint32_t{0}
                                              : untrusted_week->to_number<std::uint32_t>(error);
  if (untrusted_object.size() != 1 || untrusted_week == nullptr || error) {
    return Refuse(Fail(ErrorCode::kInvalidArgument,
                       R"(expected a JSON object {{"before": week, "yes": true or false}})"));
  }
  const auto effect = operations.expire(week, *yes);
  if (!effect) return Refuse(effect.error());
  json::object answer{{"rows", effect->rows},
                      {"ledger_entries", effect->ledger_entries},
                      {"held_batches", effect->held_batches},
                      {"kept_batches", effect->kept_batches}};
  if (!*yes) {
    answer["rows_left"] = effect->rows_left;
    answer["oldest_week"] = effect->oldest_week;
    answer["newest_week"] = effect->newest_week;
  }
  return Answer(answer);
}

http::Response Verify(const Operations& operations, const http::Request&) {
  const auto report = operations.verify();
  if (!report) return Refuse(report.error());
  json::object answer;
  for (const auto& [name, number] : report->numbers) answer.emplace(name, number);
  answer.emplace("ok", report->ok);
  answer.emplace("problem", report->problem);
  return Answer(answer);
}

http::Response Revoke(const Operations& operations, const http::Request& untrusted_request) {
  auto untrusted_object = ObjectOf(untrusted_request).value_or(json::object());
  const auto withdraw = TakeFlag(untrusted_object, "withdraw");
  if (!withdraw) return Refuse(withdraw.error());
  const auto dry_run = TakeFlag(untrusted_object, "dry_run");
  if (!dry_run) return Refuse(dry_run.error());
  const auto agent = TextOf(untrusted_object, "agent");
  if (!agent) return Refuse(agent.error());
  const auto report =
      operations.revoke({.agent = *agent, .withdraw = *withdraw, .dry_run = *dry_run});
  if (!report) return Refuse(report.error());
  json::object answer;
  for (const auto& [name, value] : report->numbers) answer[name] = value;
  if (!report->changes.empty()) {
    json::array& changes = answer["changes"].emplace_array();
    for (const std::string& change : report->changes) changes.emplace_back(change);
  }
  return Answer(answer);
}

http::Response Invite(const Operations& operations, const http::Request& untrusted_request) {
  const auto untrusted_object = ObjectOf(untrusted_request).value_or(json::object());
  ingest::InvitationRequest request;
  bool is_valid = untrusted_object.size() == 3;
  for (const auto& [name, untrusted_value] : untrusted_object) {
    boost::system::error_code error;
    if (name == "uses") {
      request.uses = untrusted_value.to_number<std::uint64_t>(error);
    } else if (name == "days") {
      request.days = untrusted_value.to_number<std::uint64_t>(error);
    } else if (name == "label" && untrusted_value.is_string()) {
      request.label = untrusted_value.get_string().c_str();
    } else {
      is_valid = false;
    }
    is_valid = is_valid && !error;
  }
  if (!is_valid) {
    return Refuse(Fail(ErrorCode::kInvalidArgument,
                       R"(expected a JSON object {{"uses": N, "days": N, "label": "..."}})"));
  }
  const auto made = operations.invite(request);
  if (!made) return Refuse(made.error());
  return Answer({{"token", made->token}, {"name", made->name}, {"expires", made->expires_on}});
}

http::Response Invitations(const Operations& operations, const http::Request&) {
  const auto lines = operations.invitations();
  if (!lines) return Refuse(lines.error());
  json::object answer;
  json::array& invitations = answer["invitations"].emplace_array();
  for (const std::string& line : *lines) invitations.emplace_back(line);
  return Answer(answer);
}

http::Response Uninvite(const Operations& operations, const http::Request& untrusted_request) {
  const auto name = TextOf(ObjectOf(untrusted_request).value_or(json::object()), "name");
  return name ? Answer(operations.uninvite(*name)) : Refuse(name.error());
}

http::Response Reload(const Operations& operations, const http::Request&) {
  return Answer(operations.reload());
}

struct Action {
  std::string_view path;
  http::Response (*run)(const Operations& operations, const http::Request& untrusted_request);
  std::string_view method = "POST";
};
constexpr std::array kActions = std::to_array<Action>({
    {kPublishPath, Publish},
    {kCheckpointPath, Checkpoint},
    {kCompactPath, Compact},
    {kBackupPath, Backup},
    {kExpirePath, Expire},
    {kVerifyPath, Verify},
    {kRevokePath, Revoke},
    {kInvitePath, Invite},
    {kInvitationsPath, Invitations},
    {kUninvitePath, Uninvite},
    {kReloadPath, Reload},
});

}  // namespace

struct Admin::State {
  explicit State(Operations given) : operations(std::move(given)) {}

  bool IsAllowed(const http::Request& untrusted_request) {
    constexpr std::string_view kScheme = "Bearer ";
    const std::string_view untrusted_value = http::Find(untrusted_request.headers, "Authorization");
    if (!http::EqualNames(untrusted_value.substr(0, kScheme.size()), kScheme)) return false;
    const MutexLock lock(mutex);
    return tokens && tokens->Contains(untrusted_value.substr(kScheme.size()));
  }

  // Passes the operation to a worker, which responds.
  void Start(std::size_t action, http::Request untrusted_request, http::Respond respond) {
    {
      const MutexLock lock(mutex);
      if (stopping) {
        return respond(Refuse(Fail(ErrorCode::kUnavailable, "the service is shutting down")));
      }
      ++in_progress;
    }
    // Shared with the worker only if the pool accepts the task.
    auto task = std::make_shared<std::pair<http::Request, http::Respond>>(
        std::move(untrusted_request), std::move(respond));
    const bool taken = workers.TryRun([this, action, task] {
      task->second(Run(action, task->first));
      NoteDone();
    });
    if (taken) return;
    task->second(
        Refuse(Fail(ErrorCode::kUnavailable, "too many requests are waiting; try again later")));
    NoteDone();
  }

  void NoteDone() {
    const MutexLock lock(mutex);
    if (--in_progress == 0) idle.NotifyAll();
  }

  http::Response Run(std::size_t action, const http::Request& untrusted_request) {
    const MutexLock turn(turns[action]);
    http::Response response = kActions[action].run(operations, untrusted_request);
    LogEvent(LogLevel::kInfo, "administration",
             {{"request", kActions[action].path}, {"status", response.status}});
    return response;
  }

  const Operations operations;
  Mutex mutex;
  CondVar idle;
  std::optional<ingest::TokenSet> tokens FIELDCOST_GUARDED_BY(mutex);
  bool stopping FIELDCOST_GUARDED_BY(mutex) = false;
  std::size_t in_progress FIELDCOST_GUARDED_BY(mutex) = 0;
  std::array<Mutex, kActions.size()> turns;  // each action runs once at a time
  WorkerPool workers{kAdminThreads, kMaxWaiting};
};

Admin::Admin(Operations operations) : state_(std::make_unique<State>(std::move(operations))) {}
Admin::~Admin() = default;

void Admin::SetTokens(ingest::TokenSet tokens) {
  const MutexLock lock(state_->mutex);
  state_->tokens = std::move(tokens);
}

void Admin::Handle(http::Request untrusted_request, http::Respond respond) {
  if (auto response = serve::AnswerHealth(untrusted_request, state_->operations.health)) {
    return respond(std::move(*response));
  }
  const auto path = http::PlainPath::Parse(untrusted_request.target);
  if (!path) return respond(http::NotFound());
  const auto [action, allowed] =
      http::FindRoute<Action>(kActions, untrusted_request.method, path->parts());
  if (action == nullptr) {
    return respond(allowed.empty() ? http::NotFound() : http::WrongMethod(allowed));
  }
  if (!state_->IsAllowed(untrusted_request)) {
    http::Response refusal = Refuse(
        Fail(ErrorCode::kUnauthenticated, "this request needs a token of admin.token_files"));
    refusal.headers.emplace_back("WWW-Authenticate", "Bearer");
    return respond(std::move(refusal));
  }
  state_->Start(static_cast<std::size_t>(action - kActions.data()), std::move(untrusted_request),
                std::move(respond));
}

bool Admin::Stop(std::chrono::milliseconds limit) {
  {
    State& state = *state_;
    const MutexLock lock(state.mutex);
    state.stopping = true;
    const auto is_idle = [&state]()
                             FIELDCOST_REQUIRES(state.mutex) { return state.in_progress == 0; };
    if (!state.idle.WaitFor(state.mutex, limit, is_idle)) return false;
  }
  state_->workers.Stop();
  return true;
}

}  // namespace fieldcost::admin
