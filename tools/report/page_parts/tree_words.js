'use strict';

// Numbers as the terminal shows them.

const treeUnits = {
  ns: [[1, 'ns'], [1e3, 'µs'], [1e6, 'ms'], [1e9, 's'], [60e9, 'min']],
  bytes: [[1, 'B'], [1024, 'KiB'], [1024 ** 2, 'MiB'], [1024 ** 3, 'GiB'], [1024 ** 4, 'TiB'], [1024 ** 5, 'PiB']],
};

function twoDigits(value) {
  if (value === 0) return 0;
  const step = 10 ** (Math.floor(Math.log10(value)) - 1);
  return Math.round(value / step) * step;
}

function scaledText(value, units) {
  let chosen = 0;
  let scaled = twoDigits(value);
  // The largest unit that leaves at least one of it, after rounding in that unit.
  for (let i = 1; i < units.length; ++i) {
    const candidate = twoDigits(value / units[i][0]);
    if (value < units[i][0] * 0.9 || candidate < 1) break;
    chosen = i;
    scaled = candidate;
  }
  const isWhole = chosen === 0 && Number.isInteger(scaled);
  const unit = units[chosen][1];
  if (isWhole || scaled >= 9.95) return `${scaled.toFixed(0)} ${unit}`;
  return `${scaled >= 1 ? scaled.toFixed(1) : Number(scaled.toPrecision(2))} ${unit}`;
}

/** A sum of all runs as the cost of one: "1.2 s", "3.4 KiB", "1,234". */
function costText(sum, metric, denominator) {
  const mean = Number(sum) / denominator;
  const sign = mean < 0 ? '-' : '';
  const size = Math.abs(mean);
  const units = treeUnits[metric.unit];
  if (units !== undefined) return sign + scaledText(size, units);
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
