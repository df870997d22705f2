// Publications that a reader must refuse, one for each rule, with the kind of the refusal. Both readers must agree.

import { encodeFragment } from './encode_fragment.mjs';
import { field, message } from './encode_protobuf.mjs';
import { DAY_US, NOW_US, Service, keyOf, rootPayload, sha256, signed, timestampPayload } from './encode_metadata.mjs';
import { SIMPLE_ROWS } from './sample_rows.mjs';

const UNAUTHENTICATED = 'unauthenticated';
const CORRUPT = 'corrupt';
const TOO_LARGE = 'too_large';
const UNSUPPORTED = 'unsupported';

const KEYS = Array.from({ length: 17 }, (_, i) => keyOf(200 + i));
const publicKeys = KEYS.map((key) => key.publicKey);
const simple = encodeFragment(SIMPLE_ROWS);
const later = encodeFragment(SIMPLE_ROWS.map((row) => ({ ...row, soname: 'libz.so.2' })));

const publish = (service, bytes = simple) => service.publish([[bytes, SIMPLE_ROWS.length]]);
const publishAgain = (service) => publish(service, later);
const nextRoot = (service, options = {}) => {
  ++service.root.version;
  service.publishRoot(options);
};
const changedRoot = (change) => (service) => nextRoot(service, { change });
const changedTimestamp = (change) => (service) => service.signTimestamp({ change });
const changedSnapshot = (change) => (service) => {
  service.signSnapshot({ change });
  service.signTimestamp();
};

// A signed file with this payload in the place of the next root, the timestamp or the snapshot.
const placeRoot = (bytes) => (service) => service.files.set('/v1/root/2', bytes(service));
const placeTimestamp = (bytes) => (service) => service.files.set('/v1/timestamp', bytes(service));
const placeSnapshot = (bytes) => (service) => {
  const file = bytes(service);
  const hash = sha256(file);
  service.files.set(`/v1/snapshot/${hash.toString('hex')}`, file);
  service.signTimestamp({ change: { snapshotSha256: hash, snapshotBytes: file.length } });
};
const placeFragment = (bytes) => (service) => publish(service, bytes);

const GARBAGE = Uint8Array.from([0xff, 0xff, 0xff, 0xff, 0xff, 0xff]);
const sameVersion = (service) => { --service.snapshot.version; };
const onlyFragment = (service) => [...service.files.keys()].find((path) => path.startsWith('/v1/fragment/'));

const ROOTS = [
  ['expired root', UNAUTHENTICATED, (service) => { service.now = NOW_US + 365n * DAY_US; }],
  ['another pinned root', UNAUTHENTICATED, (service) => {
    service.root.rootKeys = [publicKeys[0]];
    service.rootKeys = [KEYS[0]];
    nextRoot(service);
  }],
  ['root without the old key', UNAUTHENTICATED, (service) =>
    nextRoot(service, { keys: [KEYS[0]], change: { rootKeys: [publicKeys[0]] } })],
  ['root without its own key', UNAUTHENTICATED, (service) =>
    nextRoot(service, { change: { rootKeys: [publicKeys[0]] } })],
  ['root of another version', UNAUTHENTICATED, (service) => service.publishRoot({ at: 2 })],
  ['root of another role', CORRUPT, changedRoot({ role: 'timestamp' })],
  ['root of a newer format', UNSUPPORTED, changedRoot({ formatVersion: 2 })],
  ['root without keys', CORRUPT, changedRoot({ snapshotKeys: [] })],
  ['root with 17 keys', CORRUPT, changedRoot({ timestampKeys: publicKeys })],
  ['root with 17 policy keys', CORRUPT, changedRoot({ policyKeys: publicKeys })],
  ['root with a key twice', CORRUPT, changedRoot({ timestampKeys: [publicKeys[0], publicKeys[0]] })],
  ['root with a short key', CORRUPT, changedRoot({ timestampKeys: [publicKeys[0].slice(1)] })],
  ['root with an empty key', CORRUPT, changedRoot({ timestampKeys: [[]] })],
  ['root with the threshold 0', CORRUPT, changedRoot({ threshold: 0 })],
  ['root with a threshold above its keys', CORRUPT, changedRoot({ threshold: 2 })],
  ['root with a long name', CORRUPT, changedRoot({ name: 'n'.repeat(128) })],
  ['root with a long contact', CORRUPT, changedRoot({ contact: 'n'.repeat(256) })],
  ['root with a long privacy text', CORRUPT, changedRoot({ privacy: 'n'.repeat(4096) })],
  ['root with two lines', CORRUPT, changedRoot({ privacy: 'a\nb' })],
  ['root with a backslash', CORRUPT, changedRoot({ contact: 'a\\b' })],
  ['root with an invisible character', CORRUPT, changedRoot({ name: 'a\u200bb' })],
  ['root that is not UTF-8', CORRUPT, changedRoot({ name: [0x61, 0xff] })],
  ['root that is no message', CORRUPT, placeRoot(() => GARBAGE)],
  ['root with a payload that is no message', CORRUPT, placeRoot((service) => signed(GARBAGE, service.rootKeys))],
  ['root with 17 signatures', TOO_LARGE, (service) =>
    nextRoot(service, { keys: [...service.rootKeys, ...KEYS.slice(1)] })],
  ['root above 64 KiB', TOO_LARGE, placeRoot((service) => Uint8Array.from([
    ...service.files.get('/v1/root/1'), ...field(99, new Uint8Array(65536))]))],
  ['pinned root that has had another content', UNAUTHENTICATED, publish, (service) => {
    service.publishRoot({ change: { name: 'other' } });
    service.pinned = service.files.get('/v1/root/1');
  }],
  ['pinned root of another role', CORRUPT, (service) => {
    service.publishRoot({ change: { role: 'snapshot' } });
    service.pinned = service.files.get('/v1/root/1');
  }],
  ['pinned root without its signature', UNAUTHENTICATED, (service) => {
    service.pinned = signed(rootPayload(service.root), []);
  }],
];

