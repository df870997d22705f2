'use strict';

// Formats numbers as the terminal does.

const treeUnits = {
  ns: [[1, 'ns'], [1e3, 'µs'], [1e6, 'ms'], [1e9, 's'], [60e9, 'min']],
  bytes: [[1, 'B'], [1024, 'KiB'], [1024 ** 2, 'MiB'], [1024 ** 3, 'GiB'], [1024 ** 4, 'TiB'], [1024 ** 5, 'PiB']],
};

const leastDigits = 2;
const mostDigits = 6;

function roundTo(value, digits) {
  if (value === 0) return 0;
  const step = 10 ** (Math.floor(Math.log10(value)) - (digits - 1));
  return Math.round(value / step) * step;
}

/** How many significant digits two costs side by side need so that the digits show their difference. */
function digitsToTell(one, other) {
  const difference = Math.abs(Number(one) - Number(other));
  if (difference === 0) return leastDigits;
  const greater = Math.max(Math.abs(Number(one)), Math.abs(Number(other)));
  const digits = Math.floor(Math.log10(greater)) - Math.floor(Math.log10(difference)) + 2;
  return Math.min(Math.max(digits, leastDigits), mostDigits);
}

function scaledText(value, units, digits) {
  let chosen = 0;
  let scaled = roundTo(value, digits);
  // The largest unit that leaves at least one of it, after rounding in that unit.
  for (let i = 1; i < units.length; ++i) {
    const candidate = roundTo(value / units[i][0], digits);
    if (value < units[i][0] * 0.9 || candidate < 1) break;
    chosen = i;
    scaled = candidate;
  }
  const isWhole = chosen === 0 && Number.isInteger(scaled);
  const unit = units[chosen][1];
  if (!isWhole && digits > leastDigits) return `${scaled.toPrecision(digits)} ${unit}`;
  if (isWhole || scaled >= 9.95) return `${scaled.toFixed(0)} ${unit}`;
  return `${scaled >= 1 ? scaled.toFixed(1) : Number(scaled.toPrecision(2))} ${unit}`;
}

/** A sum of all runs as the cost of one: "1.2 s", "3.4 KiB", "1,234". */
function costText(sum, metric, denominator, digits = leastDigits) {
  const mean = Number(sum) / denominator;
  const sign = mean < 0 ? '-' : '';
  const size = Math.abs(mean);
  const units = treeUnits[metric.unit];
  if (units !== undefined) return sign + scaledText(size, units, digits);
  return sign + (Number.isInteger(size) || size >= 100 ? Math.round(size).toLocaleString('en-US') : size.toFixed(1));
}

function shareText(share) {
  return `${(100 * share).toFixed(1)} %`;
}

/** Nanoseconds (BigInt) exactly, as `fieldcost` reads them: "1.25s", "300ms", "0". */
function timeText(ns) {
  if (ns === 0n) return '0';
  const [size, digits, unit] = [[1_000_000_000n, 9, 's'], [1_000_000n, 6, 'ms'], [1_000n, 3, 'us'], [1n, 0, 'ns']]
    .find(([least]) => ns >= least);
  const rest = (ns % size).toString().padStart(digits, '0').replace(/0+$/, '');
  return `${ns / size}${digits > 0 && rest !== '' ? `.${rest}` : ''}${unit}`;
}
