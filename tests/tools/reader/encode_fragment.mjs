// Encodes fragments as common/wire/FRAGMENTS.md describes, without any check, and lets a test change each number before
// it is written. Independent of the C++ encoder.

import { METRICS } from '../../../tools/reader/metrics.mjs';
import { COLUMNS } from '../../../tools/reader/number_columns.mjs';
import { lowXxhash64 } from '../../../tools/reader/xxhash64.mjs';
import { message, packed } from './encode_protobuf.mjs';

const mod = (number) => BigInt.asUintN(128, number);
const signed = (number) => BigInt.asIntN(128, number);
const lengthOf = (number) => (number === 0n ? 0 : number.toString(2).length);
const fold = (number) => (number >= 0n ? 2n * number : -2n * number - 1n);
const floor = (a, b) => { const q = a / b; return a % b !== 0n && a < 0n !== b < 0n ? q - 1n : q; };
const sumOf = (values) => values.reduce((sum, value) => sum + value, 0n);

export const NO_SCALARS = {
  contributions: 0n, sumMean: 0n, sumMeanSquared: 0n, sumInverseCalls: 0n, sumWithinSquares: 0n, sumWithinFreedom: 0n,
  sumMeanCubed: 0n,
};
const SIGNED = ['sumMean', 'sumMeanCubed'];
const combine = (left, right, sign) => Object.fromEntries(Object.keys(NO_SCALARS).map((name) =>
  [name, left[name] + sign * right[name]]));
export const plus = (left, right) => combine(left, right, 1n);
export const minus = (left, right) => combine(left, right, -1n);

// A number to be written: { column, byte } or { column, number, expected }, where `expected` is absent for plain ones.
class Numbers {
  list = [];
  byte(column, byte) { this.list.push({ column, byte }); }
  number(column, number) { this.list.push({ column, number }); }
  signed(column, number, expected) { this.list.push({ column, number: fold(signed(mod(number))), expected }); }
}

// The columns and the bits, as fields of the message.
function fieldsOf(list) {
  const columns = new Map(COLUMNS.map((name) => [name, []]));
  let [bits, count] = [0n, 0];
  const chunks = [];
  for (const { column, byte, number, expected } of list) {
    if (byte !== undefined) {
      columns.get(column).push(byte);
      continue;
    }
    const length = lengthOf(number);
    const usual = Math.min(Math.max(expected ?? 0, 1), 120);
    columns.get(column).push((expected === undefined ? length : 128 + length - usual) & 255);
    if (length > 1) {
      bits |= (number - (1n << BigInt(length - 1))) << BigInt(count);
      count += length - 1;
    }
    for (; count >= 8; count -= 8, bits >>= 8n) chunks.push(Number(bits & 255n));
  }
  if (count > 0) chunks.push(Number(bits));
  return [...COLUMNS.map((name, i) => [5 + i, columns.get(name)]), [23, chunks]];
}

function writeBucket(numbers, before, { slot, count, sum, sumOfSquares }) {
  numbers.byte('bucket_gap', slot - before - 1);
  numbers.number('count', count);
  const half = Math.floor(lengthOf(count) / 2);
  const [least, most] = slot === 0 ? [0n, 0n] : [1n << BigInt(slot - 1), (1n << BigInt(slot)) - 1n];
  numbers.signed('sum', sum - (mod(count * (least + most)) >> 1n), slot + half - 3);
  const t = count === 0n ? 0n : sum / count;
  const leastSquares = mod((2n * t + 1n) * sum - count * t * (t + 1n));
  if (sumOfSquares === leastSquares) return numbers.byte('squares', 0);
  const range = mod((least + most) * sum - count * least * most - leastSquares);
  const p = mod(leastSquares + (range >> 2n) + (range >> 4n) + (range >> 6n));
  const near = mod(p - ((p ^ sum) & 1n));
  return numbers.signed('squares', signed(mod(sumOfSquares - near)) >> 1n, 2 * slot + half - 4);
}

