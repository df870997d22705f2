#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/agent/preload/preload_fixture.h"
#include "tests/support/binary_dir.h"

// Programs map and write files only in memory, or measure nothing: on other file systems a store
// may raise a signal long after the page was created.

namespace fieldcost::testing {
namespace {

using ::testing::IsEmpty;

// The contents of a directory, without following links.
std::set<std::string> Listing(const std::filesystem::path& directory) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
    names.insert(entry.path().lexically_relative(directory).string());
  }
  return names;
}

bool IsOnMemory(const std::filesystem::path& path) {
  struct statfs found {};
  constexpr long kTmpfs = 0x01021994;
  constexpr long kRamfs = 0x858458f6;
  return ::statfs(path.c_str(), &found) == 0 && (found.f_type == kTmpfs || found.f_type == kRamfs);
}

class MemoryTest : public PreloadTest {
 protected:
  // Programs are configured to write there.
  void PutMemory(const std::filesystem::path& root, const std::filesystem::path& directory) {
    MakeStateDirectory(state_dir_.path(), {.modules = {"libvictim.so.1"},
                                           .max_run_files = 64,
                                           .max_leases = 6,
                                           .memory_root = root,
                                           .memory_dir = directory});
  }
  void PutMemory(const std::filesystem::path& directory) { PutMemory(directory, directory); }

  // Checks both manual picks and draws.
  void ExpectUnmeasured(const std::filesystem::path& directory) {
    const auto before = Listing(directory);
    const ProcessResult plain = RunProcess({.arguments = {kVictim, "calls"}});
    for (const char* pick : {kAllOfVictim, ""}) {
      const ProcessResult result = RunProcess(Measured({kVictim, "calls"}, pick));
      EXPECT_EQ(result.output, plain.output);
      EXPECT_EQ(result.errors, plain.errors);
      EXPECT_EQ(result.exit_status, plain.exit_status);
    }
    EXPECT_EQ(Listing(directory), before) << "nothing was made";
  }

  static void MakeSkipFile(const std::filesystem::path& directory) {
    shm::SkipFile skips{};
    std::memcpy(skips.magic, shm::kSkipMagic, sizeof skips.magic);
    std::ofstream(directory / shm::kSkipFileName, std::ios::binary)
        .write(reinterpret_cast<const char*>(&skips), sizeof skips);
  }

  // Runs a script in its own mount namespace, with further arguments after $0.
  static ProcessResult InNamespace(const std::string& script, std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"unshare", "-m", "/bin/sh", "-c", script, "sh"});
    return RunProcess({.arguments = std::move(arguments)});
  }
};

TEST_F(MemoryTest, AvoidsFileSystemsThatCanFault) {
  const TempDir disk(FIELDCOST_BINARY_DIR);
  if (IsOnMemory(disk.path())) GTEST_SKIP() << "the build directory is on tmpfs";
  std::filesystem::create_directory(disk.path() / "runs");
  MakeSkipFile(disk.path());
  PutMemory(disk.path());
  ExpectUnmeasured(disk.path());
  EXPECT_EQ(SkippedRuns(disk.path(), shm::Skip::kNoRunFile), 0U)
      << "the directory on disk is not used either";
}

TEST_F(MemoryTest, AvoidsMountsInsideTheRoot) {
  const TempDir disk(FIELDCOST_BINARY_DIR);
  if (IsOnMemory(disk.path())) GTEST_SKIP() << "the build directory is on tmpfs";
  const ProcessResult result = InNamespace(
      "mount --bind $1 $2/runs && export LD_PRELOAD=$3 FIELDCOST_STATE_DIR=$2 "
      "FIELDCOST_PICK='libvictim.so.1!*' && exec $4 calls",
      {disk.path(), state_dir_.path(), kLibrary, kVictim});
  if (result.errors.starts_with("unshare:")) {
    GTEST_SKIP() << "no mount namespace: " << result.errors;
  }
  EXPECT_EQ(result.output, RunProcess({.arguments = {kVictim, "calls"}}).output);
  EXPECT_EQ(result.errors, "");
  EXPECT_THAT(Listing(disk.path()), IsEmpty());
  EXPECT_EQ(SkippedRuns(state_dir_.path(), shm::Skip::kNoRunFile), 1U);
}

