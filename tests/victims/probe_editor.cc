// A small editor as seen through probe points: it concurrently opens an index, loads plugins and
// saves a draft, on threads that hand events to each other. Its steps are always the same; their
// durations are not.
//
//   probe_editor [--cold] [--scanner-delay-ms N] [--opens N] [--work N] [--data DIRECTORY] [FILE]
//
// --cold: its files are read from disk (as far as the file system evicts them), and checked as
// after an upgrade, which is four times the work. --scanner-delay-ms: the opening of the index file
// is delayed, as by a virus scanner. --opens: how often the index is opened.

#include <fcntl.h>
#include <fieldcost/probe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int kFiles = 4;
constexpr int kPlugins = 3;
constexpr int kFileBytes = 256 << 10;

struct Options {
  bool cold = false;
  long scanner_delay_ms = 0;
  int opens = 1;
  int work = 1;
  std::string data = "/tmp";
};

std::string path_of(const Options& options, int file) {
  return options.data + "/probe_editor." + std::to_string(getpid()) + "." + std::to_string(file);
}

void make_files(const Options& options) {
  std::string bytes(kFileBytes, 'x');
  for (int i = 0; i < kFiles; ++i) {
    const int fd = open(path_of(options, i).c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || write(fd, bytes.data(), bytes.size()) != kFileBytes) exit(1);
    if (options.cold) {
      fdatasync(fd);
      posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    }
    close(fd);
  }
}

void remove_files(const Options& options) {
  for (int i = 0; i < kFiles; ++i) unlink(path_of(options, i).c_str());
}

// Delays the opening of a file, like a scanner.
__attribute__((noinline)) void scan_file(const Options& options, int file) {
  if (file != 0 || options.scanner_delay_ms == 0) return;
  timespec left = {options.scanner_delay_ms / 1000, options.scanner_delay_ms % 1000 * 1000000};
  while (nanosleep(&left, &left) != 0) {
  }
}

__attribute__((noinline)) unsigned long sum_of(const std::vector<unsigned char>& bytes, int times) {
  unsigned long sum = 5381;
  for (int i = 0; i < times; ++i) {
    for (const unsigned char byte : bytes) sum = sum * 33 + byte;
  }
  return sum;
}

__attribute__((noinline)) std::vector<unsigned char> read_file(const Options& options, int file) {
  scan_file(options, file);
  std::vector<unsigned char> bytes(kFileBytes);
  const int fd = open(path_of(options, file).c_str(), O_RDONLY);
  if (fd < 0 || read(fd, bytes.data(), bytes.size()) != kFileBytes) exit(1);
  close(fd);
  return bytes;
}

// Values that one thread prepares for another.
struct Mailbox {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<fieldcost_event> waiting;
  bool closed = false;

  void put(fieldcost_event event) {
    const std::lock_guard lock(mutex);
    waiting.push_back(event);
    changed.notify_one();
  }
  void close() {
    const std::lock_guard lock(mutex);
    closed = true;
    changed.notify_one();
  }
  bool take(fieldcost_event& event) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return closed || !waiting.empty(); });
    if (waiting.empty()) return false;
    event = waiting.front();
    waiting.erase(waiting.begin());
    return true;
  }
};

std::atomic<unsigned long> sums{0};

void open_index(const Options& options, Mailbox& views) {
  fieldcost_event open;
  FIELDCOST_EVENT_BEGIN(open, "index_open");
  std::vector<std::vector<unsigned char>> files;
  for (int i = 0; i < kFiles; ++i) files.push_back(read_file(options, i));
  FIELDCOST_POINT_VALUE_IN(open, "data loaded", kFiles * kFileBytes);
  for (const auto& file : files) sums += sum_of(file, options.work * (options.cold ? 4 : 1));
  FIELDCOST_POINT_IN(open, "index built");
  views.put(open);  // the receiving thread ends it
}

void show_views(const Options& options, Mailbox& views) {
  const std::vector<unsigned char> screen(kFileBytes);
  for (fieldcost_event open; views.take(open);) {
    sums += sum_of(screen, options.work);
    FIELDCOST_POINT_IN(open, "view ready");
    FIELDCOST_EVENT_END(open);
  }
}

void load_plugins(const Options& options) {
  FIELDCOST_EVENT(plugins, "plugins");
  const std::vector<unsigned char> code(kFileBytes / 2);
  for (int i = 0; i < kPlugins; ++i) {
    FIELDCOST_EVENT(plugin, "plugin");  // inside the other event
    sums += sum_of(code, options.work);
    FIELDCOST_POINT_VALUE("plugin initialised", i);
    FIELDCOST_POINT_IN(plugins, "plugin loaded");
  }
}

void save_draft(const Options& options) {
  FIELDCOST_EVENT(save, "autosave");
  const std::vector<unsigned char> draft(kFileBytes);
  sums += sum_of(draft, options.work);
  FIELDCOST_POINT("draft written");
}

Options read_options(int count, char** arguments) {
  Options options;
  for (int i = 1; i < count; ++i) {
    const std::string name = arguments[i];
    const char* const value = i + 1 < count ? arguments[i + 1] : "";
    if (!name.starts_with("-")) continue;
    if (name == "--cold") {
      options.cold = true;
      continue;
    }
    if (name == "--scanner-delay-ms") {
      options.scanner_delay_ms = atol(value);
    } else if (name == "--opens") {
      options.opens = atoi(value);
    } else if (name == "--work") {
      options.work = atoi(value);
    } else if (name == "--data") {
      options.data = value;
    } else {
      fprintf(stderr, "%s: unknown option\n", name.c_str());
      exit(2);
    }
    ++i;
  }
  return options;
}

}  // namespace

int main(int count, char** arguments) {
  const Options options = read_options(count, arguments);
  make_files(options);
  FIELDCOST_POINT("settings read");
  Mailbox views;
  std::thread viewer([&] { show_views(options, views); });
  std::thread plugins([&] { load_plugins(options); });
  std::thread saver([&] { save_draft(options); });
  for (int i = 0; i < options.opens; ++i) open_index(options, views);
  views.close();
  viewer.join();
  plugins.join();
  saver.join();
  FIELDCOST_POINT("all ready");
  remove_files(options);
  printf("ready %d\n", sums != 0);
  return 0;
}