class GroupWriter {
  before = new Map();  // of each hardware class: the sets as written
  meanBefore = 0n;
  constructor(numbers) { this.numbers = numbers; }

  set(scalars, before = NO_SCALARS) {
    const { numbers } = this;
    const n = scalars.contributions;
    numbers.signed('contributions', n - before.contributions);
    if (n === 0n) return;
    const { sumMean: m, sumMeanSquared: m2 } = scalars;
    numbers.signed('mean', m - this.meanBefore * n);
    const q = floor(m, n);
    this.meanBefore = q;
    numbers.number('mean_squared', mod(m2 - (2n * q + 1n) * m + n * q * (q + 1n)) >> 1n);
    numbers.signed('mean_cubed', scalars.sumMeanCubed - (3n * q * m2 - 3n * q * q * m + n * q * q * q));
    numbers.signed('inverse_calls', scalars.sumInverseCalls - before.sumInverseCalls);
    numbers.signed('within_freedom', scalars.sumWithinFreedom - before.sumWithinFreedom);
    numbers.number('within_squares', scalars.sumWithinSquares);
  }

  row({ kind, quarterWeek, quarter, rest, buckets, untimed }, hardware, weeks) {
    const { numbers } = this;
    numbers.byte('row_kind', kind);
    const before = this.before.get(hardware);
    if ((kind & 2) !== 0) {
      numbers.signed('quarter_week', BigInt(quarterWeek) - weeks.last);
      weeks.last = BigInt(quarterWeek);
      this.set(quarter, before?.quarter);
    }
    this.set(rest, before?.rest);
    this.before.set(hardware, { quarter: (kind & 2) !== 0 ? quarter : NO_SCALARS, rest });
    numbers.byte('bucket_count', buckets.length);
    if ((kind & 4) !== 0) numbers.number('untimed', untimed);
    buckets.forEach((bucket, i) => writeBucket(numbers, i === 0 ? -1 : buckets[i - 1].slot, bucket));
  }

  shares(row, expected) {
    const { numbers } = this;
    if ((row.kind & 8) !== 0) {
      row.buckets.slice(0, -1).forEach((bucket) => numbers.signed('share', bucket.share - expected.share(bucket)));
    }
    if ((row.kind & 16) !== 0) {
      numbers.signed('bounded_calls', row.bounded.calls - expected.calls());
      numbers.signed('bounded_sum', row.bounded.sum - expected.sum(row.bounded.calls));
    }
  }
}

const expectedOf = (row) => {
  const count = sumOf(row.buckets.map((bucket) => bucket.count));
  const sum = sumOf(row.buckets.map((bucket) => bucket.sum));
  return {
    share: (bucket) => 65536n * bucket.count / count,
    calls: () => row.scalars.sumWithinFreedom + row.scalars.contributions,
    sum: (calls) => (count === 0n ? 0n : mod(mod(sum << 8n) / count * calls) >> 8n),
  };
};
const expectedOfParts = (total, parts) => ({
  share: ({ slot }) => sumOf(parts.flatMap((part) => part.buckets.filter((bucket) => bucket.slot === slot)
    .map((bucket) => bucket.share * part.scalars.contributions))) / total.scalars.contributions,
  calls: () => mod(sumOf(parts.map((part) => part.bounded?.calls ?? 0n))),
  sum: () => mod(sumOf(parts.map((part) => part.bounded?.sum ?? 0n))),
});

