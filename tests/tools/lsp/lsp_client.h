#pragma once

#include <sys/types.h>

#include <boost/json.hpp>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fieldcost::lsp {

// Talks to the real program over pipes, byte by byte on request. Every wait fails the test after
// half a minute. The destructor kills the program (by its pid).
class LspClient {
 public:
  // `home` becomes FIELDCOST_HOME.
  explicit LspClient(const std::filesystem::path& home);
  // With this environment, "NAME=value", and nothing of the test's.
  explicit LspClient(std::vector<std::string> environment);
  ~LspClient();
  LspClient(const LspClient&) = delete;
  LspClient& operator=(const LspClient&) = delete;

  void SendBytes(std::string_view bytes);
  void SendJson(std::string_view json);  // adds the header
  void Notify(std::string_view method, boost::json::value params);
  std::int64_t Request(std::string_view method, boost::json::value params);  // returns the id

  // The next message; null at the end of the output.
  boost::json::value Receive();
  // The response to this request; keeps earlier notifications and requests from the server.
  boost::json::value Answer(std::int64_t id);
  // The response's result. Fails the test on an error.
  boost::json::value Result(std::string_view method, boost::json::value params);
  // The next notification or request with that method, kept ones first.
  boost::json::value Await(std::string_view method);

  // Sends initialize and initialized; returns the result.
  boost::json::value Start(boost::json::value capabilities = boost::json::object(),
                           boost::json::value options = nullptr);
  void Open(std::string_view uri, std::string_view language, std::string_view text);

  void CloseInput();
  int ExitStatus();  // waits for the end; -1 if ended by a signal
  pid_t pid() const { return pid_; }

 private:
  bool Fill();

  pid_t pid_ = -1;
  int input_ = -1;   // the program's stdin
  int output_ = -1;  // the program's stdout
  std::string buffer_;
  std::vector<boost::json::value> kept_;
  std::int64_t last_id_ = 0;
};

}  // namespace fieldcost::lsp
