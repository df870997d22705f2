// Firefox Profiler's own importer (its program for the command line) reads our profile, and its call trees are ours.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { after, before, describe, it } from 'node:test';

import { METRICS, add, given, sample, sorted, stacksOfOurs } from './ours.mjs';

const TOO_LARGE = 2 ** 53;  // of ns: it has its numbers as doubles

const profiler = (...options) =>
  execFileSync(process.execPath, [given('FIELDCOST_TEST_FIREFOX_PROFILER'), ...options],
    { encoding: 'utf8', timeout: 60000, stdio: ['ignore', 'pipe', 'pipe'] });
const asked = (...options) => JSON.parse(profiler(...options, '--json'));

// As stacksOfOurs(), of one thread's call tree.
function stacksOf(thread) {
  const tree = asked('thread', 'samples-top-down', '--thread', thread.threadHandle);
  const toInteger = tree.weightType === 'tracing-ms' ? (ms) => Math.round(ms * 1e6) : (sum) => sum;
  const sums = new Map();
  const visit = (node, above) => {
    const name = node.nameWithLibrary.replace(/^(app|libx\.so|libz\.so)!/, '');
    const key = above === null ? '' : (above && `${above};`) + name;
    add(sums, key, BigInt(toInteger(node.selfSamples)));
    for (const child of node.children) visit(child, key);
  };
  visit(tree.regularCallTree, null);
  return sorted(sums);
}

const isHeld = (line) => Number(line.split(' ').at(-1)) < TOO_LARGE;

describe('Firefox Profiler', () => {
  before(() => {
    profiler('load', sample('firefox.json'));
  });
  after(() => {
    profiler('stop', '--all');
  });

  it('has a thread for each metric', () => {
    const { threads } = asked('thread', 'list');
    assert.deepEqual(threads.map(({ name }) => name.split(' ')[0]).sort(), METRICS);
  });

  it('has the sums of each stack', () => {
    const ours = stacksOfOurs(sample('speedscope.speedscope.json'), METRICS);
    for (const thread of asked('thread', 'list').threads) {
      const metric = thread.name.split(' ')[0];
      assert.ok(ours[metric].length > 1);
      assert.deepEqual(stacksOf(thread).filter(isHeld), ours[metric].filter(isHeld), metric);
    }
  });
});