// The total less its parts, or undefined if something became negative.
function lessParts(total, parts) {
  const buckets = [];
  const own = new Map(total.buckets.map((bucket) => [bucket.slot, { ...bucket }]));
  for (const { slot, count, sum, sumOfSquares } of parts.flatMap((part) => part.buckets)) {
    const bucket = own.get(slot);
    if (bucket === undefined) return undefined;
    bucket.count -= count;
    bucket.sum -= sum;
    bucket.sumOfSquares -= sumOfSquares;
  }
  for (const bucket of own.values()) {
    const { count, sum, sumOfSquares } = bucket;
    if (count < 0n || sum < 0n || sumOfSquares < 0n) return undefined;
    if (count === 0n && (sum !== 0n || sumOfSquares !== 0n)) return undefined;
    if (count !== 0n) buckets.push(bucket);
  }
  const untimed = total.untimed - sumOf(parts.map((part) => part.untimed));
  const inWeek = parts.filter((part) => part.fullestQuarter && part.fullestQuarter.week === total.fullestQuarter?.week);
  const rest = minus(total.scalars, parts.map((part) => part.scalars).reduce(plus, NO_SCALARS));
  const quarter = minus(total.fullestQuarter?.scalars ?? NO_SCALARS,
    inWeek.map((part) => part.fullestQuarter.scalars).reduce(plus, NO_SCALARS));
  const isSet = (set) => Object.entries(set).every(([name, value]) =>
    (SIGNED.includes(name) || value >= 0n) && (set.contributions !== 0n || value === 0n));
  return untimed < 0n || !isSet(rest) || !isSet(quarter) ? undefined : { buckets, untimed, rest, quarter };
}

// The parts of a group's total, and the total less its parts.
function totalOf(rows) {
  const isTotal = rows[0].hardware === null && rows[0].week === 0;
  const parts = isTotal ? rows.filter((row) => row.hardware !== null && row.week === 0) : [];
  return { parts, less: parts.length > 0 ? lessParts(rows[0], parts) : undefined };
}

function writeGroup(writer, rows, hardwareOf, weeks, keepTotals) {
  const { parts, less } = totalOf(rows);
  const difference = keepTotals ? undefined : less;
  const encoded = rows.map((row, i) => {
    const isLess = i === 0 && difference !== undefined;
    const hasWeights = row.buckets.some((bucket) => bucket.share !== 0n);
    const kind = row.kind ?? (isLess ? 1 : 0) | (row.fullestQuarter ? 2 : 0) |
      ((isLess ? difference.untimed : row.untimed) !== 0n ? 4 : 0) | (hasWeights ? 8 : 0) | (row.bounded ? 16 : 0);
    const quarter = row.fullestQuarter?.scalars ?? NO_SCALARS;
    const whole = {
      kind,
      quarterWeek: row.fullestQuarter?.week ?? 0,
      quarter,
      rest: minus(row.scalars, quarter),
      untimed: row.untimed,
      buckets: row.buckets,
    };
    writer.row(isLess ? { ...whole, ...difference } : whole, hardwareOf(row), weeks);
    return { ...row, kind };
  });
  for (const row of encoded.slice(difference === undefined ? 0 : 1)) writer.shares(row, expectedOf(row));
  if (difference !== undefined) writer.shares(encoded[0], expectedOfParts(encoded[0], parts));
}

// Indices in order of first use.
function indexer(list = []) {
  const indices = new Map();
  return {
    list,
    of(value, key = value) {
      if (!indices.has(key)) indices.set(key, list.push(value) - 1);
      return indices.get(key);
    },
  };
}

function tableOf(rows) {
  const [strings, modules, apis] = [indexer(), indexer(), indexer()];
  const rowApis = rows.map(({ soname, packageVersion, buildId, symbol, symbolVersion }) => {
    const module = [soname, packageVersion, buildId].map((text) => strings.of(text));
    const at = modules.of(module, module.join());
    const api = [at, strings.of(symbol), strings.of(symbolVersion)];
    return apis.of(api, api.join());
  });
  const column = (list, i) => packed(list.map((entry) => entry[i]));
  return {
    rowApis,
    fields: [
      ...strings.list.map((text) => [1, text]),
      ...[0, 1, 2].map((i) => [2 + i, column(modules.list, i)]),
      ...[0, 1, 2].map((i) => [5 + i, column(apis.list, i)]),
      [8, packed(rowApis)],
      [9, packed(rows.map((row) => row.metric))],
      [10, packed(rows.map((row) => row.week))],
    ],
  };
}

