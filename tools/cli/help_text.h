#pragma once

// What stands above and below the options in `--help`.

namespace fieldcost::cli::help {

inline constexpr char kAbout[] =
    "fieldcost: what library functions really cost, measured in the field.\n"
    "Nothing is measured or sent unless you switch it on (fieldcost agent on).";

inline constexpr char kMain[] =
    "Examples:\n"
    "  fieldcost agent local                 measure on this machine, send nothing\n"
    "  fieldcost run -- sqlite3 my.db        run a program and measure a few of its APIs\n"
    "  fieldcost agent session on            from the next login on, without `run`\n"
    "  fieldcost sync --full                 fetch the published catalogue\n"
    "  fieldcost top --limit 40              the dearest APIs\n"
    "  fieldcost show sqlite3_step           one API in detail\n"
    "  fieldcost search prepare              APIs with that in their names\n"
    "  fieldcost diff sqlite3                what its newest version has changed\n"
    "\n"
    "Exit status:\n"
    "  0 success; 1 the answer is no (agent explain: cannot be measured; agent forget: not all\n"
    "  could be taken back, or you said no; check: something is worse; diff: something takes\n"
    "  more); 2 check, diff: too little data for everything; 64 wrong usage or argument; 65\n"
    "  corrupt or oversized data; 66 not found (no catalogue, unknown API or version, no such\n"
    "  batch); 69 server not available; 70 internal error; 73\n"
    "  exists already; 74 disk or socket failure; 75 not finished in time; 76 a signature or\n"
    "  certificate does not verify; 77 permission denied; 78 not supported.\n"
    "  `fieldcost run` exits as its program does\n"
    "  (127 program not found, 126 cannot be run, 128+N ended by signal N as a shell shows it).\n"
    "\n"
    "Environment: FIELDCOST_HOME (another profile directory), FIELDCOST_PRELOAD_LIBRARY,\n"
    "FIELDCOST_QUIET (no remark when nothing is measured), NO_COLOR, FIELDCOST_PAGER, PAGER, LESS.";

inline constexpr char kAgent[] =
    "Examples:\n"
    "  fieldcost agent status\n"
    "  fieldcost agent session on    measure programs of the next logins, not only under `run`\n"
    "  fieldcost agent log           what was sent, and when\n"
    "  fieldcost agent off           stop measuring, delete what was not sent\n"
    "  fieldcost agent forget        take back what was sent";

inline constexpr char kOn[] =
    "What is sent: names and versions of public libraries and functions, sums of their costs,\n"
    "the week, and the machine's coarse class. Example:\n"
    "  fieldcost agent on && fieldcost agent preview";

inline constexpr char kLocal[] =
    "Example:\n  fieldcost agent local && fieldcost run -- make && fieldcost top --local";

inline constexpr char kOff[] =
    "The files of `fieldcost agent session on` stay: the library does nothing while off. What was\n"
    "sent stays with the service: fieldcost agent forget.\n"
    "Example:\n  fieldcost agent off && fieldcost agent session off";

inline constexpr char kStatus[] =
    "Examples:\n"
    "  fieldcost agent status\n"
    "  fieldcost agent status --programs\n"
    "  fieldcost agent status --json";

inline constexpr char kExplain[] =
    "Exit status 1: it cannot be measured.\n"
    "Examples:\n"
    "  fieldcost agent explain sudo\n"
    "  fieldcost agent explain $$";

inline constexpr char kSession[] =
    "Opt-in. Writes only into your own directories; off restores every byte.\n"
    "Examples:\n"
    "  fieldcost agent local && fieldcost agent session on\n"
    "  fieldcost agent session status";

inline constexpr char kSessionOn[] =
    "Copies the measuring library into the state directory; writes "
    "environment.d/60-fieldcost.conf\n"
    "(desktop, user services) and session.sh (login shells), and adds one marked line to\n"
    "~/.profile, and to ~/.bash_profile, ~/.bash_login and ~/.zprofile if you have them.\n"
    "Run it again after an upgrade to refresh the copy. Example:\n"
    "  fieldcost agent session on";

inline constexpr char kSessionOff[] =
    "The library itself stays as long as programs of running sessions name it: without it each\n"
    "would print a complaint of the dynamic linker. Example:\n"
    "  fieldcost agent session off";

inline constexpr char kSessionStatus[] = "Example:\n  fieldcost agent session status --json";

inline constexpr char kPreview[] =
    "Examples:\n"
    "  fieldcost agent preview\n"
    "  fieldcost agent preview --raw | zstd -d | protoc --decode_raw";

inline constexpr char kLog[] =
    "Ids count the batches of this machine and never leave it. Examples:\n"
    "  fieldcost agent log\n"
    "  fieldcost agent log 7\n"
    "  fieldcost agent log 7 --raw | sha256sum";

inline constexpr char kView[] =
    "One file that needs no network, no script and no server. Examples:\n"
    "  fieldcost agent view --open\n"
    "  fieldcost agent view --output costs.html";

inline constexpr char kForget[] =
    "The service subtracts exactly what this agent sent; nothing is left of it in its sums. What\n"
    "was published before stays in other people's copies until their next sync. The mode stays as\n"
    "it is. If it is interrupted, run it again. Exit status 1: not all could be taken back.\n"
    "Examples:\n"
    "  fieldcost agent forget\n"
    "  fieldcost agent off && fieldcost agent forget --yes";

inline constexpr char kEnrol[] =
    "For services that take batches of invited agents only. The token is never an argument, where\n"
    "other users of the machine could see it. Examples:\n"
    "  fieldcost agent enrol --token-file token.txt\n"
    "  pass show fieldcost | fieldcost agent enrol --token-file -";

inline constexpr char kRun[] =
    "Form: fieldcost run [OPTIONS] -- PROGRAM [ARGUMENT...]\n"
    "What it measures is shown by `fieldcost top --local`, and stays on this machine, but for\n"
    "what would have been measured anyway (1 run in 16, by chance).\n"
    "Examples:\n"
    "  fieldcost run -- python3 report.py\n"
    "  fieldcost run --pick 'libsqlite3.so.0!sqlite3_*' -- sqlite3 my.db < script.sql\n"
    "  fieldcost run --pick 'libz.so.1!deflate' --metrics time,alloc,io -- git gc";

inline constexpr char kSync[] =
    "Examples:\n"
    "  fieldcost sync           today's share, at most once a day\n"
    "  fieldcost sync --full\n"
    "  fieldcost sync --api 'libsqlite3.so.0!sqlite3_step'";

inline constexpr char kShow[] =
    "Examples:\n"
    "  fieldcost show sqlite3_step\n"
    "  fieldcost show sqlite3_step --of-version '3.40*' --metric wall_time\n"
    "  fieldcost show sqlite3_step --csv > step.csv\n"
    "  fieldcost show 'libsqlite3.so.0!sqlite3_step' --json";

inline constexpr char kHist[] =
    "Examples:\n"
    "  fieldcost hist sqlite3_step\n"
    "  fieldcost hist malloc --metric alloc_inclusive --csv";

inline constexpr char kSpectrum[] =
    "Every line has the same scale, from cold (cheap, left, blue) to hot (dear, right, red);\n"
    "height and strength of colour say how often. Examples:\n"
    "  fieldcost spectrum deflate inflate crc32\n"
    "  fieldcost spectrum --library libz.so.1 --limit 40";

inline constexpr char kSearch[] =
    "Capital and small letters are the same; in front of a ! stands the library. Examples:\n"
    "  fieldcost search prepare\n"
    "  fieldcost search 'sqlite3_*_v2' --sort name --limit 0\n"
    "  fieldcost search 'libz!flate' --csv";

inline constexpr char kTop[] =
    "Examples:\n"
    "  fieldcost top --limit 40\n"
    "  fieldcost top --library 'libsqlite3*' --sort p99\n"
    "  fieldcost top --limit 0 --csv > costs.csv\n"
    "  fieldcost top --local --json";

inline constexpr char kCheck[] =
    "Both tests must agree before an API is called worse: one on calls, one on machines. Nothing "
    "is\n"
    "fetched. The result is kept for editors. Exit status 1: something is worse; 2: too little "
    "data\n"
    "for everything. Examples:\n"
    "  fieldcost check\n"
    "  fieldcost check --explain 'libsqlite3.so.0!sqlite3_step'\n"
    "  fieldcost check --tree perf.folded\n"
    "  fieldcost check --save before.profile\n"
    "  fieldcost check before.profile --metric alloc_inclusive --csv";

inline constexpr char kDiff[] =
    "Machines are compared, within each hardware class that is published for both versions.\n"
    "Without NEW it is the newest version, without OLD the one before it. Exit status 1: "
    "something\n"
    "is slower or takes more; 2: too little data for everything. Examples:\n"
    "  fieldcost diff sqlite3\n"
    "  fieldcost diff libsqlite3.so.0 3.40 3.45 --metric wall_time\n"
    "  fieldcost diff libz.so.1 --all --csv > changes.csv";

inline constexpr char kReport[] =
    "Example:\n  fieldcost report vendor --library libz.so.1 --output zlib.html";

inline constexpr char kReportVendor[] =
    "From the local catalogue alone; the same catalogue gives the same bytes (but for the age in\n"
    "text). Examples:\n"
    "  fieldcost report vendor --library sqlite3\n"
    "  fieldcost report vendor --library 'libboost_*' --by both --output boost.html\n"
    "  fieldcost report vendor --library libz.so.1 --baseline 1:1.2.11 --format csv";

inline constexpr char kDocs[] =
    "Examples:\n"
    "  fieldcost docs cards --output cards --library libz.so.1\n"
    "  fieldcost docs doxygen html --tag-file zlib.tag --library libz.so.1";

inline constexpr char kDocsCards[] =
    "For each API: SYMBOL.light.svg, .dark.svg, .html and .md in a directory of its library, and\n"
    "index.html, index.md, index.json. TEMPLATE: {soname}, {symbol} and {version} are filled in,\n"
    "percent-encoded. The same catalogue gives the same bytes. Example:\n"
    "  fieldcost docs cards --output cards --url 'https://costs.example/api/{soname}!{symbol}'";

inline constexpr char kDocsDoxygen[] =
    "DIRECTORY is what Doxygen wrote (HTML_OUTPUT), FILE its GENERATE_TAGFILE. Each function that\n"
    "the catalogue knows gets its card; run it again after a sync, cards are replaced. Example:\n"
    "  fieldcost docs doxygen html --tag-file zlib.tag --library 'libz.so.*'";

inline constexpr char kMan[] =
    "The page of that function with a section COST at its end, or that section alone if there is\n"
    "no page, through man(1) and its pager. Examples:\n"
    "  fieldcost man sqlite3_step\n"
    "  fieldcost man libz.so.1!inflate --roff > inflate.3";

inline constexpr char kCompletion[] =
    "Names of APIs come from the local catalogue; nothing is fetched. Examples:\n"
    "  source <(fieldcost completion bash)\n"
    "  fieldcost completion zsh > ~/.zsh/functions/_fieldcost\n"
    "  fieldcost completion fish > ~/.config/fish/completions/fieldcost.fish";

}  // namespace fieldcost::cli::help
