#include "common/base/write_all.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <thread>

#include "common/base/child_process.h"

namespace fieldcost {
namespace {

TEST(WriteAllTest, WritesMoreThanAPipeHolds) {
  Pipe pipe = MakePipe().value();
  const std::string bytes(1'000'000, 'x');
  std::string got;
  std::thread reader([&] {
    char chunk[4096];
    ssize_t size = 0;
    while ((size = ::read(pipe.read_end.get(), chunk, sizeof chunk)) > 0) {
      got.append(chunk, static_cast<std::size_t>(size));
    }
  });
  EXPECT_EQ(WriteAll(pipe.write_end.get(), bytes), 0);
  pipe.write_end.Reset();
  reader.join();
  EXPECT_EQ(got, bytes);
}

TEST(WriteAllTest, AFailureIsItsErrno) {
  const UniqueFd full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
  EXPECT_EQ(WriteAll(full.get(), "x"), ENOSPC);
  EXPECT_EQ(WriteAll(full.get(), ""), 0) << "nothing is to be written";
  EXPECT_EQ(WriteAll(-1, "x"), EBADF);
}

}  // namespace
}  // namespace fieldcost
