// Fragments that a reader must refuse, one for each rule, and some that it must accept. Both readers must agree.

import { encodeFragment, encodeMessage, encodePeriods, plus, storedFrame } from './encode_fragment.mjs';
import { message, packed } from './encode_protobuf.mjs';
import { FIRST_CLASS, SIMPLE_ROWS, bucketOf, scalarsOf } from './sample_rows.mjs';

const CORRUPT = 'corrupt';
const TOO_LARGE = 'too_large';
const UNSUPPORTED = 'unsupported';

const simple = encodeFragment(SIMPLE_ROWS);
const content = encodeMessage(SIMPLE_ROWS);

// A fragment of the rows after a change of them.
const withRows = (change, options) => () => {
  const rows = structuredClone(SIMPLE_ROWS);
  return encodeFragment(change(rows) ?? rows, options);
};
// One row, of a class and without a quarter, after a change of it.
const withRow = (change, options) => () => {
  const row = { ...structuredClone(SIMPLE_ROWS[3]), week: 0 };
  change(row);
  return encodeFragment([row], options);
};
const withNumbers = (numbers) => () => encodeFragment(SIMPLE_ROWS, { numbers });
// Changes the nth number of a column.
const withNumber = (column, nth, change) =>
  withNumbers((list) => change(list.filter((each) => each.column === column)[nth]));
const withFields = (fields) => () => encodeFragment(SIMPLE_ROWS, { fields });
const withField = (number, change) => withFields((list) =>
  list.map(([at, value]) => (at === number ? [at, change(value)] : [at, value])));
const withTable = (table) => () => encodeFragment(SIMPLE_ROWS, { table });
const withColumn = (number, values) => withTable((list) =>
  list.map(([at, value]) => (at === number ? [at, packed(values)] : [at, value])));
const withText = (nth, text) => withTable((list) =>
  list.map(([at, value], i) => (at === 1 && i === nth ? [at, text] : [at, value])));
const replaced = (change) => () => { const bytes = [...simple]; change(bytes); return Uint8Array.from(bytes); };

// Adds to the scalars of a row, whose contributions all have the same mean.
const withScalars = (change) => withRow((row) => { row.scalars = { ...row.scalars, ...change(row.scalars) }; });

const FRAMES = [
  ['empty file', CORRUPT, () => new Uint8Array(0)],
  ['no frame', CORRUPT, () => Uint8Array.from(content)],
  ['frame that ends early', CORRUPT, () => simple.slice(0, -5)],
  ['frame without its checksum', CORRUPT, () => simple.slice(0, -4)],
  ['frame with another checksum', CORRUPT, replaced((bytes) => { bytes[bytes.length - 1] ^= 1; })],
  ['frame with changed content', CORRUPT, replaced((bytes) => { bytes[100] ^= 1; })],
  ['frame that announces more', CORRUPT, () => storedFrame(content, { announced: content.length + 1 })],
  ['frame that announces less', CORRUPT, () => storedFrame(content, { announced: content.length - 1 })],
  ['frame that announces 64 MiB and more', TOO_LARGE, () => storedFrame(content, { announced: 64 * 2 ** 20 + 1 })],
  ['file above 4 MiB', TOO_LARGE, () => Uint8Array.from([...simple, ...new Uint8Array(4 * 2 ** 20)])],
  ['bytes after the frame', CORRUPT, () => Uint8Array.from([...simple, 0])],
  ['two frames', CORRUPT, () => Uint8Array.from([...simple, ...simple])],
  ['a frame to be skipped', CORRUPT, () => Uint8Array.from([0x50, 0x2a, 0x4d, 0x18, 1, 0, 0, 0, 0])],
  ['a frame to be skipped before the other', CORRUPT, () =>
    Uint8Array.from([0x50, 0x2a, 0x4d, 0x18, 1, 0, 0, 0, 0, ...simple])],
  // Window descriptor instead of the content's size.
  ['frame of unknown size', CORRUPT, replaced((bytes) => bytes.splice(4, 5, 0x04, 0x58))],
  ['frame with a reserved bit', CORRUPT, replaced((bytes) => { bytes[4] |= 8; })],
  ['block of the reserved type', CORRUPT, replaced((bytes) => { bytes[9] |= 6; })],
  ['frame of a dictionary', CORRUPT, replaced((bytes) => bytes.splice(4, 1, 0xa5, 7))],
];

