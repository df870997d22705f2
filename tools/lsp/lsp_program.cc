#include "tools/lsp/lsp_program.h"

#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <deque>
#include <optional>
#include <thread>
#include <utility>

#include "agent/settings/cache_directory.h"
#include "agent/settings/paths.h"
#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "common/base/write_all.h"
#include "common/command/arguments.h"
#include "common/command/program.h"
#include "tools/lsp/framing.h"
#include "tools/lsp/lsp_limits.h"
#include "tools/lsp/lsp_server.h"
#include "tools/lsp/message_queue.h"

namespace fieldcost::lsp {
namespace {

constexpr char kCheckName[] = "check.json";
constexpr int kIo = 74;

// Standard output, shared by the threads.
class Output {
 public:
  void Send(std::string_view json) FIELDCOST_EXCLUDES(mutex_) {
    const std::string bytes = Frame(json);
    const MutexLock lock(mutex_);
    // There is nothing to save, and the other threads may be blocked in a read.
    if (WriteAll(STDOUT_FILENO, bytes) != 0) ::_exit(kIo);
  }

 private:
  Mutex mutex_;  // guards the stream
};

// Indexes C++ names and writes pages on a separate thread, one after the other.
class Background {
 public:
  Background(std::filesystem::path catalog_file, std::filesystem::path cache_directory,
             MessageQueue& queue)
      : file_(std::move(catalog_file)),
        cache_directory_(std::move(cache_directory)),
        queue_(queue),
        thread_([this] { Work(); }) {}
  ~Background() {
    {
      const MutexLock lock(mutex_);
      stop_ = true;
    }
    wanted_signal_.NotifyOne();
    thread_.join();
  }
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  void WantIndex() FIELDCOST_EXCLUDES(mutex_) {
    {
      const MutexLock lock(mutex_);
      index_wanted_ = true;
    }
    wanted_signal_.NotifyOne();
  }

  void WantPage(PageWish wish) FIELDCOST_EXCLUDES(mutex_) {
    {
      const MutexLock lock(mutex_);
      if (pages_.size() == kMaxWishedPages) pages_.pop_front();
      pages_.push_back(std::move(wish));
    }
    wanted_signal_.NotifyOne();
  }

 private:
  // The index has to be started again, or the thread has to end.
  bool Interrupted() FIELDCOST_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    return stop_ || index_wanted_;
  }

  enum class Task { kStop, kIndex, kPage };
  // Waits for the next thing to do; sets `page` if it is one.
  Task Next(PageWish& page) FIELDCOST_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    wanted_signal_.Wait(mutex_, [this]() FIELDCOST_REQUIRES(mutex_) {
      return stop_ || index_wanted_ || !pages_.empty();
    });
    if (stop_) return Task::kStop;
    if (pages_.empty()) {
      index_wanted_ = false;
      return Task::kIndex;
    }
    page = std::move(pages_.front());
    pages_.pop_front();
    return Task::kPage;
  }

  void Work() FIELDCOST_EXCLUDES(mutex_) {
    PageWish page;
    for (;;) {
      const Task task = Next(page);
      if (task == Task::kStop) return;
      if (task == Task::kPage) {
        WriteWishedPage(page, file_, cache_directory_, SystemClock().Now());
        continue;
      }
      auto index =
          std::make_shared<const CxxIndex>(IndexCxxNames(file_, [this] { return Interrupted(); }));
      if (!Interrupted()) queue_.Push(std::move(index));
    }
  }

  std::filesystem::path file_;
  std::filesystem::path cache_directory_;
  MessageQueue& queue_;
  Mutex mutex_;
  CondVar wanted_signal_;
  bool index_wanted_ FIELDCOST_GUARDED_BY(mutex_) = false;
  std::deque<PageWish> pages_ FIELDCOST_GUARDED_BY(mutex_);
  bool stop_ FIELDCOST_GUARDED_BY(mutex_) = false;
  std::thread thread_;  // last, because it uses the other members
};

// Enqueues one message; returns false if it was the last one.
bool Take(const std::string& json, MessageQueue& queue, Output& output) {
  Message message = ParseMessage(json);
  const bool last = std::holds_alternative<ExitCall>(message.call);
  if (const auto* cancel = std::get_if<CancelCall>(&message.call)) queue.Cancel(cancel->id);
  const std::optional<RequestId> id = message.id;
  if (!queue.Push(std::move(message), json.size())) {
    output.Send(ErrorMessage(id, RpcError::kRequestFailed, "busy: too many requests wait"));
  }
  return !last;
}

// Reads until "exit", the end of stdin, or an invalid header.
void Read(MessageQueue& queue, Output& output) {
  Framer framer;
  std::string buffer(kReadBytes, '\0');
  for (;;) {
    const ssize_t got = ::read(STDIN_FILENO, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return;
    framer.Feed(std::string_view(buffer).substr(0, static_cast<std::size_t>(got)));
    for (;;) {
      Result<std::optional<std::string>> next = framer.Next();
      if (!next) {
        if (next.error().code == ErrorCode::kTooLarge) {
          queue.Push({{}, BadCall{RpcError::kParseError, next.error().message, ""}}, 0);
          continue;
        }
        output.Send(ErrorMessage({}, RpcError::kParseError, next.error().message));
        return;
      }
      if (!*next) break;
      if (!Take(**next, queue, output)) return;
    }
  }
}

Result<int> Serve() {
  FIELDCOST_ASSIGN(const settings::AgentPaths paths, settings::AgentPaths::FromEnvironment());
  MessageQueue queue;
  Output output;
  const std::filesystem::path cache_directory = settings::CacheDirectory();
  Background background(paths.catalog_file, cache_directory, queue);
  Server server({.catalog_file = paths.catalog_file,
                 .check_file = paths.state_dir / kCheckName,
                 .clock = &SystemClock(),
                 .version = FIELDCOST_VERSION,
                 .send = [&](std::string_view json) { output.Send(json); },
                 .index_names = [&] { background.WantIndex(); },
                 .cache_directory = cache_directory,
                 .write_page = [&](PageWish wish) { background.WantPage(std::move(wish)); }});
  std::thread reader([&] {
    Read(queue, output);
    queue.Close();
  });
  while (!server.exit_status()) {
    std::optional<MessageQueue::Item> item = queue.Pop([&] { server.OnIdle(); });
    if (!item) break;
    if (item->index) {
      server.OnIndex(std::move(item->index));
    } else {
      server.Handle(std::move(item->message), item->cancelled);
    }
  }
  reader.join();
  return server.exit_status().value_or(1);
}

command::Command Program() {
  return {.name = "fieldcost-lsp",
          .summary = "fieldcost-lsp: what library functions cost, in your editor",
          .help = R"(A language server (LSP 3.17) on standard input and output; editors start it. It
reads the local catalogue (fieldcost sync) and never uses the network.

Exit status: 0 after "shutdown" and "exit"; 1 if the editor exited without "shutdown" or sent
something that is not LSP; 64 on wrong options; 74 if the output cannot be written.)",
          .options = {{.names = "--stdio",
                       .help = "Talk on standard input and output: the only way, and the default"}},
          .handler = [](const command::Arguments&) -> Result<int> {
            ::signal(SIGPIPE, SIG_IGN);
            return Serve();
          }};
}

}  // namespace

int Main(std::vector<std::string> arguments) {
  return command::RunProgram(Program(), FIELDCOST_VERSION, std::move(arguments));
}

}  // namespace fieldcost::lsp
