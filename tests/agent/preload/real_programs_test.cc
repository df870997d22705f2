#include <unistd.h>

#include <fstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/agent/preload/preload_fixture.h"

// Programs found on the machine, one deterministic workload each, while slice after slice of a
// library's functions is measured: what they print and how they end must not change.

namespace fieldcost::testing {
namespace {

struct Program {
  const char* name;
  const char* path;
  const char* script;  // run by /bin/sh without the library; $RUN program is run with it
  const char* input;
};

// In a directory of their own that holds `text`, 2,000 lines.
constexpr Program kPrograms[] = {
    {"sqlite3", "/usr/bin/sqlite3", "$RUN :memory:",
     "create table t(a integer primary key, b text); begin;"
     "insert into t select value, hex(value * 7919) from generate_series(1, 2000); commit;"
     "create index i on t(b); select count(*), min(b), max(b), sum(length(b)) from t;"
     "select printf('%.6f', avg(a * 1.5)) from t where b like '3%'; select * from missing;"},
    {"python3", "/usr/bin/python3",
     "$RUN -c 'import json, re, zlib, hashlib, sqlite3, threading\n"
     "d = {str(i): [i * 0.5, chr(97 + i % 26)] for i in range(500)}\n"
     "t = json.dumps(d); assert json.loads(t) == d\n"
     "print(zlib.crc32(zlib.compress(t.encode())), hashlib.sha256(t.encode()).hexdigest())\n"
     "print(len(re.findall(r\"[a-f]\", t)), sqlite3.connect(\":memory:\").execute(\"select 6*7\")"
     ".fetchone())\n"
     "w = [threading.Thread(target=sorted, args=(list(d),)) for _ in range(4)]\n"
     "[x.start() for x in w]; [x.join() for x in w]\n"
     "raise ValueError(len(t))'",
     ""},
    {"git", "/usr/bin/git",
     "export HOME=$PWD GIT_AUTHOR_DATE=@1700000000 GIT_COMMITTER_DATE=@1700000000; rm -rf repo; "
     "$RUN init -q -b m repo && cp text repo/ && $RUN -C repo add text && "
     "$RUN -C repo -c user.name=a -c user.email=b commit -q -m c && $RUN -C repo log --stat && "
     "$RUN -C repo fsck --strict && $RUN -C repo diff HEAD~9",
     ""},
    {"openssl", "/usr/bin/openssl",
     "$RUN dgst -sha256 text; $RUN enc -aes-256-cbc -K 00112233 -iv 00 -in text | md5sum; "
     "$RUN prime 1000003",
     ""},
    {"curl", "/usr/bin/curl", "$RUN -sS file://$PWD/text; $RUN -sS file://$PWD/missing", ""},
    {"gzip", "/usr/bin/gzip", "$RUN -nc9 text | md5sum; $RUN -nc text | $RUN -dc; $RUN -d text",
     ""},
    {"xz", "/usr/bin/xz", "$RUN -c1 -T2 text | md5sum; $RUN -c0 text | $RUN -dc", ""},
    {"zstd", "/usr/bin/zstd", "$RUN -qc -T2 text | md5sum; $RUN -qc text | $RUN -qdc", ""},
    {"perl", "/usr/bin/perl",
     "$RUN -e 'open F, \"text\"; my %h; while (<F>) { $h{$1}++ while /(\\d)/g } "
     "print \"$_ $h{$_}\\n\" for sort keys %h; eval { die \"x\\n\" }; print $@; exit 3'",
     ""},
    {"sort", "/usr/bin/sort", "$RUN -k2 -n text; $RUN --parallel=2 -u text; $RUN missing", ""},
    {"grep", "/usr/bin/grep", "$RUN -cE '(7|3){2}' text; $RUN -o 'line 1.*9' text", ""},
    {"sed", "/usr/bin/sed", "$RUN -n 's/\\(l\\)ine \\([0-9]*\\)7/\\2\\1/p' text", ""},
    {"gcc", "/usr/bin/gcc", "echo 'int f(int a) { return a * 3; }' | $RUN -xc -O2 -S -o- -", ""},
};

// A slice is what a run measures: together they pick every function that may be picked.
constexpr const char* kSlices[] = {
    "libc.so.6!_*",
    "libc.so.6!a*,libc.so.6!b*,libc.so.6!c*",
    "libc.so.6!d*,libc.so.6!e*",
    "libc.so.6!f*",
    "libc.so.6!g*,libc.so.6!h*,libc.so.6!i*",
    "libc.so.6!j*,libc.so.6!k*,libc.so.6!l*,libc.so.6!m*",
    "libc.so.6!n*,libc.so.6!o*,libc.so.6!p*",
    "libc.so.6!q*,libc.so.6!r*",
    "libc.so.6!s*",
    "libc.so.6!t*,libc.so.6!u*",
    "libc.so.6!v*,libc.so.6!w*,libc.so.6!x*",
    "libsqlite3.so.0!*",
    "libssl.so.3!*",
    "libcrypto.so.3!*",
    "libz.so.1!*,libzstd.so.1!*,liblzma.so.5!*",
    "libstdc++.so.6!*",
    "libm.so.6!*,libcurl.so.4!*,libselinux.so.1!*,libpcre2-8.so.0!*,libreadline.so.8!*",
    "*",
};

class RealProgramTest : public PreloadTest, public ::testing::WithParamInterface<Program> {
 protected:
  ProcessResult Run(const std::string& pick) const {
    const Program& program = GetParam();
    std::string run = program.path;
    if (!pick.empty()) {
      run = "env LD_PRELOAD=" + kLibrary + " FIELDCOST_STATE_DIR=" + state_dir_.path().string() +
            " FIELDCOST_METRICS=time,alloc FIELDCOST_PICK=" + pick + " " + run;
    }
    return RunProcess({.arguments = {"/bin/sh", "-f", "-c", program.script},
                       .environment = {{"RUN", run}, {"LC_ALL", "C"}},
                       .directory = work_.path(),
                       .input = program.input});
  }

  TempDir work_;
};

TEST_P(RealProgramTest, SaysTheSameWhateverIsMeasured) {
  if (::access(GetParam().path, X_OK) != 0) GTEST_SKIP() << GetParam().path << " is not here";
  {
    std::ofstream text(work_.path() / "text");
    for (int i = 0; i < 2000; ++i) text << "line " << i << ' ' << i * 7919 % 2003 << '\n';
  }
  const ProcessResult plain = Run("");
  EXPECT_NE(plain.output + plain.errors, "");
  std::size_t picked = 0;
  for (const char* const slice : kSlices) {
    SCOPED_TRACE(slice);
    const ProcessResult measured = Run(slice);
    EXPECT_EQ(measured.output, plain.output);
    EXPECT_EQ(measured.errors, plain.errors);
    EXPECT_EQ(measured.exit_status, plain.exit_status);
    EXPECT_EQ(measured.signal, plain.signal);
    for (const auto& file : std::filesystem::directory_iterator(state_dir_.path() / "runs")) {
      shm::RunHeader header{};
      std::ifstream(file.path(), std::ios::binary)
          .read(reinterpret_cast<char*>(&header), sizeof header);
      picked = std::max<std::size_t>(picked, header.pick_count);
      std::filesystem::remove(file.path());
    }
  }
  EXPECT_GT(picked, 10U);
  std::cout << GetParam().name << ": up to " << picked << " functions at once\n";
}

INSTANTIATE_TEST_SUITE_P(Programs, RealProgramTest, ::testing::ValuesIn(kPrograms),
                         [](const auto& program) { return std::string(program.param.name); });

}  // namespace
}  // namespace fieldcost::testing
