// The key sequences of The Update Framework (tests/common/catalog/data/key_sequences.toml describes them).

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';

import { newTrustState, openPublication } from '../../../tools/reader/index.mjs';
import { NOW_US, Service, keyOf } from './encode_metadata.mjs';
import { encodeFragment } from './encode_fragment.mjs';
import { SIMPLE_ROWS } from './sample_rows.mjs';

const SEQUENCES = new URL('../../common/catalog/data/key_sequences.toml', import.meta.url);
const KEYS = Array.from({ length: 10 }, (_, i) => keyOf(100 + i));

function parseStep(text) {
  const step = { keys: [], signed: [], forged: [], need: 1, outcome: 'accepted' };
  for (const word of text.split(' ')) {
    const [name, value] = word.split('=');
    if (value === undefined) step[name === 'expired' ? 'expired' : 'outcome'] = name;
    else step[name] = ['keys', 'signed', 'forged'].includes(name) ? value.split(',').map(Number) : Number(value);
  }
  return step;
}

function sequences(kind) {
  return readFileSync(SEQUENCES, 'utf8').split(/^\[\[/m).slice(1).filter((text) => text.startsWith(kind))
    .map((text) => ({
      name: JSON.parse(/^name = (.*)$/m.exec(text)[1]),
      steps: [.../^steps = \[([^\]]*)\]/ms.exec(text)[1].matchAll(/"([^"]*)"/g)].map((match) => parseStep(match[1])),
    }));
}

const keys = (numbers) => numbers.map((number) => KEYS[number]);
const publicKeys = (numbers) => keys(numbers).map((key) => key.publicKey);

function publishRootStep(service, step, place) {
  service.publishRoot({
    at: place,
    keys: keys(step.signed),
    forgers: keys(step.forged),
    change: {
      version: step.version ?? place,
      rootKeys: publicKeys(step.keys),
      threshold: step.need,
      ...step.expired && { expiresUs: NOW_US - 1n },
    },
  });
}

function publishOnlineStep(service, role, step, place) {
  service.root.version = BigInt(place);
  service.root[`${role}Keys`] = publicKeys(step.keys);
  service.publishRoot();
  service.publish([[encodeFragment(SIMPLE_ROWS), SIMPLE_ROWS.length]]);
  const options = { keys: keys(step.signed), forgers: keys(step.forged) };
  if (role === 'timestamp') {
    service.signTimestamp(options);
  } else {
    service.signSnapshot(options);
    service.signTimestamp();
  }
}

// A client that follows each step, and one that comes at the end.
async function expectOutcomes(service, steps, publish, newestOf) {
  const followed = newTrustState();
  for (const [i, step] of steps.entries()) {
    publish(step, i + 1);
    service.pinned ??= service.files.get('/v1/root/1');
    for (const state of i === steps.length - 1 ? [followed, newTrustState()] : [followed]) {
      const opened = openPublication({ source: service.source, root: service.pinned, now: NOW_US, state });
      if (step.outcome === 'accepted') await opened;
      else await assert.rejects(opened, { code: 'unauthenticated' });
      const newest = Math.max(...Object.keys(state.roots).map(Number));
      assert.equal(newest, newestOf(step, i + 1), `step ${i + 1}`);
    }
  }
}

for (const { name, steps } of sequences('root')) {
  it(`root: ${name}`, async () => {
    const service = new Service();
    service.publish([[encodeFragment(SIMPLE_ROWS), SIMPLE_ROWS.length]]);
    service.files.delete('/v1/root/1');
    service.pinned = undefined;
    await expectOutcomes(service, steps, (step, place) => publishRootStep(service, step, place),
      (step, place) => (step.outcome === 'refused' ? place - 1 : place));
  });
}

for (const role of ['timestamp', 'snapshot']) {
  describe(role, () => {
    for (const { name, steps } of sequences('online')) {
      it(name, async () => {
        const service = new Service();
        service.files.delete('/v1/root/1');
        service.pinned = undefined;
        await expectOutcomes(service, steps, (step, place) => publishOnlineStep(service, role, step, place),
          (_, place) => place);
      });
    }
  });
}