const MESSAGES = [
  ['no message', CORRUPT, () => storedFrame(Uint8Array.from([0xff, 0xff, 0xff, 0xff]))],
  ['message that ends early', CORRUPT, () => storedFrame(content.slice(0, -1))],
  ['message with the field 0', CORRUPT, () => storedFrame(Uint8Array.from([...content, 0, 0]))],
  ['message with a wire type that does not exist', CORRUPT, () =>
    storedFrame(Uint8Array.from([...content, 0x7f, 0]))],
  ['message with a group that does not begin', CORRUPT, () => storedFrame(Uint8Array.from([...content, 0x7c]))],
  ['number of 11 bytes', CORRUPT, () =>
    storedFrame(Uint8Array.from([...content, 0x78, ...new Array(10).fill(0x80), 0]))],
  ['newer format', UNSUPPORTED, () => encodeFragment(SIMPLE_ROWS, { version: 2 })],
  ['format 0', UNSUPPORTED, () => encodeFragment(SIMPLE_ROWS, { version: 0 })],
  ['format 0 of nothing', UNSUPPORTED, () => storedFrame(new Uint8Array(0))],
];

const TABLES = [
  ['module index out of range', CORRUPT, withColumn(5, [1])],
  ['soname index out of range', CORRUPT, withColumn(2, [5])],
  ['package version index out of range', CORRUPT, withColumn(3, [5])],
  ['build-id index out of range', CORRUPT, withColumn(4, [5])],
  ['symbol index out of range', CORRUPT, withColumn(6, [5])],
  ['symbol version index out of range', CORRUPT, withColumn(7, [5])],
  ['API index out of range', CORRUPT, withColumn(8, [0, 0, 0, 1])],
  ['too few package versions', CORRUPT, withColumn(3, [])],
  ['too many build-ids', CORRUPT, withColumn(4, [2, 2])],
  ['too many symbols', CORRUPT, withColumn(6, [3, 3])],
  ['too few symbol versions', CORRUPT, withColumn(7, [])],
  ['too few metrics', CORRUPT, withColumn(9, [1, 1, 1])],
  ['too many weeks', CORRUPT, withColumn(10, [0, 0, 0, 2915, 0])],
  ['too few hardware indices', CORRUPT, withField(4, () => packed([0, 1, 2]))],
  ['hardware index out of range', CORRUPT, withField(4, () => packed([0, 1, 2, 3]))],
  ['string of 256 bytes', TOO_LARGE, withText(3, 's'.repeat(256))],
  ['65,537 strings', TOO_LARGE, withTable((list) => [...list, ...new Array(65532).fill([1, 'x'])])],
  ['empty soname', CORRUPT, withText(0, '')],
  ['soname of 64 bytes', CORRUPT, withText(0, 's'.repeat(64))],
  ['soname with a slash', CORRUPT, withText(0, 'lib/z')],
  ['soname with an exclamation mark', CORRUPT, withText(0, 'lib!z')],
  ['soname with a space', CORRUPT, withText(0, 'lib z')],
  ['soname that is not ASCII', CORRUPT, withText(0, 'libé')],
  ['package version of 64 bytes', CORRUPT, withText(1, 'v'.repeat(64))],
  ['package version with a control character', CORRUPT, withText(1, 'a\u007f')],
  ['build-id of upper-case digits', CORRUPT, withText(2, '00FF')],
  ['build-id of half a byte', CORRUPT, withText(2, '00f')],
  ['build-id of 66 digits', CORRUPT, withText(2, '0'.repeat(66))],
  ['empty symbol', CORRUPT, withText(3, '')],
  ['symbol with a space', CORRUPT, withText(3, 'a b')],
  ['symbol with an invisible character', CORRUPT, withText(3, 'a\u200bb')],
  ['symbol with a blank that is not ASCII', CORRUPT, withText(3, 'a\u3000b')],
  ['symbol that is not UTF-8', CORRUPT, withText(3, [0x61, 0xc3])],
  ['symbol with an overlong form', CORRUPT, withText(3, [0xc0, 0xaf])],
  ['symbol with a surrogate', CORRUPT, withText(3, [0xed, 0xa0, 0x80])],
  ['symbol version of 64 bytes', CORRUPT, withText(4, 'v'.repeat(64))],
  ['unknown metric', CORRUPT, withColumn(9, [15, 15, 15, 15])],
  ['metric 0', CORRUPT, withColumn(9, [0, 0, 0, 0])],
  ['class text of 64 bytes', TOO_LARGE, withRow((row) => {
    row.hardware = { ...FIRST_CLASS, osRelease: 'o'.repeat(64) };
  })],
  ['class without an architecture', CORRUPT, withRow((row) => {
    row.hardware = { ...FIRST_CLASS, architecture: '' };
  })],
  ['class with a space', CORRUPT, withRow((row) => { row.hardware = { ...FIRST_CLASS, cpuFamily: 'a b' }; })],
  ['class of 2^21 cores', CORRUPT, withRow((row) => { row.hardware = { ...FIRST_CLASS, log2Cores: 21 }; })],
  ['class of 2^45 MiB', CORRUPT, withRow((row) => { row.hardware = { ...FIRST_CLASS, log2MemoryMib: 45 }; })],
  ['rows that descend', CORRUPT, withRows((rows) => [rows[2], rows[1]])],
  ['row twice', CORRUPT, withRows((rows) => [rows[1], rows[1]])],
  ['metrics that descend', CORRUPT, withRows((rows) => [{ ...rows[1], metric: 2 }, rows[1]])],
  ['weeks that descend', CORRUPT, withRows((rows) => [{ ...rows[3], week: 2916 }, rows[3]])],
];

