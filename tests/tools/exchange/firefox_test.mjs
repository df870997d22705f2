// Firefox Profiler's own importer (its program for the command line) reads our profile, and its call trees are ours.

import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { existsSync, readFileSync, watch } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';

import { METRICS, add, given, sample, sorted, stacksOfOurs } from './ours.mjs';

const TOO_LARGE = 2 ** 53;  // of ns: it has its numbers as doubles

const PROGRAM = given('FIELDCOST_TEST_FIREFOX_PROFILER');
let session;

async function asked(...options) {
  const { stdout } = await promisify(execFile)(process.execPath, [PROGRAM, ...options, '--session', session, '--json'],
    { timeout: 60000 });
  return JSON.parse(stdout);
}

// Its `load` gives the process that answers half a second to start, which may be too short, so that is started itself.
// Asked before it has said in its log that it can answer, it would be taken for a dead one, and forgotten.
let server;
function opened(file, name) {
  session = name;
  const sessions = given('PROFILER_CLI_SESSION_DIR');
  return new Promise((resolve, reject) => {
    const told = watch(sessions, () => {
      const log = join(sessions, `${session}.log`);
      if (existsSync(log) && readFileSync(log, 'utf8').includes('Profile loaded')) {
        told.close();
        resolve();
      }
    });
    server = spawn(process.execPath, [PROGRAM, '--daemon', file, '--session', session], { stdio: 'ignore' });
    server.once('exit', (code, signal) => {
      told.close();
      reject(new Error(`it ended: ${code ?? signal}`));
    });
  });
}

// As stacksOfOurs(), of one thread's call tree.
async function stacksOf(thread) {
  const tree = await asked('thread', 'samples-top-down', '--thread', thread.threadHandle);
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
  let threads;
  before(async () => {
    await opened(sample('firefox.json'), 'test');
    ({ threads } = await asked('thread', 'list'));
  });
  after(() => {
    server?.kill();
  });

  it('has a thread for each metric', () => {
    assert.deepEqual(threads.map(({ name }) => name.split(' ')[0]).sort(), METRICS);
  });

  it('has the sums of each stack', async () => {
    const ours = stacksOfOurs(sample('speedscope.speedscope.json'), METRICS);
    for (const thread of threads) {
      const metric = thread.name.split(' ')[0];
      assert.ok(ours[metric].length > 1);
      assert.deepEqual((await stacksOf(thread)).filter(isHeld), ours[metric].filter(isHeld), metric);
    }
  });
});

describe('Firefox Profiler, of threads', () => {
  after(() => {
    server?.kill();
  });

  it('has a thread for each, whose stacks begin with its own functions', async () => {
    await opened(sample('threads.firefox.json'), 'threads');
    const { threads } = await asked('thread', 'list');
    assert.deepEqual(threads.map(({ name }) => name).sort(),
      ['[thread app 7] wall ns exact', '[thread app/io 8] wall ns exact']);
    const stacks = await Promise.all(threads.map(stacksOf));
    assert.deepEqual(stacks.flat().sort(), ['main 100000000', 'main;deflate 900000000']);
  });
});
