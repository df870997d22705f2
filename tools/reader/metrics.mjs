// The metrics, by number (common/wire/READING.md).

/** Name and unit; the first has the number 1. */
export const METRICS = /** @type {const} */ ([
  ['wall_time', 'ns'],
  ['cpu_cycles', 'cycles'],
  ['alloc_inclusive', 'bytes'],
  ['alloc_exclusive', 'bytes'],
  ['alloc_size', 'bytes'],
  ['disk_read', 'bytes'],
  ['disk_written', 'bytes'],
  ['net_received', 'bytes'],
  ['net_sent', 'bytes'],
  ['calls_per_run', 'calls'],
  ['first_call', 'ns'],
  ['time_per_run', 'ns'],
  ['wall_time_busy', 'ns'],
  ['not_measured', 'reason'],
]);

/**
 * The metric's name, or undefined if the number is unknown.
 * @param {number} number
 */
export function metricName(number) {
  return METRICS[number - 1]?.[0];
}