TEST_F(MemoryTest, DirectoriesThatAreMissingAreMadeForTheUserAlone) {
  const TempDir parent(kMemory);
  const auto root = parent.path() / "fieldcost";
  const auto directory = root / "home" / "user" / "state";
  PutMemory(root, directory);
  ProcessOptions options =
      Measured({"/bin/sh", "-c", "umask 0777; exec " + kVictim + " calls"}, kAllOfVictim);
  EXPECT_EQ(RunProcess(options).output, RunProcess({.arguments = {kVictim, "calls"}}).output);
  EXPECT_EQ(Listing(directory / "runs").size(), 1U);
  for (auto path = directory / "runs"; path != parent.path(); path = path.parent_path()) {
    struct stat info {};
    ASSERT_EQ(::lstat(path.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 07777, 0700U) << path;
  }
}

TEST_F(MemoryTest, AvoidsForeignOrOpenRoots) {
  const TempDir parent(kMemory);
  const auto root = parent.path() / "root";
  PutMemory(root);
  std::filesystem::create_directories(root / "runs");
  ASSERT_EQ(::chmod(root.c_str(), 0755), 0);
  ExpectUnmeasured(root);
  ASSERT_EQ(::chmod(root.c_str(), 0700), 0);
  std::filesystem::rename(root, parent.path() / "elsewhere");
  std::filesystem::create_directory_symlink("elsewhere", root);
  ExpectUnmeasured(parent.path());
  std::filesystem::remove(root);
  std::ofstream(root) << "a file";
  ExpectUnmeasured(parent.path());
  std::filesystem::remove(root);
  std::filesystem::rename(parent.path() / "elsewhere", root);
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a directory to another user";
  ASSERT_EQ(::chown(root.c_str(), 65534, 65534), 0);
  ExpectUnmeasured(root);
  ASSERT_EQ(::chown(root.c_str(), 0, 0), 0);
  EXPECT_EQ(RunProcess(Measured({kVictim, "calls"}, kAllOfVictim)).exit_status, 0);
  EXPECT_EQ(Listing(root / "runs").size(), 1U) << "it was that and nothing else";
}

TEST_F(MemoryTest, LeavesLinksAndFilesInItsPlaceAlone) {
  const auto runs = state_dir_.path() / "runs";
  const TempDir elsewhere(kMemory);
  std::filesystem::remove(runs);
  std::filesystem::create_directory_symlink(elsewhere.path(), runs);
  const ProcessResult plain = RunProcess({.arguments = {kVictim, "calls"}});
  EXPECT_EQ(RunProcess(Measured({kVictim, "calls"}, kAllOfVictim)).output, plain.output);
  std::filesystem::remove(runs);
  std::ofstream(runs) << "a file";
  EXPECT_EQ(RunProcess(Measured({kVictim, "calls"}, kAllOfVictim)).output, plain.output);
  EXPECT_EQ(SkippedRuns(state_dir_.path(), shm::Skip::kNoRunFile), 2U);
  EXPECT_THAT(Listing(elsewhere.path()), IsEmpty());
}

// The counters of skipped runs may be in a file with holes.
TEST_F(MemoryTest, SkipFileWithHolesOnFullMemoryRaisesNoSignal) {
  const TempDir scratch;
  PutMemory(scratch.path());
  const ProcessResult result = InNamespace(
      "mount -t tmpfs -o size=32k,mode=700 none $1 && mkdir $1/runs && "
      "truncate -s 576 $1/skips && { cat /dev/zero > $1/filler 2> /dev/null; "
      "export LD_PRELOAD=$3 FIELDCOST_STATE_DIR=$2 FIELDCOST_PICK='libvictim.so.1!*'; "
      "exec $4 calls; }",
      {scratch.path(), state_dir_.path(), kLibrary, kVictim});
  if (result.errors.starts_with("unshare:")) {
    GTEST_SKIP() << "no mount namespace: " << result.errors;
  }
  EXPECT_EQ(result.output, RunProcess({.arguments = {kVictim, "calls"}}).output);
  EXPECT_EQ(result.errors, "");
  EXPECT_EQ(result.exit_status, 0);
}

// A real copy-on-write disk that fills up, or reaches a quota, while programs measure, with their
// state directory on it. Arguments: $1 the image, $2 where it is mounted, $3 "full" or "quota", $4
// the state directory to copy, $5 the library, $6 the victim's script; the rest are variables.
constexpr char kDisk[] = R"sh(
image=$1 mnt=$2 how=$3 from=$4 library=$5 victim=$6
truncate -s 160M "$image" && mkfs.btrfs -q "$image" > /dev/null 2>&1 || { echo "mkfs.btrfs:"; exit 3; }
mount -o loop "$image" "$mnt" 2> "$image.log" || { echo "mount:" $(cat "$image.log"); exit 3; }
mkdir "$mnt/state" && cp -a "$from/." "$mnt/state/" && mkdir -p "$mnt/state/runs"
chmod 700 "$mnt/state"
if [ "$how" = quota ]; then
  btrfs quota enable "$mnt" && btrfs subvolume create "$mnt/limited" > /dev/null &&
    mv "$mnt/state" "$mnt/limited/" && btrfs qgroup limit 8M "$mnt/limited" || exit 4
  mnt=$mnt/limited
fi
export LD_PRELOAD="$library" FIELDCOST_STATE_DIR="$mnt/state"
for i in 1 2 3; do
  FIELDCOST_PICK='libz.so.1!crc32' python3 "$victim" "$mnt/filler$i" "$mnt" > "$image.$i" 2>&1 &
  eval "pid$i=$!"
done
unset FIELDCOST_PICK
python3 "$victim" "$mnt/filler0" "$mnt"; echo "exit $?"
for i in 1 2 3; do eval wait '$pid'$i; echo "exit $?"; cat "$image.$i"; done
)sh";