const NUMBERS = [
  ...[5, 7, 8, 9, 10, 11, 12, 13, 14, 16, 17, 18, 19, 20, 21, 22].flatMap((number) => [
    [`column ${number} that ends early`, CORRUPT, withField(number, (bytes) => bytes.slice(0, -1))],
    [`column ${number} with a byte left`, CORRUPT, withField(number, (bytes) => [...bytes, 0])],
  ]),
  ['untimed calls left', CORRUPT, withField(15, () => [1])],
  ['bits that end early', CORRUPT, withField(23, (bytes) => bytes.slice(0, -1))],
  ['bits left', CORRUPT, withField(23, (bytes) => [...bytes, 0])],
  ['unused bit', CORRUPT, withField(23, (bytes) => [...bytes.slice(0, -1), bytes.at(-1) | 128])],
  ['number of 129 bits', CORRUPT, withField(13, (bytes) => [129, ...bytes.slice(1)])],
  ['length below 0', CORRUPT, withField(18, (bytes) => [1, ...bytes.slice(1)])],
  ['length above 128', CORRUPT, withField(18, (bytes) => [255, ...bytes.slice(1)])],
  ['row of an unknown kind', CORRUPT, withNumber('row_kind', 1, (each) => { each.byte |= 32; })],
  ['part without its parts', CORRUPT, withNumber('row_kind', 1, (each) => { each.byte |= 1; })],
  ['total without parts that is read without them', CORRUPT, withRows((rows) => [{ ...rows[0], kind: 27 }])],
  ['total that is read with its parts', CORRUPT, withRows(() => {}, { keepTotals: true })],
  ['quarter of week 0', CORRUPT, withNumber('quarter_week', 0, (each) => { each.number = 0n; })],
  ['quarter of a negative week', CORRUPT, withNumber('quarter_week', 0, (each) => { each.number = 1n; })],
  ['quarter of week 2^32', CORRUPT, withNumber('quarter_week', 0, (each) => { each.number = 1n << 33n; })],
  ['quarter without contributions', CORRUPT, withRow((row) => {
    row.fullestQuarter = { week: 2912, scalars: scalarsOf(0, 0n, 1n) };
  })],
  ['quarter of a row of a week', CORRUPT, withRow((row) => {
    row.week = 2915;
    row.fullestQuarter = { week: 2912, scalars: row.scalars };
  })],
  ['negative contributions', CORRUPT, withNumber('contributions', 2, (each) => { each.number = 1n; })],
  ['contributions of 65 bits', CORRUPT, withRow((row) => { row.scalars.contributions = 1n << 64n; })],
  ['fewer buckets than are written', CORRUPT, withNumber('bucket_count', 1, (each) => { each.byte = 0; })],
  ['bucket without values', CORRUPT, withRow((row) => { row.buckets[0] = bucketOf(3, [], 49152n); })],
  ['count of 65 bits', CORRUPT, withRow((row) => { row.buckets[0].count = 1n << 64n; })],
  ['slot 65', CORRUPT, withNumber('bucket_gap', 1, (each) => { each.byte = 65 - 4; })],
  ['least squares in a longer form', CORRUPT, withRow((row) => {
    row.buckets = [bucketOf(4, [8n, 15n, 15n], 65536n)];
  }, {
    // 482 is the least of three values with the sum 38, and 492 is expected.
    numbers: (list) => { list.find((each) => each.column === 'squares').number = 9n; },
  })],
  ['no untimed calls, as announced', CORRUPT, withRow((row) => { row.kind = 8 | 4; })],
  ['untimed calls of 65 bits', CORRUPT, withRow((row) => { row.untimed = 1n << 64n; })],
  ['no bounded calls, as announced', CORRUPT, withRow((row) => { row.bounded = { calls: 0n, sum: 0n }; })],
  ['bounded calls of 65 bits', CORRUPT, withRow((row) => { row.bounded = { calls: 1n << 64n, sum: 1n }; })],
  ['negative share', CORRUPT, withRow((row) => { row.buckets[0].share = -1n; })],
  ['share above 65536', CORRUPT, withRow((row) => { row.buckets[0].share = 65537n; })],
  ['weights without buckets', CORRUPT, withRow((row) => {
    Object.assign(row, { buckets: [], scalars: scalarsOf(0, 0n, 1n), bounded: null, kind: 8 });
  })],
  ['weights without contributions', CORRUPT, withRow((row) => {
    Object.assign(row, { scalars: scalarsOf(0, 0n, 1n), bounded: null });
  })],
  ['bounded sums without calls', CORRUPT, withRow((row) => {
    Object.assign(row, { buckets: [], bounded: { calls: 2n, sum: 2n } });
  })],
];

