// Rows as JSON. Numbers that may exceed 2^53 are decimal strings, as in all JSON of the project.

/** @typedef {import('./fragment.mjs').Row} Row */
/** @typedef {import('./fragment.mjs').Scalars} Scalars */

/** @param {Scalars} scalars */
function scalarsOf(scalars) {
  return {
    contributions: String(scalars.contributions),
    sum_mean: String(scalars.sumMean),
    sum_mean_squared: String(scalars.sumMeanSquared),
    sum_inverse_calls: String(scalars.sumInverseCalls),
    sum_within_squares: String(scalars.sumWithinSquares),
    sum_within_freedom: String(scalars.sumWithinFreedom),
    sum_mean_cubed: String(scalars.sumMeanCubed),
  };
}

/** @param {import('./fragment.mjs').Hardware} hardware */
function hardwareOf(hardware) {
  return {
    architecture: hardware.architecture,
    cpu_family: hardware.cpuFamily,
    log2_cores: hardware.log2Cores,
    log2_memory_mib: hardware.log2MemoryMib,
    os_release: hardware.osRelease,
  };
}

/**
 * The row as a value for JSON.stringify().
 * @param {Row} row
 */
export function rowForJson(row) {
  return {
    soname: row.soname,
    package_version: row.packageVersion,
    build_id: row.buildId,
    symbol: row.symbol,
    symbol_version: row.symbolVersion,
    metric: row.metric,
    hardware: row.hardware && hardwareOf(row.hardware),
    week: row.week,
    untimed: String(row.untimed),
    buckets: row.buckets.map((bucket) => ({
      slot: bucket.slot,
      count: String(bucket.count),
      sum: String(bucket.sum),
      sum_of_squares: String(bucket.sumOfSquares),
      weight: String(bucket.weight),
    })),
    scalars: scalarsOf(row.scalars),
    bounded: row.bounded && { calls: String(row.bounded.calls), sum: String(row.bounded.sum) },
    fullest_quarter: row.fullestQuarter &&
      { week: row.fullestQuarter.week, scalars: scalarsOf(row.fullestQuarter.scalars) },
  };
}
