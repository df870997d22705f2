// What `fieldcost tree show` says of a file, for tests that compare it with what another program says.

import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

export function given(name) {
  const value = process.env[name];
  if (value === undefined || value === '') throw new Error(`${name} is not set; use run.sh`);
  return value;
}

export const sample = (name) => join(given('FIELDCOST_TEST_SAMPLES'), name);

// What the program that is named in the variable writes.
export const text = (program, ...options) =>
  execFileSync(given(program), options, { encoding: 'utf8', timeout: 60000, stdio: ['ignore', 'pipe', 'pipe'] });

export const shown = (file, ...options) =>
  JSON.parse(text('FIELDCOST_TEST_PROGRAM', 'tree', 'show', '--json', '--all', ...options, file)).nodes;

export const METRICS = ['allocated', 'calls', 'cpu', 'wall'];  // of the sample

export const add = (sums, key, amount) => amount !== 0n && sums.set(key, (sums.get(key) ?? 0n) + amount);
export const sorted = (sums) => [...sums].map(([key, sum]) => `${key} ${sum}`).sort();

export const nameOf = (node) => node.function || `0x${node.offset.toString(16)}`;

// { metric: ["main;run 3", ...] }: what each stack costs itself; code without a name by its address.
export function stacksOfOurs(file, metrics) {
  return Object.fromEntries(metrics.map((metric) => {
    const [sums, keys] = [new Map(), ['']];
    shown(file, '--metric', metric).forEach((node, i) => {
      if (i !== 0) keys[i] = (keys[node.parent] && `${keys[node.parent]};`) + nameOf(node);
      add(sums, keys[i], BigInt(node.self));
    });
    return [metric, sorted(sums)];
  }));
}
