// Go's pprof reads our profiles, and we read Go's: sums by stack and by function are equal.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { METRICS, add, nameOf, sample, shown, sorted, stacksOfOurs, text } from './ours.mjs';

const pprof = (...options) => text('FIELDCOST_TEST_PPROF', '-symbolize=none', ...options);

// Like stacksOfOurs(), from `pprof -raw`, whose numbers are not rounded.
function stacksOfPprof(file) {
  const lines = pprof('-raw', file).split('\n');
  const at = lines.indexOf('Samples:');
  const [locationsAt, mappingsAt] = [lines.indexOf('Locations'), lines.indexOf('Mappings')];
  const names = new Map(lines.slice(locationsAt + 1, mappingsAt).map((line) => {
    const [, id, address, , name] = /^ *(\d+): 0x([0-9a-f]+) (M=\d+ )?(.*?)( \S*:\d+ s=\d+(\(.*\))?)?$/.exec(line);
    return [id, name.trim() || `0x${address}`];
  }));
  const metrics = lines[at + 1].trim().split(' ').map((each) => each.split('/')[0]);
  const sums = metrics.map(() => new Map());
  for (const line of lines.slice(at + 2, locationsAt)) {
    const [values, stack] = line.split(':').map((part) => part.trim().split(/ +/));
    const key = stack.map((id) => names.get(id)).reverse().join(';');
    values.forEach((value, metric) => add(sums[metric], key, BigInt(value)));
  }
  return Object.fromEntries(metrics.map((metric, i) => [metric, sorted(sums[i])]));
}

describe('go tool pprof', () => {
  it('has the sums of each stack of our file', () => {
    const ours = stacksOfOurs(sample('speedscope.speedscope.json'), METRICS);
    assert.deepEqual(stacksOfPprof(sample('pprof.pb.gz')), ours);
    assert.ok(ours.wall.includes(`0x1234 ${2n ** 62n + 1n}`), ours.wall);
  });

  for (const [metric, unit] of [['calls', ''], ['allocated', 'B'], ['cpu', 'ns']]) {
    it(`has the ${metric} of each function, itself and inclusive`, () => {
      const table = pprof('-top', '-nodefraction=0', '-nodecount=1000', `-unit=${unit || 'minimum'}`,
        `-sample_index=${metric}`, sample('pprof.pb.gz'));
      const theirs = [...table.matchAll(/^ *(\d+)([A-Za-z]*) +\S+% +\S+% +(\d+)[A-Za-z]* +\S+% +(.*)$/gm)]
        .map(([, self, of, inclusive, name]) => ({ name, self, inclusive, of }))
        .filter(({ name }) => !/^[<[](unknown|lib.*)[\]>]$/.test(name));
      assert.ok(theirs.some(({ of }) => of === unit), table);
      const ours = shown(sample('speedscope.speedscope.json'), '--flat', '--limit', '0', '--metric', metric)
        .filter((node, i) => i !== 0 && node.function && node.inclusive !== '0');
      const lines = (list, name) => list.map((each) => `${name(each)} ${each.self} ${each.inclusive}`).sort();
      assert.deepEqual(lines(theirs.filter(({ inclusive }) => inclusive !== '0'), ({ name }) => name),
        lines(ours, nameOf));
    });
  }

  it('writes our file anew, and we read the same', () => {
    const rewritten = sample('rewritten.pb.gz');
    pprof('-proto', `-output=${rewritten}`, sample('pprof.pb.gz'));
    assert.deepEqual(stacksOfOurs(rewritten, METRICS), stacksOfOurs(sample('pprof.pb.gz'), METRICS));
  });

  it('knows the threads of samples by their labels', () => {
    const file = sample('threads.pb.gz');
    const io = pprof('-top', '-nodefraction=0', '-tagfocus=thread=^io$', file);
    assert.match(io, /deflate/);
    assert.match(pprof('-tags', file), /process: Total[^]*app[^]*thread: Total[^]*io/);
    const rewritten = sample('rewritten_threads.pb.gz');
    pprof('-proto', `-output=${rewritten}`, file);
    assert.deepEqual(shown(rewritten, '--by', 'thread'), shown(file, '--by', 'thread'));
    assert.ok(shown(file, '--by', 'thread').some(({ function: name }) => name === '[thread app/io 8]'));
  });

  it('reads of a profile of runtime/pprof what we read', () => {
    const file = sample('go.pb.gz');
    const ours = stacksOfOurs(file, ['things']);
    assert.deepEqual(stacksOfPprof(file), ours);
    assert.deepEqual(ours.things, [
      'runtime.main;main.main;main.inner;runtime/pprof.(*Profile).Add 3',
      'runtime.main;main.main;main.outer;main.inner;runtime/pprof.(*Profile).Add 7',
    ]);
  });
});
