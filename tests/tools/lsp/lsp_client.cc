#include "tests/tools/lsp/lsp_client.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>

#include "common/base/check.h"

namespace fieldcost::lsp {
namespace {

namespace json = boost::json;

constexpr int kPatienceMs = 30'000;

std::vector<std::string> EnvironmentWithHome(const std::filesystem::path& home) {
  std::vector<std::string> environment = {"FIELDCOST_HOME=" + home.string()};
  for (char** variable = environ; *variable != nullptr; ++variable) {
    if (!std::string_view(*variable).starts_with("FIELDCOST_HOME=")) {
      environment.emplace_back(*variable);
    }
  }
  return environment;
}

}  // namespace

LspClient::LspClient(const std::filesystem::path& home) : LspClient(EnvironmentWithHome(home)) {}

LspClient::LspClient(std::vector<std::string> environment) {
  ::signal(SIGPIPE, SIG_IGN);
  int in[2];
  int out[2];
  FIELDCOST_CHECK(::pipe2(in, O_CLOEXEC) == 0 && ::pipe2(out, O_CLOEXEC) == 0);
  std::vector<char*> variables;
  for (std::string& variable : environment) variables.push_back(variable.data());
  variables.push_back(nullptr);
  std::string program = FIELDCOST_LSP;
  std::string option = "--stdio";
  char* const arguments[] = {program.data(), option.data(), nullptr};
  posix_spawn_file_actions_t actions;
  FIELDCOST_CHECK(::posix_spawn_file_actions_init(&actions) == 0);
  ::posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
  FIELDCOST_CHECK(
      ::posix_spawn(&pid_, program.c_str(), &actions, nullptr, arguments, variables.data()) == 0);
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(in[0]);
  ::close(out[1]);
  input_ = in[1];
  output_ = out[0];
}

LspClient::~LspClient() {
  CloseInput();
  if (output_ >= 0) ::close(output_);
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
}

void LspClient::SendBytes(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(input_, bytes.data(), bytes.size());
    if (written <= 0) return;  // the program has ended
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

void LspClient::SendJson(std::string_view json) {
  SendBytes("Content-Length: " + std::to_string(json.size()) + "\r\n\r\n" + std::string(json));
}

void LspClient::Notify(std::string_view method, json::value params) {
  SendJson(json::serialize(json::object{
      {"jsonrpc", "2.0"}, {"method", std::string(method)}, {"params", std::move(params)}}));
}

std::int64_t LspClient::Request(std::string_view method, json::value params) {
  const std::int64_t id = ++last_id_;
  SendJson(json::serialize(json::object{{"jsonrpc", "2.0"},
                                        {"id", id},
                                        {"method", std::string(method)},
                                        {"params", std::move(params)}}));
  return id;
}

bool LspClient::Fill() {
  pollfd ready{.fd = output_, .events = POLLIN, .revents = 0};
  if (::poll(&ready, 1, kPatienceMs) != 1) {
    ADD_FAILURE() << "the server does not answer";
    return false;
  }
  char bytes[65536];
  const ssize_t got = ::read(output_, bytes, sizeof bytes);
  if (got <= 0) return false;
  buffer_.append(bytes, static_cast<std::size_t>(got));
  return true;
}

json::value LspClient::Receive() {
  std::size_t header = 0;
  while ((header = buffer_.find("\r\n\r\n")) == std::string::npos) {
    if (!Fill()) return nullptr;
  }
  const std::string name = "Content-Length: ";
  EXPECT_EQ(buffer_.substr(0, name.size()), name);
  const std::size_t length = std::stoul(buffer_.substr(name.size()));
  const std::size_t end = header + 4 + length;
  while (buffer_.size() < end) {
    if (!Fill()) return nullptr;
  }
  json::value message = json::parse(buffer_.substr(header + 4, length));
  buffer_.erase(0, end);
  return message;
}

json::value LspClient::Answer(std::int64_t id) {
  for (;;) {
    json::value message = Receive();
    if (message.is_null()) {
      ADD_FAILURE() << "no answer to request " << id;
      return message;
    }
    const json::object& object = message.get_object();
    const bool answer = !object.contains("method");
    if (answer && object.at("id").is_int64() && object.at("id").get_int64() == id) return message;
    kept_.push_back(std::move(message));
  }
}

json::value LspClient::Result(std::string_view method, json::value params) {
  const json::value answer = Answer(Request(method, std::move(params)));
  if (!answer.is_object() || !answer.get_object().contains("result")) {
    ADD_FAILURE() << method << ": " << json::serialize(answer);
    return nullptr;
  }
  return answer.at("result");
}

json::value LspClient::Await(std::string_view method) {
  for (std::size_t i = 0;; ++i) {
    if (i == kept_.size()) kept_.push_back(Receive());
    if (kept_[i].is_null()) {
      ADD_FAILURE() << "no " << method;
      return nullptr;
    }
    const json::value* name = kept_[i].get_object().if_contains("method");
    if (name != nullptr && name->get_string() == json::string_view(method.data(), method.size())) {
      json::value found = std::move(kept_[i]);
      kept_.erase(kept_.begin() + static_cast<std::ptrdiff_t>(i));
      return found;
    }
  }
}

json::value LspClient::Start(json::value capabilities, json::value options) {
  json::object params{{"processId", nullptr}, {"rootUri", nullptr}};
  params["capabilities"] = std::move(capabilities);
  if (!options.is_null()) params["initializationOptions"] = std::move(options);
  json::value result = Result("initialize", std::move(params));
  Notify("initialized", json::object());
  return result;
}

void LspClient::Open(std::string_view uri, std::string_view language, std::string_view text) {
  Notify("textDocument/didOpen",
         json::object{{"textDocument", json::object{{"uri", std::string(uri)},
                                                    {"languageId", std::string(language)},
                                                    {"version", 1},
                                                    {"text", std::string(text)}}}});
}

void LspClient::CloseInput() {
  if (input_ >= 0) ::close(input_);
  input_ = -1;
}

int LspClient::ExitStatus() {
  // The program's output ends when it does.
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(kPatienceMs);
  while (std::chrono::steady_clock::now() < deadline && Fill()) continue;
  int status = 0;
  EXPECT_EQ(::waitpid(pid_, &status, 0), pid_);
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace fieldcost::lsp
