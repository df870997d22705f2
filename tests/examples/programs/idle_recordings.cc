// Writes recordings of idle CPUs with known contents: `idle_recordings DIRECTORY`.
//
//   a.fct                    one run of 15.5 s; threads queue for a lock from 12 s on
//   before.fct, after.fct    ten runs of a second, without and with that queue
//   one.fct, other.fct       one run of two seconds, without and with it
#include <cstdint>
#include <filesystem>
#include <string>

#include "tests/common/idle/idle_recording.h"

namespace {

using fieldcost::testing::IdleRecorder;

constexpr std::uint64_t kMs = 1'000'000;
constexpr char kLock[] = "app!main;app!Queue::Take();libc.so!pthread_mutex_lock;[lock]";
constexpr char kHold[] = "app!main;app!Queue::Fill();libc.so!nanosleep;[sleep]";
constexpr char kPoll[] = "app!main;app!Serve();libc.so!poll;[events]";

// Ten milliseconds: CPU 0 waits 3 ms for events and, with a queue, 4 ms for a lock.
void AddPeriods(IdleRecorder& recorder, std::uint64_t at_ns, bool has_queue) {
  recorder.Add({.cpu = 0,
                .from_ns = at_ns,
                .to_ns = at_ns + 3 * kMs,
                .to = kPoll,
                .from = kPoll,
                .waker = "[other process]"});
  if (!has_queue) return;
  recorder.Add({.cpu = 0,
                .from_ns = at_ns + 4 * kMs,
                .to_ns = at_ns + 8 * kMs,
                .to = kLock,
                .from = kHold,
                .waker = "[interrupt]"});
}

void Write(const std::filesystem::path& file, std::uint64_t runs, std::uint64_t length_ms,
           std::uint64_t queue_from_ms) {
  IdleRecorder recorder(file);
  for (std::uint64_t run = 0; run < runs; ++run) {
    const std::uint64_t begin_ms = run * length_ms;
    recorder.BeginRun(begin_ms * kMs);
    for (std::uint64_t ms = 0; ms + 10 <= length_ms; ms += 10) {
      AddPeriods(recorder, (begin_ms + ms) * kMs, ms >= queue_from_ms);
    }
    recorder.EndRun((begin_ms + length_ms) * kMs);
  }
  recorder.Close();
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) return 64;
  const std::filesystem::path directory = arguments[1];
  constexpr std::uint64_t kNever = 1'000'000;
  Write(directory / "a.fct", 1, 15'500, 12'000);
  Write(directory / "before.fct", 10, 1'000, kNever);
  Write(directory / "after.fct", 10, 1'000, 0);
  Write(directory / "one.fct", 1, 2'000, kNever);
  Write(directory / "other.fct", 1, 2'000, 0);
  return 0;
}