const big = 1n << 127n;
const RULES = [
  ['sum below the slot', CORRUPT, withRow((row) => { row.buckets[0].sum = 23n; })],
  ['sum above the slot', CORRUPT, withRow((row) => { row.buckets[0].sum = 43n; })],
  ['squares below the least', CORRUPT, withRow((row) => { row.buckets[0].sumOfSquares -= 20n; })],
  ['squares above the greatest', CORRUPT, withRow((row) => { row.buckets[0].sumOfSquares += 20n; })],
  ['count of the row above 2^64', CORRUPT, withRow((row) => {
    row.buckets = [0, 1].map((slot) => ({ ...bucketOf(slot, []), count: 2n ** 63n, share: 32768n }));
    row.buckets[1].sum = row.buckets[1].sumOfSquares = 2n ** 63n;
  })],
  ['squares of the row above 2^128', CORRUPT, withRow((row) => {
    const greatest = 2n ** 64n - 1n;
    row.buckets = [bucketOf(63, Array(3).fill(2n ** 63n - 1n), 32768n), bucketOf(64, [greatest], 32768n)];
  })],
  ['fewer timed calls than buckets', CORRUPT, withRow((row) => { row.untimed = 7n; })],
  ['more untimed calls than calls', CORRUPT, withRow((row) => { row.untimed = 9n; })],
  ['more contributions than 2^56', CORRUPT, withScalars(() => {
    const n = 2n ** 56n + 1n;
    return { ...scalarsOf(1, 0n, 4n), contributions: n, sumInverseCalls: n << 30n, sumWithinFreedom: 3n * n };
  })],
  ['mean below -1', CORRUPT, withScalars(() => scalarsOf(2, -65537n, 4n))],
  ['mean above 64', CORRUPT, withScalars(() => scalarsOf(2, 64n << 16n, 4n))],
  ['squares of means above those of extremes', CORRUPT, withScalars(({ sumMeanSquared }) =>
    ({ sumMeanSquared: sumMeanSquared + 2n ** 44n }))],
  ['more inverse calls than contributions', CORRUPT, withScalars(() => ({ sumInverseCalls: (2n << 32n) + 1n }))],
  ['freedom of single calls', CORRUPT, withScalars(() => ({ sumInverseCalls: 2n << 32n }))],
  ['no freedom of several calls', CORRUPT, withScalars(() => ({ sumWithinFreedom: 0n }))],
  ['more freedom than calls can be', CORRUPT, withScalars(() => ({ sumWithinFreedom: 2n ** 65n - 3n }))],
  ['more variance than the range allows', CORRUPT, withScalars(() => ({ sumWithinSquares: 8n * (65n << 16n) ** 2n }))],
  ['variance without freedom', CORRUPT, withScalars(() => ({ ...scalarsOf(2, 300_000n, 1n), sumWithinSquares: 1n }))],
  ['cube out of range', CORRUPT, withScalars(() => ({ sumMeanCubed: 2n * (1n << 66n) }))],
  ['cubes of no multiple of 6', CORRUPT, withScalars(({ sumMeanCubed }) => ({ sumMeanCubed: sumMeanCubed + 2n }))],
  ['cubes that the squares do not allow', CORRUPT, withScalars(({ sumMeanCubed }) =>
    ({ sumMeanCubed: sumMeanCubed + 6n }))],
  ['scalars of 128 bits', CORRUPT, withScalars(() => ({ sumInverseCalls: big, sumWithinSquares: big }))],
  ['quarter with impossible scalars', CORRUPT, withRow((row) => {
    row.fullestQuarter = { week: 2912, scalars: { ...scalarsOf(1, 300_000n, 4n), sumWithinFreedom: 0n } };
  })],
  ['quarter that leaves impossible scalars', CORRUPT, withRow((row) => {
    row.scalars = plus(scalarsOf(1, 300_000n, 4n), scalarsOf(1, -65537n, 4n));
    row.fullestQuarter = { week: 2912, scalars: scalarsOf(1, 300_000n, 4n) };
  })],
  ['quarter that is more than its row', CORRUPT, withRow((row) => {
    row.fullestQuarter = { week: 2912, scalars: scalarsOf(3, 300_000n, 4n) };
  })],
  ['fewer bounded calls than contributions', CORRUPT, withRow((row) => { row.bounded = { calls: 1n, sum: 4n }; })],
  ['more bounded calls than calls', CORRUPT, withRow((row) => { row.bounded = { calls: 9n, sum: 4n }; })],
  ['more bounded costs than costs', CORRUPT, withRow((row) => { row.bounded = { calls: 8n, sum: 2033n }; })],
  ['bounded sums without contributions', CORRUPT, withRow((row) => {
    Object.assign(row, { scalars: scalarsOf(0, 0n, 1n), bounded: { calls: 1n, sum: 4n } });
    for (const bucket of row.buckets) bucket.share = 0n;
  })],
  ['bucket of a total that overflows', CORRUPT, withRows((rows) => {
    for (const row of rows.slice(1, 3)) row.buckets = [{ ...bucketOf(0, []), count: 2n ** 63n, share: 65536n }];
    rows[0].buckets = [{ ...bucketOf(0, []), count: 2n ** 64n, share: 65536n }];
  })],
  ['scalars of a total that overflow', CORRUPT, withRows((rows) => {
    for (const row of rows.slice(1, 3)) row.scalars.sumWithinSquares = big;
    rows[0].scalars.sumWithinSquares = 2n * big;
  })],
];

