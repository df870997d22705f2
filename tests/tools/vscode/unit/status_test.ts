import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import {
  describeAge,
  describeStatus,
  oneLine,
  parseStatus,
  parseTime,
} from '../../../../tools/vscode/src/status';

const now = new Date('2026-03-10T12:00:00Z');
const answer = {
  catalog: true,
  text: 'catalogue of 5 hours ago',
  snapshotVersion: 7,
  published: '2026-03-10 07:00 UTC',
  lastSync: '2026-03-10 11:30 UTC',
  fragmentsTotal: 16,
  fragmentsCurrent: 4,
  synthetic: false,
  expired: false,
};

function shown(untrusted: unknown): ReturnType<typeof describeStatus> {
  return describeStatus({ state: 'running', catalog: parseStatus(untrusted) }, now);
}

void describe('status bar', () => {
  void it('tells how old the published costs are', () => {
    const status = shown(answer);
    assert.equal(status.label, '$(graph) fieldcost: 5 h');
    assert.equal(status.attention, false);
    assert.equal(
      status.tooltip,
      'Costs published 5 hours ago.\nLast sync 30 minutes ago.\n4 of 16 fragments current.',
    );
  });

  void it('calls for attention when the costs have expired', () => {
    assert.equal(shown({ ...answer, expired: false }).attention, false);
    const status = shown({ ...answer, expired: true });
    assert.equal(status.attention, true);
    assert.equal(status.label, '$(warning) fieldcost: 5 h');
    assert.match(status.tooltip, /5 hours ago: expired\. Run: fieldcost sync/);
  });

  void it('labels made-up data wherever it says something', () => {
    const status = shown({ ...answer, synthetic: true });
    assert.match(status.label, /SYNTHETIC/);
    assert.match(status.spoken, /SYNTHETIC/);
    assert.match(status.tooltip, /^SYNTHETIC: made-up data/);
    assert.match(shown({ ...answer, synthetic: true, published: 'never' }).label, /SYNTHETIC/);
  });

  void it('says what to do if there is no catalogue', () => {
    const status = shown({ catalog: false, problem: 'no catalogue at PROFILE/catalog.db' });
    assert.equal(status.spoken, 'fieldcost: no catalogue');
    assert.equal(status.tooltip, 'no catalogue at PROFILE/catalog.db\nRun: fieldcost sync');
    assert.equal(status.attention, true);
  });

  void it('tells a server that fails from one that starts', () => {
    assert.equal(describeStatus({ state: 'starting' }, now).attention, false);
    const failed = describeStatus({ state: 'failed', message: 'not found' }, now);
    assert.equal(failed.spoken, 'fieldcost: no server');
    assert.equal(failed.tooltip, 'not found');
    assert.equal(failed.attention, true);
  });

  void it('lets no text of the server draw an icon or a second line', () => {
    const status = shown({ catalog: false, problem: '$(flame)\u202e\u0007\nforged' });
    assert.equal(status.tooltip, '(flame) forged\nRun: fieldcost sync');
    assert.equal(oneLine('a'.repeat(10_000)).length, 500);
  });

  void it('survives any answer', () => {
    const hostile: unknown[] = [
      null, undefined, 1, 'ready', [], {}, { catalog: 'true' },
      { ...answer, published: '2026-99-99 07:00 UTC', fragmentsTotal: -1, fragmentsCurrent: 'x' },
      { ...answer, published: {}, lastSync: [], fragmentsTotal: 1e300, synthetic: 'yes' },
      { catalog: false, problem: 5 },
    ];
    for (const untrusted of hostile) assert.ok(shown(untrusted).label.includes('fieldcost'));
    assert.equal(parseStatus({ catalog: 'true' }), undefined);
  });
});

void describe('time', () => {
  void it('is read as the server writes it, and nothing else is', () => {
    assert.deepEqual(parseTime('2026-03-10 07:00 UTC'), new Date(Date.UTC(2026, 2, 10, 7)));
    for (const wrong of ['never', '2026-03-10', '2026-03-10 07:00', ' 2026-03-10 07:00 UTC', 0]) {
      assert.equal(parseTime(wrong), undefined);
    }
  });

  void it('is told in the units of the command line', () => {
    const ago = (minutes: number): string =>
      describeAge(new Date(now.getTime() - minutes * 60_000), now);
    assert.equal(ago(0), 'less than a minute');
    assert.equal(ago(-5), 'less than a minute');
    assert.equal(ago(1), '1 minute');
    assert.equal(ago(59), '59 minutes');
    assert.equal(ago(60), '1 hour');
    assert.equal(ago(48 * 60 - 1), '47 hours');
    assert.equal(ago(48 * 60), '2 days');
  });
});
