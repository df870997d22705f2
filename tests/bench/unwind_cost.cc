// The cost of unwinding a stack: a compiler is interrupted every millisecond, and 64 KiB of its
// stack are copied. Prints the number of stacks and frames, the share of complete stacks, and
// nanoseconds per stack and per frame.
//   bench_unwind_cost own|own_cold|libdw
// own: tables and caches are warm; own_cold: includes building the tables, spread over all stacks.

#include <elfutils/libdwfl.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <limits>
#include <string_view>
#include <thread>
#include <vector>

#include "agent/unwind/unwinder.h"
#include "common/base/check.h"
#include "tests/agent/unwind/traced_process.h"

namespace {

using namespace fieldcost;

constexpr std::size_t kStacks = 1500;
constexpr std::size_t kCopyBytes = 64 * 1024;
constexpr char kSource[] = "/tmp/fieldcost_bench_unwind.cc";

struct Sample {
  unwind::Registers registers;
  std::vector<std::uint8_t> copy;
  double least_ns = std::numeric_limits<double>::max();
};

void WriteSource() {
  std::FILE* const file = std::fopen(kSource, "we");
  FIELDCOST_CHECK(file != nullptr);
  std::fputs(
      "#include <regex>\n#include <map>\n#include <iostream>\n#include <functional>\n"
      "int main() { std::regex r(\"a.*b\"); std::map<int, std::regex> m; m[1] = r; "
      "std::cout << std::regex_match(\"ab\", m[1]); }\n",
      file);
  std::fclose(file);
}

std::vector<Sample> Samples(testing::TracedProcess& process) {
  std::vector<Sample> samples;
  std::jthread interrupts([pid = process.pid()](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      ::kill(pid, SIGSTOP);
    }
  });
  while (samples.size() < kStacks && process.RunToStop()) {
    Sample sample{.registers = process.registers(), .copy = std::vector<std::uint8_t>(kCopyBytes)};
    sample.copy.resize(
        process.memory().Read(sample.registers[unwind::kRsp], sample.copy.data(), kCopyBytes));
    samples.push_back(std::move(sample));
    process.map();
  }
  return samples;
}

double Ns() {
  return std::chrono::duration<double, std::nano>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// Unwinds each sample in turn, with its stack just written, as in a ring. Returns the mean over
// samples of the minimum over rounds.
template <typename Unwind>
double MeanOfLeastNs(std::vector<Sample>& samples, int rounds, const Unwind& unwind) {
  Sample current;
  for (int round = 0; round < rounds; ++round) {
    for (Sample& sample : samples) {
      current.registers = sample.registers;
      current.copy = sample.copy;
      const double start = Ns();
      unwind(current, round);
      sample.least_ns = std::min(sample.least_ns, Ns() - start);
    }
  }
  double sum = 0;
  for (const Sample& sample : samples) sum += sample.least_ns;
  return sum / static_cast<double>(samples.size());
}

// Gives libdw the sample's registers and memory.
struct Peer {
  const Sample* sample = nullptr;
  std::size_t frames = 0;
};

const Dwfl_Thread_Callbacks kPeerCallbacks = {
    .next_thread = [](Dwfl*, void* argument, void** thread_argument) -> pid_t {
      if (*thread_argument != nullptr) return 0;
      *thread_argument = argument;
      return 1;
    },
    .get_thread = nullptr,
    .memory_read =
        [](Dwfl*, Dwarf_Addr address, Dwarf_Word* result, void* argument) {
          const Sample& sample = *static_cast<Peer*>(argument)->sample;
          const std::uint64_t offset = address - sample.registers[unwind::kRsp];
          if (offset > sample.copy.size() - sizeof *result) return false;
          std::memcpy(result, sample.copy.data() + offset, sizeof *result);
          return true;
        },
    .set_initial_registers =
        [](Dwfl_Thread* thread, void* argument) {
          const Sample& sample = *static_cast<Peer*>(argument)->sample;
          Dwarf_Word words[unwind::kRegisters];
          for (std::size_t i = 0; i < unwind::kRegisters; ++i) words[i] = sample.registers[i];
          return dwfl_thread_state_registers(thread, 0, unwind::kRegisters, words);
        },
    .detach = nullptr,
    .thread_detach = nullptr,
};

void PeerUnwinds(Dwfl* dwfl, Peer& peer, const Sample& sample) {
  peer.sample = &sample;
  dwfl_getthread_frames(
      dwfl, 1,
      [](Dwfl_Frame* frame, void* argument) {
        Dwarf_Addr address = 0;
        bool exact = false;
        if (!dwfl_frame_pc(frame, &address, &exact)) return static_cast<int>(DWARF_CB_ABORT);
        ++static_cast<Peer*>(argument)->frames;
        return static_cast<int>(DWARF_CB_OK);
      },
      &peer);
}

void Print(std::size_t samples, std::size_t frames, std::size_t whole, double ns) {
  const auto count = static_cast<double>(samples);
  std::printf("%zu stacks of %.1f frames, %.1f %% whole, ns each: %.0f, ns a frame: %.1f\n",
              samples, static_cast<double>(frames) / count,
              100.0 * static_cast<double>(whole) / count, ns,
              ns * count / static_cast<double>(frames));
}

constexpr int kRounds = 4;

void MeasurePeer(testing::TracedProcess& process, std::vector<Sample>& samples) {
  Dwfl_Callbacks callbacks{};
  callbacks.find_elf = dwfl_linux_proc_find_elf;
  callbacks.find_debuginfo = dwfl_standard_find_debuginfo;
  Dwfl* const dwfl = dwfl_begin(&callbacks);
  dwfl_linux_proc_report(dwfl, process.pid());
  dwfl_report_end(dwfl, nullptr, nullptr);
  Peer peer{.sample = samples.data()};
  FIELDCOST_CHECK(dwfl_attach_state(dwfl, nullptr, process.pid(), &kPeerCallbacks, &peer));
  const double ns = MeanOfLeastNs(
      samples, kRounds, [&](const Sample& sample, int) { PeerUnwinds(dwfl, peer, sample); });
  Print(samples.size(), peer.frames / kRounds, 0, ns);
  dwfl_end(dwfl);
}

void MeasureOwn(testing::TracedProcess& process, std::vector<Sample>& samples, int rounds) {
  unwind::TableCache tables;
  unwind::Unwinder unwinder(tables);
  unwind::ModuleMap& map = process.map();
  unwind::Stack stack;
  std::size_t frames = 0;
  std::size_t whole = 0;
  const double ns = MeanOfLeastNs(samples, rounds, [&](const Sample& sample, int round) {
    unwind::StackMemory memory(sample.registers[unwind::kRsp], sample.copy, nullptr);
    unwinder.Unwind(map, sample.registers, memory, stack);
    if (round != 0) return;
    frames += stack.frames.size();
    whole += stack.end == unwind::StackEnd::kOutermost ? 1U : 0U;
  });
  std::fprintf(stderr, "%zu tables, %zu bytes\n", tables.tables(), tables.memory_bytes());
  Print(samples.size(), frames, whole, ns);
}

}  // namespace

int main(int count, char** arguments) {
  const std::string_view mode = count > 1 ? arguments[1] : "own";
  WriteSource();
  testing::TracedProcess process(
      {"/usr/bin/clang++-14", "-std=c++20", "-O2", "-S", "-o", "/dev/null", kSource});
  std::vector<Sample> samples = Samples(process);
  if (samples.empty()) return 1;
  if (mode == "libdw") {
    MeasurePeer(process, samples);
  } else {
    MeasureOwn(process, samples, mode == "own" ? kRounds : 1);
  }
  return 0;
}
