#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/wait_until.h"

namespace fieldcost::testing {

struct ProcessOptions {
  std::vector<std::string> arguments;  // [0] = program, looked up in PATH if it contains no '/'
  // Added to the environment; variables in `unset` are removed.
  std::vector<std::pair<std::string, std::string>> environment;
  std::vector<std::string> unset;
  std::filesystem::path directory;  // empty = the current one
  std::string input;                // its standard input
};

struct ProcessResult {
  int exit_status = -1;  // -1 if it was ended by a signal
  int signal = 0;
  std::string output;  // stdout
  std::string errors;  // stderr
};

// Runs a program to its end, or for at most `limit`; it is then killed (SIGKILL), as its signal
// shows.
ProcessResult RunProcess(const ProcessOptions& options, std::chrono::seconds limit = kMostPatience);

// A child that runs concurrently with the test; killed (by its pid) and reaped by the destructor.
class BackgroundProcess {
 public:
  explicit BackgroundProcess(const ProcessOptions& options);
  ~BackgroundProcess();
  BackgroundProcess(const BackgroundProcess&) = delete;
  BackgroundProcess& operator=(const BackgroundProcess&) = delete;

  pid_t pid() const { return pid_; }
  // Blocks until a line with `text` appears on stdout or stderr (both are read), and stores it in
  // `line`. Returns false at the end of the output or after `limit`.
  bool WaitForLine(const std::string& text, std::string* line = nullptr,
                   std::chrono::seconds limit = kMostPatience);
  void Signal(int signal_number);
  // Waits for its end.
  ProcessResult Wait(std::chrono::seconds limit = kMostPatience);

 private:
  bool ReadSome(std::chrono::steady_clock::time_point deadline);

  pid_t pid_ = -1;
  int pipe_ = -1;  // stdout and stderr combined
  std::string output_;
  std::size_t searched_ = 0;
  bool reaped_ = false;
  int status_ = 0;
};

}  // namespace fieldcost::testing
