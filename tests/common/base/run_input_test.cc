#include "common/base/run_input.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <fstream>
#include <iterator>

#include "common/base/child_process.h"
#include "tests/support/no_free_descriptor.h"
#include "tests/support/temp_dir.h"

namespace fieldcost {
namespace {

using ::testing::HasSubstr;

// Replaces our standard input with another descriptor during its lifetime.
class AsStandardInput {
 public:
  explicit AsStandardInput(int fd) : saved_(::dup(STDIN_FILENO)) { ::dup2(fd, STDIN_FILENO); }
  ~AsStandardInput() { ::dup2(saved_.get(), STDIN_FILENO); }

 private:
  UniqueFd saved_;
};

class RunInputTest : public ::testing::Test {
 protected:
  std::filesystem::path WriteLines(const std::string& lines) {
    const std::filesystem::path file = directory_.path() / "lines";
    std::ofstream(file) << lines;
    return file;
  }
  // Returns the bytes that a command reads with this input.
  static std::string ReadOf(RunInput& input) {
    const auto read = input.Next();
    EXPECT_TRUE(read) << read.error().message;
    auto pipe = MakePipe();
    const auto child =
        StartChild({.arguments = {"cat"}, .input = *read, .output = pipe->write_end.get()});
    EXPECT_TRUE(child);
    pipe->write_end.Reset();
    std::string text;
    char chunk[64];
    for (ssize_t got; (got = ::read(pipe->read_end.get(), chunk, sizeof chunk)) > 0;) {
      text.append(chunk, static_cast<std::size_t>(got));
    }
    EXPECT_EQ(ShellStatus(Reap(*child)), 0);
    return text;
  }
  testing::TempDir directory_;
};

TEST_F(RunInputTest, EachRunReadsTheFileFromWhereStandardInputStood) {
  const UniqueFd file(::open(WriteLines("one\ntwo\nthree\n").c_str(), O_RDONLY | O_CLOEXEC));
  ASSERT_EQ(::lseek(file.get(), 4, SEEK_SET), 4);
  const AsStandardInput ours(file.get());
  auto input = RunInput::Open({.runs = 3});
  ASSERT_TRUE(input) << input.error().message;
  for (int run = 0; run < 3; ++run) EXPECT_EQ(ReadOf(*input), "two\nthree\n") << run;
  EXPECT_EQ(::lseek(file.get(), 0, SEEK_CUR), 4);
  EXPECT_EQ(input->note(), "");
}

TEST_F(RunInputTest, ADeletedFileIsReadByAllRuns) {
  const std::filesystem::path path = WriteLines("here\n");
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::filesystem::remove(path);
  const AsStandardInput ours(file.get());
  auto input = RunInput::Open({.runs = 2});
  ASSERT_TRUE(input) << input.error().message;
  for (int run = 0; run < 2; ++run) EXPECT_EQ(ReadOf(*input), "here\n") << run;
}

TEST_F(RunInputTest, EachRunReadsTheInputFileForAnyStandardInput) {
  auto pipe = MakePipe();
  const AsStandardInput ours(pipe->read_end.get());
  auto input = RunInput::Open({.file = WriteLines("a\nb\n"), .runs = 2});
  ASSERT_TRUE(input) << input.error().message;
  for (int run = 0; run < 2; ++run) EXPECT_EQ(ReadOf(*input), "a\nb\n") << run;
  auto once = RunInput::Open({.file = WriteLines("a\nb\n"), .runs = 1});
  ASSERT_TRUE(once) << once.error().message;
  EXPECT_EQ(ReadOf(*once), "a\nb\n");
}

TEST_F(RunInputTest, RefusesAnOpenPipeForSeveralRunsAndNamesTheOption) {
  auto pipe = MakePipe();
  const AsStandardInput ours(pipe->read_end.get());
  const auto refused = RunInput::Open({.runs = 2});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(refused.error().message, HasSubstr("standard input is a pipe"));
  EXPECT_THAT(refused.error().message, HasSubstr("--input FILE"));
  ASSERT_EQ(::write(pipe->write_end.get(), "x", 1), 1);
  pipe->write_end.Reset();
  EXPECT_FALSE(RunInput::Open({.runs = 2})) << "a pipe can be read only once";
}

TEST_F(RunInputTest, RefusesAnOpenSocketForSeveralRuns) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  const UniqueFd read(ends[0]);
  UniqueFd write(ends[1]);
  const AsStandardInput ours(read.get());
  const auto refused = RunInput::Open({.runs = 2});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("is a socket"));
  write.Reset();
  auto ended = RunInput::Open({.runs = 2});
  ASSERT_TRUE(ended) << ended.error().message;
  EXPECT_EQ(ReadOf(*ended), "");
}

TEST_F(RunInputTest, AnEmptyPipeWithoutWritersIsAnEmptyInput) {
  auto pipe = MakePipe();
  pipe->write_end.Reset();
  const AsStandardInput ours(pipe->read_end.get());
  auto input = RunInput::Open({.runs = 2});
  ASSERT_TRUE(input) << input.error().message;
  EXPECT_EQ(ReadOf(*input), "");
}