// Calls, fills the disk, makes the kernel write everything back, and calls again.
constexpr char kFiller[] = R"py(
import ctypes, os, sys, zlib
def call():
    return sum(zlib.crc32(b"x" * 100) for i in range(1000))
print(call())
out = os.open(sys.argv[2], os.O_RDONLY)
for size in (1 << 20, 4096):
    try:
        filler = os.open(sys.argv[1], os.O_CREAT | os.O_WRONLY | os.O_APPEND)
        while True:
            os.write(filler, os.urandom(size))
    except OSError:
        pass
for i in range(5):
    ctypes.CDLL(None).syncfs(out)
    print(call())
)py";

class DiskTest : public MemoryTest, public ::testing::WithParamInterface<const char*> {
 protected:
  // Runs measured programs on a disk of this kind, configured to write to `directory`.
  void Run(const std::filesystem::path& directory) {
    MakeStateDirectory(state_dir_.path(), {.modules = {"libz.so.1", "libc.so.6"},
                                           .max_leases = 6,
                                           .data_slots = 1,
                                           .memory_root = directory,
                                           .memory_dir = directory});
    const std::string script = work_.path() / "victim.py";
    std::ofstream(script) << kFiller;
    result_ = RunProcess(
        {.arguments = {"unshare", "-m", "/bin/sh", "-c", kDisk, "sh", work_.path() / "image",
                       mount_point_, GetParam(), state_dir_.path(), kLibrary, script}},
        std::chrono::seconds(120));
  }

  // Why such a disk cannot be created here; empty if it can.
  std::string Missing() const {
    if (result_.errors.starts_with("unshare:")) return result_.errors;
    return result_.exit_status == 3 ? result_.output : "";
  }

  void ExpectNobodyNoticed() const {
    const std::string calls = RunProcess({.arguments = {"python3", "-c",
                                                        "import zlib\n"
                                                        "print(1000 * zlib.crc32(b'x' * 100))"}})
                                  .output;
    std::string one;
    for (int i = 0; i < 6; ++i) one += calls;
    std::string all = one + "exit 0\n";
    for (int i = 0; i < 3; ++i) all += "exit 0\n" + one;
    EXPECT_EQ(result_.output, all) << result_.errors;
    EXPECT_EQ(result_.errors, "");
  }

  std::string MakeMountPoint() const {
    const auto path = work_.path() / "disk";
    std::filesystem::create_directory(path);
    return path;
  }

  TempDir work_;
  std::string mount_point_ = MakeMountPoint();
  ProcessResult result_;
};

TEST_P(DiskTest, RunFilesInMemoryStayWritableWhenTheDiskFails) {
  const TempDir memory(kMemory);
  Run(memory.path());
  if (!Missing().empty()) GTEST_SKIP() << "no btrfs here: " << Missing();
  ExpectNobodyNoticed();
  const auto runs = ReadRunFiles(memory.path() / "runs");
  ASSERT_GE(runs.size(), 4U) << "what Python starts is measured, too";
  std::size_t with_all_calls = 0;
  for (const RunFileContent& run : runs) {
    if (run.header.flags != shm::kRunForced) continue;
    EXPECT_EQ(run.Of("crc32", shm::Metric::kWallTime).count, 6000U);
    ++with_all_calls;
  }
  EXPECT_EQ(with_all_calls, 3U);
}

TEST_P(DiskTest, RunFilesAreNotPutOnIt) {
  Run(std::filesystem::path(mount_point_) / (GetParam() == std::string("quota") ? "limited" : "") /
      "state");
  if (!Missing().empty()) GTEST_SKIP() << "no btrfs here: " << Missing();
  ExpectNobodyNoticed();
}

INSTANTIATE_TEST_SUITE_P(All, DiskTest, ::testing::Values("full", "quota"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace fieldcost::testing
