// Programs that move known numbers of bytes through the victim library; one per run.

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "tests/victims/io_library.h"

namespace {

constexpr uint64_t kBytes = 1000;
char buffer[4 * kBytes];

int NewFile(uint64_t bytes) {
  FILE* const file = tmpfile();
  if (file == nullptr) exit(70);
  const int fd = fileno(file);
  const std::string content(bytes, 'x');
  if (pwrite(fd, content.data(), bytes, 0) != static_cast<ssize_t>(bytes)) exit(70);
  return fd;
}

struct Pair {
  int in;
  int out;
};
Pair NewPipe() {
  int ends[2];
  if (pipe(ends) != 0) exit(70);
  return {ends[0], ends[1]};
}
Pair NewSockets(int type = SOCK_STREAM) {
  int ends[2];
  if (socketpair(AF_UNIX, type, 0, ends) != 0) exit(70);
  return {ends[0], ends[1]};
}

void Fill(int fd, uint64_t bytes) {
  if (write(fd, buffer, bytes) != static_cast<ssize_t>(bytes)) exit(70);
}
void Drain(int fd) {
  if (read(fd, buffer, sizeof buffer) <= 0) exit(70);
}

struct Place {
  int file = NewFile(kBytes);
  int other_file = NewFile(0);
  Pair pipe = NewPipe();
  Pair sockets = NewSockets();
};

using Move = int64_t (*)(int fd, void* to, uint64_t bytes);

// Each function on every kind of descriptor that it supports, three times.
void Read(const char* name, Move move, const Place& place, bool socket_only) {
  for (int round = 0; round < 3; ++round) {
    Fill(place.sockets.out, kBytes);
    int64_t moved = move(place.sockets.in, buffer, kBytes);
    if (!socket_only) {
      lseek(place.file, 0, SEEK_SET);
      Fill(place.pipe.out, kBytes);
      moved += move(place.file, buffer, kBytes) + move(place.pipe.in, buffer, kBytes);
    }
    printf("%s %ld\n", name, static_cast<long>(moved));
  }
}
void Write(const char* name, Move move, const Place& place, bool socket_only) {
  for (int round = 0; round < 3; ++round) {
    int64_t moved = move(place.sockets.out, buffer, kBytes);
    Drain(place.sockets.in);
    if (!socket_only) {
      moved += move(place.other_file, buffer, kBytes) + move(place.pipe.out, buffer, kBytes);
      Drain(place.pipe.in);
    }
    printf("%s %ld\n", name, static_cast<long>(moved));
  }
}
// Two datagrams per call.
void ReceiveMany(const Place& place) {
  const Pair datagrams = NewSockets(SOCK_DGRAM);
  for (int round = 0; round < 3; ++round) {
    Fill(datagrams.out, kBytes / 2);
    Fill(datagrams.out, kBytes / 2);
    printf("recvmmsg %ld\n", static_cast<long>(victim_io_recvmmsg(datagrams.in, buffer, kBytes)));
  }
  static_cast<void>(place);
}
void OnFile(const char* name, Move move, int fd) {
  for (int round = 0; round < 3; ++round) {
    printf("%s %ld\n", name, static_cast<long>(move(fd, buffer, kBytes)));
  }
}

int All() {
  const Place place;
// Called by name, not through a pointer: only such calls are measured.
#define CALL(name) [](int fd, void* data, uint64_t n) { return victim_io_##name(fd, data, n); }
#define READ(name) Read(#name, CALL(name), place, false);
#define READ_FILE(name) OnFile(#name, CALL(name), place.file);
#define RECEIVE(name) \
  if (strcmp(#name, "recvmmsg") != 0) Read(#name, CALL(name), place, true);
#define WRITE(name) Write(#name, CALL(name), place, false);
#define WRITE_FILE(name) OnFile(#name, CALL(name), place.other_file);
#define SEND(name) Write(#name, CALL(name), place, true);
  VICTIM_IO_READ(READ)
  VICTIM_IO_READ_FILE(READ_FILE)
  VICTIM_IO_RECEIVE(RECEIVE)
  ReceiveMany(place);
  VICTIM_IO_WRITE(WRITE)
  VICTIM_IO_WRITE_FILE(WRITE_FILE)
  VICTIM_IO_SEND(SEND)
  for (int round = 0; round < 3; ++round) {
    int64_t moved = victim_io_sendfile(place.file, place.sockets.out, kBytes);
    moved += victim_io_sendfile64(place.file, place.sockets.out, kBytes);
    Drain(place.sockets.in);
    lseek(place.other_file, 0, SEEK_SET);
    moved += victim_io_sendfile(place.file, place.other_file, kBytes);
    moved += victim_io_copy_file_range(place.file, place.other_file, kBytes);
    lseek(place.file, 0, SEEK_SET);
    moved += victim_io_splice(place.file, place.pipe.out, kBytes);
    moved += victim_io_splice(place.pipe.in, place.sockets.out, kBytes);
    Drain(place.sockets.in);
    printf("moved %ld\n", static_cast<long>(moved));
  }
  return 0;
}

int Nested() {  // a measured function whose callees are measured too
  const Place place;
  for (int round = 0; round < 5; ++round) {
    lseek(place.file, 0, SEEK_SET);
    printf("%ld\n",
           static_cast<long>(victim_io_outer(place.file, place.sockets.out, buffer, kBytes)));
    Drain(place.sockets.in);
    victim_io_pread(place.file, buffer, kBytes / 10);
  }
  return 0;
}

void Show(int64_t moved) {
  printf("%ld %s\n", static_cast<long>(moved), moved < 0 ? strerror(errno) : "");
  errno = 0;
}

int Partial() {  // short transfers, none, and failures
  const Place place;
  Show(victim_io_pread(place.file, buffer, 3 * kBytes));  // 1,000 are available
  lseek(place.file, 0, SEEK_END);
  Show(victim_io_read(place.file, buffer, kBytes));  // end of file
  Show(victim_io_read(-1, buffer, kBytes));
  Show(victim_io_read(place.pipe.out, buffer, kBytes));
  Show(victim_io_write(place.pipe.in, buffer, kBytes));
  Show(victim_io_pread(place.pipe.in, buffer, kBytes));
  Show(victim_io_recv(place.file, buffer, kBytes));
  Show(victim_io_sendfile(place.pipe.in, place.sockets.out, kBytes));
  Fill(place.sockets.out, kBytes / 2);
  Show(victim_io_recv(place.sockets.in, buffer, kBytes));  // 500 are available
  fcntl(place.sockets.in, F_SETFL, O_NONBLOCK);
  Show(victim_io_recv(place.sockets.in, buffer, kBytes));
  const Pair datagrams = NewSockets(SOCK_DGRAM);
  for (int i = 0; i < 3; ++i) Fill(datagrams.out, kBytes);
  Show(victim_io_receive(datagrams.in, buffer, kBytes, MSG_PEEK));  // stays
  Show(victim_io_receive(datagrams.in, buffer, kBytes, 0));         // 1,000
  Show(victim_io_receive(datagrams.in, buffer, 10, MSG_TRUNC));     // returns 1,000, stores 10
  Show(victim_io_receive(datagrams.in, buffer, 10, 0));             // 10
  close(place.sockets.in);
  Show(victim_io_send(place.sockets.out, buffer, kBytes));
  return 0;
}

pid_t reader;
sem_t reader_is_there;
Pair read_from;
bool unwound;

struct Unwound {
  ~Unwound() { unwound = true; }
};

void* ReadForEver(void*) {
  const Unwound guard;
  reader = static_cast<pid_t>(syscall(SYS_gettid));
  sem_post(&reader_is_there);
  Show(victim_io_read(read_from.in, buffer, kBytes));
  return nullptr;
}

// Waits until the kernel reports that the thread sleeps: it can only sleep in the read. Returns
// false if it does not.
bool WaitUntilBlocked() {
  constexpr int kMostLooks = 1'000'000;  // some microseconds each
  sem_wait(&reader_is_there);
  const std::string path = "/proc/self/task/" + std::to_string(reader) + "/stat";
  for (int look = 0; look < kMostLooks; ++look, sched_yield()) {
    std::ifstream file(path);
    std::string stat;
    if (std::getline(file, stat) && stat.find(") S ") != std::string::npos) return true;
  }
  return false;
}

int Cancel() {
  for (int round = 0; round < 20; ++round) {
    read_from = round % 2 == 0 ? NewPipe() : NewSockets();
    unwound = false;
    pthread_t thread;
    if (pthread_create(&thread, nullptr, ReadForEver, nullptr) != 0) return 1;
    if (!WaitUntilBlocked()) return 1;
    pthread_cancel(thread);
    void* result = nullptr;
    pthread_join(thread, &result);
    printf("cancelled %d, unwound %d\n", result == PTHREAD_CANCELED, unwound);
  }
  const Place place;
  Show(victim_io_read(place.file, buffer, kBytes));
  return 0;
}

int Interrupt() {
  struct sigaction action = {};
  action.sa_handler = [](int) {};
  sigaction(SIGUSR1, &action, nullptr);
  for (int round = 0; round < 20; ++round) {
    read_from = round % 2 == 0 ? NewPipe() : NewSockets();
    pthread_t thread;
    if (pthread_create(&thread, nullptr, ReadForEver, nullptr) != 0) return 1;
    if (!WaitUntilBlocked()) return 1;
    pthread_kill(thread, SIGUSR1);
    pthread_join(thread, nullptr);
  }
  return 0;
}

int Streams() {
  const Place place;
  printf("stream %ld\n", static_cast<long>(victim_io_stream(place.file, buffer, kBytes)));
  printf("write %ld\n", static_cast<long>(victim_io_write(place.file, buffer, kBytes)));
  return 0;
}

const struct {
  const char* name;
  int (*run)();
} kScenarios[] = {{"all", All},       {"nested", Nested},       {"partial", Partial},
                  {"cancel", Cancel}, {"interrupt", Interrupt}, {"streams", Streams}};

}  // namespace

int main(int argc, char** argv) {
  signal(SIGPIPE, SIG_IGN);
  for (const auto& scenario : kScenarios) {
    if (argc > 1 && strcmp(argv[1], scenario.name) == 0) return scenario.run();
  }
  fprintf(stderr, "usage: io SCENARIO\n");
  return 64;
}