const ACCEPTED = [
  ['file of periods', UNSUPPORTED, () => encodePeriods([])],
  ['sample', 'ok', () => simple],
  ['no rows', 'ok', () => encodeFragment([])],
  ['no table', 'ok', () => storedFrame(Uint8Array.from([8, 1]))],
  ['frame without a checksum', 'ok', replaced((bytes) => { bytes[4] &= ~4; bytes.splice(-4); })],
  ['unknown fields of all wire types', 'ok', () => storedFrame(Uint8Array.from([
    ...content, 0xf8, 0x7f, 1, 0xf9, 0x7f, ...new Uint8Array(8), 0xfa, 0x7f, 1, 0, 0xfb, 0x7f, 0xf8, 0x7f, 1, 0xfc,
    0x7f, 0xfd, 0x7f, ...new Uint8Array(4)]))],
  ['row without calls', 'ok', withRow((row) => {
    Object.assign(row, { buckets: [], scalars: scalarsOf(0, 0n, 1n), bounded: null });
  })],
  ['calls without contributions', 'ok', withRow((row) => {
    Object.assign(row, { scalars: scalarsOf(0, 0n, 1n), bounded: null });
    for (const bucket of row.buckets) bucket.share = 0n;
  })],
  ['total that is less than its parts', 'ok', withRows((rows) => {
    rows[0] = { ...rows[2], hardware: null };
  })],
  ['total with as many values as its parts, but another sum', 'ok', withRows((rows) => {
    for (const row of rows) row.bounded = null;
    rows[1].buckets[0] = bucketOf(3, [...Array(6).fill(4n), ...Array(6).fill(5n)], 49152n);
    rows[0].buckets[0] = bucketOf(3, Array(21).fill(5n), 49152n);
    rows[2].buckets[0] = bucketOf(3, Array(9).fill(4n), 49152n);
  })],
  ['parts with untimed calls', 'ok', withRows((rows) => {
    rows[0].untimed = 3n;
    rows[1].untimed = 3n;
  })],
  ['longest texts', 'ok', withRow((row) => {
    Object.assign(row, {
      soname: 's'.repeat(63), packageVersion: 'v'.repeat(63), buildId: 'f'.repeat(64), symbol: 'é'.repeat(127),
      symbolVersion: 'w'.repeat(63),
      hardware: { architecture: 'a'.repeat(63), cpuFamily: 'c'.repeat(63), log2Cores: 20, log2MemoryMib: 44,
        osRelease: 'o'.repeat(63) },
    });
  })],
  ['symbols in the order of UTF-8', 'ok', withRows((rows) =>
    ['a', 'é', '\ue000', '\uffee', '\u{1f600}'].map((symbol) => ({ ...rows[1], symbol })))],
  ['module that is listed twice', 'ok', withTable((list) => list.map(([at, value]) =>
    (at >= 2 && at <= 4 ? [at, [...value, ...value]] : [at, value])))],
  ['string that no row uses', 'ok', withTable((list) => [...list, [1, 'unused']])],
  ['class that no row uses', CORRUPT, withFields((list) => [...list, [3, [10, 1, 97]]])],
  ['class that is invalid and that no row uses', CORRUPT, withFields((list) => [...list, [3, [32, 1]]])],
  ['columns of buckets in the table', CORRUPT, withTable((list) => [...list, [12, packed([1, 2, 3])]])],
];