TEST_F(RunInputTest, PassesAPipeOnToASingleRun) {
  auto pipe = MakePipe();
  ASSERT_EQ(::write(pipe->write_end.get(), "x", 1), 1);
  pipe->write_end.Reset();
  const AsStandardInput ours(pipe->read_end.get());
  auto input = RunInput::Open({.runs = 1});
  ASSERT_TRUE(input) << input.error().message;
  EXPECT_EQ(ReadOf(*input), "x");
}

TEST_F(RunInputTest, DevNullIsAnEmptyInput) {
  const UniqueFd null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const AsStandardInput ours(null.get());
  auto input = RunInput::Open({.runs = 2});
  ASSERT_TRUE(input) << input.error().message;
  EXPECT_EQ(ReadOf(*input), "");
  auto named = RunInput::Open({.file = "/dev/null", .runs = 2});
  ASSERT_TRUE(named) << named.error().message;
  EXPECT_EQ(ReadOf(*named), "");
  EXPECT_EQ(named->note(), "");
}

TEST_F(RunInputTest, ATerminalIsSharedOrReplacedByNothingAndTheNoteNamesTheOption) {
  const UniqueFd other(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  ASSERT_TRUE(other.valid());
  ASSERT_EQ(::grantpt(other.get()), 0);
  ASSERT_EQ(::unlockpt(other.get()), 0);
  const UniqueFd terminal(::open(::ptsname(other.get()), O_RDWR | O_NOCTTY | O_CLOEXEC));
  ASSERT_TRUE(terminal.valid());
  const AsStandardInput ours(terminal.get());
  auto shared = RunInput::Open({.runs = 2});
  ASSERT_TRUE(shared) << shared.error().message;
  EXPECT_EQ(shared->Next().value(), kOurs);
  EXPECT_THAT(shared->note(), HasSubstr("--input FILE"));
  auto empty = RunInput::Open({.runs = 2, .terminal = RunInput::Terminal::kEmpty});
  ASSERT_TRUE(empty) << empty.error().message;
  EXPECT_EQ(empty->Next().value(), kNowhere);
  EXPECT_THAT(empty->note(), HasSubstr("--input FILE"));
}

// The sanitizers themselves need descriptors to inspect memory.
#ifndef __SANITIZE_ADDRESS__
TEST_F(RunInputTest, ReportsThatThisProcessHasTooManyFilesOpen) {
  const std::filesystem::path path = WriteLines("a\n");
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  const AsStandardInput ours(file.get());
  auto input = RunInput::Open({.runs = 2});
  ASSERT_TRUE(input) << input.error().message;
  {
    const testing::NoFreeDescriptor none;
    for (const auto& error :
         {RunInput::Open({.runs = 2}).error(), RunInput::Open({.file = path, .runs = 2}).error(),
          input->Next().error()}) {
      EXPECT_EQ(error.code, ErrorCode::kUnavailable) << error.message;
      EXPECT_EQ(ExitStatus(error.code), 69);
      EXPECT_THAT(error.message, HasSubstr("Too many open files; raise the limit with ulimit -n"));
    }
  }
  EXPECT_EQ(ReadOf(*input), "a\n") << "it is still open";
}
#endif

// Makes each openat(2) of this process fail with this error, permanently.
void LetOpeningFail(int error_number) {
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_openat, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<unsigned>(error_number)),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  sock_fprog program{.len = std::size(filter), .filter = filter};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
    ::_exit(99);
  }
}

// The exit status of a command whose input cannot be reopened for this reason.
int StatusOfNext(RunInput& input, int error_number) {
  const pid_t child = ::fork();
  if (child == 0) {
    LetOpeningFail(error_number);
    const auto next = input.Next();
    ::_exit(next ? 0 : ExitStatus(next.error().code));
  }
  return ShellStatus(Reap(child));
}

TEST_F(RunInputTest, ReportsThatTheMachineHasTooManyFilesOpen) {
  const UniqueFd file(::open(WriteLines("a\n").c_str(), O_RDONLY | O_CLOEXEC));
  const AsStandardInput ours(file.get());
  auto input = RunInput::Open({.runs = 2});
  ASSERT_TRUE(input) << input.error().message;
  EXPECT_EQ(StatusOfNext(*input, ENFILE), 69);
  EXPECT_EQ(StatusOfNext(*input, ENOMEM), 69);
  // Another process opened the file: the runs share its offset, which is reset.
  EXPECT_EQ(StatusOfNext(*input, EACCES), 0);
}

TEST_F(RunInputTest, AClosedStandardInputIsAnEmptyInput) {
  const UniqueFd saved(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3));
  ::close(STDIN_FILENO);
  auto input = RunInput::Open({.runs = 2});
  ::dup2(saved.get(), STDIN_FILENO);
  ASSERT_TRUE(input) << input.error().message;
  EXPECT_EQ(input->Next().value(), kNowhere);
}

TEST_F(RunInputTest, NamesAnInputThatCannotBeRead) {
  const auto missing = RunInput::Open({.file = directory_.path() / "missing", .runs = 1});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(missing.error().message, HasSubstr("missing"));
  EXPECT_FALSE(RunInput::Open({.file = directory_.path(), .runs = 1}));
}

}  // namespace
}  // namespace fieldcost
