// Firefox Profiler's own importer (in its command line program) reads our profile; its call trees equal ours.

import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { existsSync, readFileSync, watch } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';

import { METRICS, add, given, sample, sorted, stacksOfOurs } from './ours.mjs';

const TOO_LARGE = 2 ** 53;  // ns: the importer holds numbers as doubles

const PROGRAM = given('FIELDCOST_TEST_FIREFOX_PROFILER');
let session;

async function asked(...options) {
  const { stdout } = await promisify(execFile)(process.execPath, [PROGRAM, ...options, '--session', session, '--json'],
    { timeout: 60000 });
  return JSON.parse(stdout);
}

// Starts the responding process itself, because the program's `load` gives it only half a second to start, which may be
// too short. A request before its log reports that it is ready would make the client consider it dead and forget it.
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

// Like stacksOfOurs(), for one thread's call tree.
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
