#include "common/recording/threads.h"

#include <algorithm>
#include <utility>

#include "common/recording/bytes.h"
#include "common/recording/recording_limits.h"

namespace fieldcost::recording {
namespace {

bool IsControl(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 || byte == 0x7f;
}

bool IsName(std::string_view text) { return std::none_of(text.begin(), text.end(), IsControl); }

}  // namespace

Thread Printable(Thread thread) {
  for (std::string* const name : {&thread.process, &thread.name}) {
    if (name->size() > kMaxNameBytes) name->resize(kMaxNameBytes);
    std::replace_if(name->begin(), name->end(), IsControl, ' ');
  }
  return thread;
}

std::string EncodeThreads(std::span<const Thread> all, std::span<const std::uint32_t> numbers) {
  std::string out;
  ByteWriter bytes(out);
  for (const std::uint32_t number : numbers) {
    const Thread& thread = all[number];
    bytes.Varint(number);
    bytes.Varint(thread.pid);
    bytes.Varint(thread.tid);
    bytes.Text(thread.process);
    bytes.Text(thread.name);
  }
  return out;
}

Status DecodeThreads(std::string_view untrusted_payload, std::vector<Thread>& all) {
  ByteReader bytes(untrusted_payload);
  while (bytes.ok() && !bytes.at_end()) {
    const std::uint64_t number = bytes.Varint();
    const std::uint64_t pid = bytes.Varint();
    const std::uint64_t tid = bytes.Varint();
    Thread thread{.pid = static_cast<std::uint32_t>(pid), .tid = static_cast<std::uint32_t>(tid)};
    thread.process = bytes.Text(kMaxNameBytes);
    thread.name = bytes.Text(kMaxNameBytes);
    if (!bytes.ok() || number == kNoThread.value() || number > all.size() || pid > UINT32_MAX ||
        tid > UINT32_MAX || !IsName(thread.process) || !IsName(thread.name)) {
      return Corrupt("a thread is not well-formed");
    }
    if (number >= kMaxThreads)
      return Fail(ErrorCode::kTooLarge, "more than {} threads", kMaxThreads);
    if (number == all.size()) all.emplace_back();
    all[number] = std::move(thread);
  }
  if (!bytes.ok()) return Corrupt("threads are not well-formed");
  return {};
}

}  // namespace fieldcost::recording