const period = { ...SIMPLE_ROWS[0], week: 2916, bounded: null, fullestQuarter: null };
for (const bucket of period.buckets = structuredClone(period.buckets)) bucket.share = 0n;
const periods = (change, options) => () => encodePeriods([{ ...structuredClone(period), ...change }], options);

const PERIODS = [
  ['periods', 'ok', periods({})],
  ['no periods', 'ok', () => encodePeriods([])],
  ['fragment', CORRUPT, () => simple],
  ['another kind', CORRUPT, periods({}, { kind: 'fieldcost period' })],
  ['newer format of periods', UNSUPPORTED, periods({}, { version: 2 })],
  ['newer format of rows', UNSUPPORTED, () => storedFrame(message([
    [1, 'fieldcost periods'], [2, 1], [3, encodeMessage([period], { version: 2 })]]))],
  ['week 0', CORRUPT, periods({ week: 0 })],
  ['week that begins no period', CORRUPT, periods({ week: 2918 })],
  ['class', CORRUPT, periods({ hardware: FIRST_CLASS })],
  ['weights', CORRUPT, periods({ buckets: SIMPLE_ROWS[0].buckets })],
  ['bounded sums', CORRUPT, periods({ bounded: SIMPLE_ROWS[0].bounded })],
  ['quarter', CORRUPT, periods({ fullestQuarter: SIMPLE_ROWS[0].fullestQuarter })],
  ['no calls', CORRUPT, periods({ buckets: [], scalars: scalarsOf(0, 0n, 1n) })],
  ['calls without contributions', CORRUPT, periods({ scalars: scalarsOf(0, 0n, 1n) })],
  ['impossible scalars', CORRUPT, periods({ scalars: scalarsOf(1, -65537n, 4n) })],
  ['weeks that descend', CORRUPT, () => encodePeriods([{ ...period, week: 2920 }, period])],
];

export const PERIOD_CASES = PERIODS.map(([name, code, make]) => ({ name, code, bytes: make() }));

/** Each has a name, the outcome, and the file. */
export const FRAGMENT_CASES = [...FRAMES, ...MESSAGES, ...TABLES, ...NUMBERS, ...RULES, ...ACCEPTED].map(
  ([name, code, make]) => ({ name, code, bytes: make() }));