const TIMESTAMPS = [
  ['missing timestamp', 'not_found', (service) => service.files.delete('/v1/timestamp')],
  ['timestamp of a foreign key', UNAUTHENTICATED, (service) => service.signTimestamp({ keys: [KEYS[0]] })],
  ['timestamp of the snapshot key', UNAUTHENTICATED, (service) =>
    service.signTimestamp({ keys: [service.snapshotKey] })],
  ['timestamp with an invalid signature', UNAUTHENTICATED, (service) =>
    service.signTimestamp({ keys: [], forgers: [service.timestampKey] })],
  ['timestamp without a signature', UNAUTHENTICATED, (service) => service.signTimestamp({ keys: [] })],
  ['timestamp with a short signature', UNAUTHENTICATED, placeTimestamp((service) => Uint8Array.from([
    ...field(1, timestampPayload(service.timestamp)),
    ...field(2, message([[1, service.timestampKey.publicKey], [2, new Uint8Array(63)]]))]))],
  ['timestamp of another role', CORRUPT, changedTimestamp({ role: 'snapshot' })],
  ['timestamp of a newer format', UNSUPPORTED, changedTimestamp({ formatVersion: 2 })],
  ['timestamp of the format 0', UNSUPPORTED, changedTimestamp({ formatVersion: 0 })],
  ['expired timestamp', UNAUTHENTICATED, changedTimestamp({ expiresUs: NOW_US })],
  ['timestamp of an earlier century', UNAUTHENTICATED, changedTimestamp({ expiresUs: -1n })],
  ['timestamp with a short hash', CORRUPT, changedTimestamp({ snapshotSha256: new Uint8Array(31) })],
  ['timestamp without a hash', CORRUPT, changedTimestamp({ snapshotSha256: undefined })],
  ['timestamp of a snapshot above 8 MiB', TOO_LARGE, changedTimestamp({ snapshotBytes: 8 * 1024 * 1024 + 1 })],
  ['timestamp that is no message', CORRUPT, placeTimestamp(() => GARBAGE)],
  ['timestamp that ends early', CORRUPT, placeTimestamp((service) => service.files.get('/v1/timestamp').slice(0, -1))],
  ['timestamp above 16 KiB', TOO_LARGE, placeTimestamp((service) => Uint8Array.from([
    ...service.files.get('/v1/timestamp'), ...field(99, new Uint8Array(16384))]))],
  ['older timestamp', UNAUTHENTICATED, publish, changedTimestamp({ version: 1n })],
  ['timestamp with another content', UNAUTHENTICATED, publish,
    (service) => service.signTimestamp({ change: { version: service.timestamp.version - 1n, publishedUs: 5n } })],
];

const SNAPSHOTS = [
  ['missing snapshot', 'not_found', (service) => service.files.delete(service.snapshotPath)],
  ['snapshot of an earlier publication', UNAUTHENTICATED, (service) => {
    const earlier = service.files.get(service.snapshotPath);
    publishAgain(service);
    service.files.set(service.snapshotPath, earlier);
  }],
  ['snapshot that ends early', UNAUTHENTICATED, (service) =>
    service.files.set(service.snapshotPath, service.files.get(service.snapshotPath).slice(0, -1))],
  ['snapshot that is longer', TOO_LARGE, (service) =>
    service.files.set(service.snapshotPath, Uint8Array.from([...service.files.get(service.snapshotPath), 0]))],
  ['snapshot of another size than announced', UNAUTHENTICATED, (service) =>
    service.signTimestamp({ change: { snapshotBytes: service.timestamp.snapshotBytes + 1 } })],
  ['snapshot of another version than announced', UNAUTHENTICATED, changedTimestamp({ snapshotVersion: 9n })],
  ['snapshot of a foreign key', UNAUTHENTICATED, (service) => {
    service.signSnapshot({ keys: [KEYS[0]] });
    service.signTimestamp();
  }],
  ['snapshot of another role', CORRUPT, changedSnapshot({ role: 'root' })],
  ['snapshot of a newer format', UNSUPPORTED, changedSnapshot({ formatVersion: 2 })],
  ['expired snapshot', UNAUTHENTICATED, changedSnapshot({ expiresUs: NOW_US })],
  ['snapshot of 2^17 fragments', TOO_LARGE, changedSnapshot({ bits: 17 })],
  ['snapshot with too few hashes', CORRUPT, changedSnapshot({ bits: 1 })],
  ['snapshot with a short hash', CORRUPT, changedSnapshot({ sha256: [new Uint8Array(31)] })],
  ['snapshot with too many sizes', CORRUPT, changedSnapshot({ bytes: [1, 2] })],
  ['snapshot without numbers of rows', CORRUPT, changedSnapshot({ rows: [] })],
  ['snapshot of a fragment above 4 MiB', TOO_LARGE, changedSnapshot({ bytes: [4 * 1024 * 1024 + 1] })],
  ['snapshot that is no message', CORRUPT, placeSnapshot((service) => signed(GARBAGE, [service.snapshotKey]))],
  ['older snapshot', UNAUTHENTICATED, publishAgain, (service) => {
    service.snapshot.version = 0n;
    publish(service);
  }],
  ['snapshot with another content', UNAUTHENTICATED, publish, (service) => {
    sameVersion(service);
    publishAgain(service);
  }],
];

