#include "aggregator/operate/command_line.h"

namespace fieldcost::aggregator {

const std::string_view kHelpText =
    R"(fieldcost-aggregator: sums what agents measured, and publishes it.

Usage:
  fieldcost-aggregator [serve] --config FILE   take batches, publish, until SIGTERM
  fieldcost-aggregator verify --config FILE    read all files of the store, re-add and check what is in
                                               them; changes nothing
  fieldcost-aggregator recover --config FILE [--drop-damaged]
                                               after a start was refused since a log is damaged: say
                                               what is lost with it; with --drop-damaged go on without
  fieldcost-aggregator publish --config FILE   publish the newest sums now
  fieldcost-aggregator compact --config FILE   rewrite the store without what is deleted
  fieldcost-aggregator expire --config FILE --before WEEK [--yes]
                                               show what of weeks before WEEK would be removed; with
                                               --yes remove it
  fieldcost-aggregator revoke --config FILE NAME [--withdraw [--dry-run]]
                                               take no more batches of the agent that the log has
                                               called NAME in the last 7 days, or whose public key
                                               (64 hex digits) it is; --withdraw also takes out what
                                               it has contributed
  fieldcost-aggregator backup --config FILE --to DIR [--without-signing-keys]
                                               add a backup of the store, keys and policy to DIR
  fieldcost-aggregator restore --config FILE --from DIR
                                               the newest backup in DIR becomes the data directory,
                                               which must be empty
  fieldcost-aggregator policy sign --config FILE POLICY
                                               sign POLICY (TOML; see deploy/config/policy.toml) as
                                               the next version and publish it
  fieldcost-aggregator policy show --config FILE
                                               print the policy in force, in the form that sign takes
  fieldcost-aggregator keys show --config FILE
                                               print every signing key, its file, and when they expire
  fieldcost-aggregator keys rotate --config FILE ROLE [--root-key FILE]...
                                               make another key for ROLE (timestamp, snapshot, policy,
                                               root) and the next root, signed with the root key
  fieldcost-aggregator keys add-policy --config FILE [--root-key FILE]...
                                               make a policy key where there is none yet
  fieldcost-aggregator keys renew --config FILE [--root-key FILE]...
                                               the same keys for another year
  fieldcost-aggregator keys export-offline --config FILE ROLE --to DIR
                                               move the keys of ROLE (root or policy), which the
                                               service does not need, out of its reach into DIR
  fieldcost-aggregator demo --data DIR [--seed N] [--agents N] [--last-week N] [--profile FILE]
                                               fill the empty directory DIR with a synthetic fleet's
                                               costs and publish them, plainly labelled; no
                                               configuration needed, one is written to DIR

restore and recover need the server stopped. The others work beside a running one: what needs the store is
asked of it through the admin listener of the same configuration ([admin]).

Options:
  --config FILE    configuration (TOML); see deploy/config/aggregator.toml
  --check-config   read the configuration, say whether it is good, and end
  --root-key FILE  a root key to sign with, once for each that is needed; without it those in
                   DATA_DIR/keys/root*.key
  --offline DIR    policy sign, keys: where the files of root and policy keys are, and new ones are made,
                   if not in DATA_DIR/keys
  --keys N         keys rotate root: make N root keys (default 1)
  --threshold K    keys rotate root: K of them must sign from then on (default 1)
  --without-signing-keys
                   backup: leave timestamp.key, snapshot.key and policy.key out (the root key always
                   is); after a restore, put them back or rotate them
  --drop-damaged   recover: cut the log off where it is damaged; what is cut off is kept beside the
                   store, in DATA_DIR/damaged.N
  --withdraw       revoke: take out all that the agent contributed, as if it had never come;
                   interrupted, run it again
  --dry-run        revoke --withdraw: change nothing, show what it would change
  --before WEEK    expire: the first week whose rows stay: its number, counted from 1970-01-01, a
                   Thursday, or a day in it, as in 2026-11-19; not beyond store.retention_weeks
  --yes            expire: do it; what is removed does not come back, so make a backup first
  --data DIR       demo: the directory to make
  --seed N         demo: another fleet, by chance (default 1); the same seed gives the same costs
  --agents N       demo: how many machines, 20 to 20000 (default 480)
  --profile FILE   demo: also write the profile of one more machine, which is too slow in two
                   functions, for fieldcost check
  --last-week N    demo: the last of the 12 weeks, counted from 1970-01-01 (default 2967)
  --json           print one JSON object
  --help           this text
  --version        the version

Signals: SIGTERM, SIGINT  finish what is in progress, save, end with status 0
         SIGUSR1          publish now
         SIGHUP           read certificate and tokens again

Examples:
  fieldcost-aggregator --config /etc/fieldcost/aggregator.toml
  fieldcost-aggregator --config aggregator.toml --check-config
  fieldcost-aggregator verify --config aggregator.toml
  fieldcost-aggregator recover --config aggregator.toml --drop-damaged
  fieldcost-aggregator expire --config aggregator.toml --before 2026-05-21
  fieldcost-aggregator backup --config aggregator.toml --to /srv/backups/fieldcost
  fieldcost-aggregator restore --config new.toml --from /srv/backups/fieldcost
  fieldcost-aggregator revoke --config aggregator.toml 33dde1a70f09fcb9 --withdraw --dry-run
  fieldcost-aggregator policy sign --config aggregator.toml policy.toml
  fieldcost-aggregator keys show --config aggregator.toml --json
  fieldcost-aggregator keys rotate --config aggregator.toml timestamp --root-key /media/key/root.key
  fieldcost-aggregator keys rotate --config aggregator.toml root --keys 3 --threshold 2
  fieldcost-aggregator keys export-offline --config aggregator.toml root --to /media/key
  fieldcost-aggregator policy sign --config aggregator.toml policy.toml --offline /media/key
  fieldcost-aggregator demo --data demo --seed 7
  kill -USR1 $(pidof fieldcost-aggregator)

Exit status: 0 done; 1 verify found a problem; otherwise as in sysexits(3): 64 wrong use or
configuration, 65 damaged data, 66 there is no such thing, e.g. no policy, 69 the server does not
answer, 73 the data directory is in use, or not empty, 74 the disk failed, 76 a key is not the
root's, 77 no permission.
)";

}  // namespace fieldcost::aggregator
