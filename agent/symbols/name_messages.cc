#include "agent/symbols/name_messages.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace fieldcost::symbols {
namespace {

constexpr std::size_t kPieceBytes = 64 << 10;

Error Gone() { return Fail(ErrorCode::kUnavailable, "the process that reads names has ended"); }

// Receives up to `size` bytes and a descriptor.
Result<std::size_t> ReceiveSome(int socket, char* to, std::size_t size, int wait_ms, UniqueFd& fd) {
  pollfd ready{.fd = socket, .events = POLLIN, .revents = 0};
  int found = 0;
  while ((found = ::poll(&ready, 1, wait_ms)) < 0 && errno == EINTR) {
  }
  if (found == 0) {
    return Fail(ErrorCode::kDeadlineExceeded, "the process that reads names does not answer");
  }
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  iovec piece{.iov_base = to, .iov_len = size};
  msghdr header{};
  header.msg_iov = &piece;
  header.msg_iovlen = 1;
  header.msg_control = control;
  header.msg_controllen = sizeof control;
  ssize_t got = 0;
  while ((got = ::recvmsg(socket, &header, MSG_CMSG_CLOEXEC)) < 0 && errno == EINTR) {
  }
  if (got <= 0) return Gone();
  const cmsghdr* const extra = CMSG_FIRSTHDR(&header);
  if (extra != nullptr && extra->cmsg_level == SOL_SOCKET && extra->cmsg_type == SCM_RIGHTS &&
      extra->cmsg_len == CMSG_LEN(sizeof(int))) {
    int number = -1;
    std::memcpy(&number, CMSG_DATA(extra), sizeof number);
    fd = UniqueFd(number);
  }
  return static_cast<std::size_t>(got);
}

Status ReceiveAll(int socket, char* to, std::size_t size, int wait_ms, UniqueFd& fd) {
  for (std::size_t done = 0; done < size;) {
    FIELDCOST_ASSIGN(const std::size_t got,
                     ReceiveSome(socket, to + done, size - done, wait_ms, fd));
    done += got;
  }
  return {};
}

}  // namespace

MessageWriter& MessageWriter::Number(std::uint64_t value) {
  bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  return *this;
}

MessageWriter& MessageWriter::Text(std::string_view text) {
  Number(text.size());
  bytes_ += text;
  return *this;
}

MessageWriter& MessageWriter::Append(const MessageWriter& more) {
  bytes_ += more.bytes_;
  return *this;
}

std::uint64_t MessageReader::Number() {
  std::uint64_t value = 0;
  if (!ok_ || rest_.size() < sizeof value) {
    ok_ = false;
    return 0;
  }
  std::memcpy(&value, rest_.data(), sizeof value);
  rest_.remove_prefix(sizeof value);
  return value;
}

std::string MessageReader::Text(std::size_t most_bytes) {
  const std::uint64_t size = Number();
  if (!ok_ || size > most_bytes || size > rest_.size()) {
    ok_ = false;
    return {};
  }
  std::string text(rest_.substr(0, size));
  rest_.remove_prefix(size);
  return text;
}

std::optional<std::vector<SourceFrame>> FramesIn(std::string_view untrusted_answer) {
  MessageReader reader(untrusted_answer);
  const std::uint64_t count = reader.Number();
  std::vector<SourceFrame> frames;
  for (std::uint64_t i = 0; reader.ok() && i < count && i <= DwarfModule::kMostInlined; ++i) {
    SourceFrame frame;
    frame.function = reader.Text(kMostNameBytes);
    frame.file = reader.Text(kMostNameBytes);
    frame.line = static_cast<std::uint32_t>(reader.Number());
    frame.local = reader.Number() != 0;
    frame.inlined = reader.Number() != 0;
    frames.push_back(std::move(frame));
  }
  if (!reader.IsAtEnd() || frames.size() != count) return std::nullopt;
  return frames;
}

Status SendMessage(int socket, std::string_view bytes, int fd) {
  const auto size = static_cast<std::uint32_t>(bytes.size());
  std::string all(reinterpret_cast<const char*>(&size), sizeof size);
  all += bytes;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  for (std::size_t done = 0; done < all.size();) {
    iovec piece{.iov_base = all.data() + done, .iov_len = all.size() - done};
    msghdr header{};
    header.msg_iov = &piece;
    header.msg_iovlen = 1;
    if (fd >= 0 && done == 0) {
      header.msg_control = control;
      header.msg_controllen = sizeof control;
      cmsghdr* const extra = CMSG_FIRSTHDR(&header);
      extra->cmsg_level = SOL_SOCKET;
      extra->cmsg_type = SCM_RIGHTS;
      extra->cmsg_len = CMSG_LEN(sizeof(int));
      std::memcpy(CMSG_DATA(extra), &fd, sizeof fd);
    }
    const ssize_t sent = ::sendmsg(socket, &header, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return Gone();
    done += static_cast<std::size_t>(sent);
  }
  return {};
}

Result<Message> ReceiveMessage(int socket, int wait_ms) {
  Message message;
  std::uint32_t size = 0;
  FIELDCOST_TRY(
      ReceiveAll(socket, reinterpret_cast<char*>(&size), sizeof size, wait_ms, message.fd));
  if (size > kMostMessageBytes) {
    return Fail(ErrorCode::kTooLarge, "a message of {} bytes from the process that reads names",
                size);
  }
  // Grows with the bytes received, not with the announced size.
  while (message.bytes.size() < size) {
    const std::size_t done = message.bytes.size();
    message.bytes.resize(std::min<std::size_t>(size, done + kPieceBytes));
    FIELDCOST_TRY(ReceiveAll(socket, message.bytes.data() + done, message.bytes.size() - done,
                             wait_ms, message.fd));
  }
  return message;
}

}  // namespace fieldcost::symbols