const FRAGMENTS = [
  ['missing fragment', 'not_found', (service) => service.files.delete(onlyFragment(service))],
  ['fragment of another publication', UNAUTHENTICATED, (service) =>
    service.files.set(onlyFragment(service), later)],
  ['fragment that ends early', UNAUTHENTICATED, (service) =>
    service.files.set(onlyFragment(service), simple.slice(0, -1))],
  ['fragment that is longer', TOO_LARGE, (service) =>
    service.files.set(onlyFragment(service), Uint8Array.from([...simple, 0]))],
  ['fragment with an API of another one', CORRUPT, (service) =>
    service.publish([[simple, 4], [simple, 4]])],
  ['signed fragment that is no frame', CORRUPT, placeFragment(GARBAGE)],
  ['signed fragment of a newer format', UNSUPPORTED, placeFragment(encodeFragment(SIMPLE_ROWS, { version: 2 }))],
];

const ACCEPTED = [
  ['healthy', 'ok', publish],
  ['newer publication', 'ok', publish, publishAgain],
  ['same publication again', 'ok', publish, () => {}],
  ['moment before it expires', 'ok', (service) => { service.now = NOW_US + DAY_US - 1n; }],
  ['new root, and a key that undoes a fast-forward', 'ok', (service) => {
    service.snapshot.version = 1000n;
    publish(service);
  }, (service) => {
    service.snapshotKey = KEYS[0];
    service.root.snapshotKeys = [publicKeys[0]];
    nextRoot(service);
    service.snapshot.version = 1n;
    publishAgain(service);
  }],
  ['other versions after a new timestamp key', 'ok', (service) => {
    service.timestamp.version = 1000n;
    publish(service);
  }, (service) => {
    service.timestampKey = KEYS[0];
    service.root.timestampKeys = [publicKeys[0]];
    nextRoot(service);
    service.timestamp.version = 1n;
    publishAgain(service);
  }],
  ['older snapshot after a new timestamp key', 'ok', (service) => {
    service.snapshot.version = 1000n;
    publish(service);
  }, (service) => {
    service.timestampKey = KEYS[0];
    service.root.timestampKeys = [publicKeys[0]];
    nextRoot(service);
    service.snapshot.version = 1n;
    publishAgain(service);
  }],
  ['older timestamp after a new snapshot key', 'ok', (service) => {
    service.timestamp.version = 1000n;
    publish(service);
  }, (service) => {
    service.snapshotKey = KEYS[0];
    service.root.snapshotKeys = [publicKeys[0]];
    nextRoot(service);
    service.timestamp.version = 1n;
    publishAgain(service);
  }],
  ['root that the service no longer has', 'ok', (service) => nextRoot(service),
    (service) => service.files.delete('/v1/root/2')],
  ['wrong number of rows', 'ok', changedSnapshot({ rows: [5000] })],
  ['unknown fields', 'ok', placeTimestamp((service) => Uint8Array.from([
    ...service.files.get('/v1/timestamp'), ...field(99, 'newer'), ...field(98, 7)]))],
  ['16 signatures', 'ok', (service) => nextRoot(service, { keys: [...service.rootKeys, ...KEYS.slice(2)] })],
  ['operator with texts', 'ok', changedRoot({
    name: 'n'.repeat(127), contact: 'c'.repeat(255), privacy: `${'é'.repeat(2047)}!` })],
  ['empty fragment', 'ok', placeFragment(encodeFragment([]))],
];

/**
 * Each has a name, the outcome of its last update, and its updates, which are called one after another with a service
 * that has published once; each leaves the files, and `now`, as a client finds them.
 */
export const TREE_CASES = [...ROOTS, ...TIMESTAMPS, ...SNAPSHOTS, ...FRAGMENTS, ...ACCEPTED].map(
  ([name, code, ...updates]) => ({ name, code, updates }));

/** The files of each update, as { files, now, pinned }. */
export function* updatesOf({ updates }) {
  const service = new Service();
  publish(service);
  for (const update of updates) {
    service.now = NOW_US;
    update(service);
    yield service;
  }
}
