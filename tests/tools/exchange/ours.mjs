// The output of `fieldcost tree show` for a file, for tests that compare it with other programs' output.

import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

export function given(name) {
  const value = process.env[name];
  if (value === undefined || value === '') throw new Error(`${name} is not set; use run.sh`);
  return value;
}

export const sample = (name) => join(given('FIELDCOST_TEST_SAMPLES'), name);

// The output of the program that the variable names.
export const text = (program, ...options) =>
  execFileSync(given(program), options, { encoding: 'utf8', timeout: 60000, stdio: ['ignore', 'pipe', 'pipe'] });

export const shown = (file, ...options) =>
  JSON.parse(text('FIELDCOST_TEST_PROGRAM', 'tree', 'show', '--json', '--all', ...options, file)).nodes;

export const METRICS = ['allocated', 'calls', 'cpu', 'wall'];  // of the sample tree

export const add = (sums, key, amount) => amount !== 0n && sums.set(key, (sums.get(key) ?? 0n) + amount);
export const sorted = (sums) => [...sums].map(([key, sum]) => `${key} ${sum}`).sort();

export const nameOf = (node) => node.function || `0x${node.offset.toString(16)}`;

// { metric: ["main;run 3", ...] }: the self cost of each stack; unnamed code by its address.
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