const hardwareMessage = (hardware) => (hardware === null ? [] : message([
  [1, hardware.architecture], [2, hardware.cpuFamily], [3, hardware.log2Cores], [4, hardware.log2MemoryMib],
  [5, hardware.osRelease]]));

// Like message(), but keeps empty strings and messages that are elements of a list.
const listed = (fields, number) => fields.flatMap(([at, value]) =>
  (at === number && value.length === 0 ? [(number << 3) | 2, 0] : [...message([[at, value]])]));

/**
 * The uncompressed message. Rows are those of decodeFragment(), but with `metric` as a number and `share` (of 65536) in
 * each bucket; `kind` of a row overrides its own. The options change what is written:
 * - numbers(list): the numbers; each has a `column`, and a `byte` or a `number`;
 * - fields(list), table(list): the fields of the message, and of its table, as [number, value] pairs;
 * - keepTotals: totals are written with their parts.
 */
export function encodeMessage(rows, { numbers: change = () => {}, fields: changeFields = (list) => list,
  table: changeTable = (list) => list, keepTotals = false, version = 1 } = {}) {
  const classes = indexer();
  const rowHardware = rows.map(({ hardware }) => classes.of(hardware, JSON.stringify(hardware)));
  const table = tableOf(rows);
  const numbers = new Numbers();
  const weeks = { last: 0n };
  let writer = new GroupWriter(numbers);
  for (let begin = 0; begin < rows.length;) {
    let end = begin + 1;
    const isSame = (i) => table.rowApis[i] === table.rowApis[begin] && rows[i].metric === rows[begin].metric;
    while (end < rows.length && isSame(end)) ++end;
    if (begin > 0 && table.rowApis[begin] !== table.rowApis[begin - 1]) writer = new GroupWriter(numbers);
    writer.meanBefore = 0n;
    writeGroup(writer, rows.slice(begin, end), (row) => JSON.stringify(row.hardware), weeks, keepTotals);
    begin = end;
  }
  change(numbers.list);
  const fields = changeFields([
    [1, version],
    [2, listed(changeTable(table.fields), 1)],
    ...classes.list.map((hardware) => [3, hardwareMessage(hardware)]),
    [4, packed(rowHardware)],
    ...fieldsOf(numbers.list),
  ]);
  return Uint8Array.from(listed(fields, 3));
}

/** A row of decodeFragment() in the form that encodeMessage() takes. */
export function encodable({ metric, buckets, scalars, ...row }) {
  const unit = scalars.contributions * 65536n;
  return {
    ...row,
    scalars,
    metric: METRICS.findIndex(([name]) => name === metric) + 1,
    buckets: buckets.map(({ weight, ...bucket }) => ({ ...bucket, share: weight === 0n ? 0n : weight / unit })),
  };
}

const little = (number, bytes) =>
  Array.from({ length: bytes }, (_, i) => Number((BigInt(number) >> BigInt(8 * i)) & 255n));

/**
 * A zstd frame of uncompressed blocks, with the content's size and checksum.
 */
export function storedFrame(content, { announced = content.length } = {}) {
  const checksum = lowXxhash64(Uint8Array.from(content));
  const blocks = [];
  for (let begin = 0; begin === 0 || begin < content.length; begin += 65536) {
    const part = content.slice(begin, begin + 65536);
    blocks.push([...little((part.length << 3) | (begin + 65536 >= content.length ? 1 : 0), 3), ...part]);
  }
  return Uint8Array.from([...little(0xfd2fb528, 4), 0xa4, ...little(announced, 4), ...blocks.flat(),
    ...little(checksum, 4)]);
}

/** The uncompressed message of periods, with the rows of encodeMessage(). */
export const encodePeriodsMessage = (rows, { kind = 'fieldcost periods', version = 1, ...options } = {}) =>
  message([[1, kind], [2, version], [3, encodeMessage(rows, options)]]);

export const encodePeriods = (rows, options) => storedFrame(encodePeriodsMessage(rows, options));
export const encodeFragment = (rows, options) => storedFrame(encodeMessage(rows, options));
