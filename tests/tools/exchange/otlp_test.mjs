// Events of probe points as OTLP/JSON: OpenTelemetry's own messages (as sent by its exporters) hold all of it.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';

import { sample } from './ours.mjs';

const require = createRequire(import.meta.url);
const transformer = dirname(require.resolve('@opentelemetry/otlp-transformer/package.json'));
const { opentelemetry } = require(join(transformer, 'build/src/generated/root.js'));
const Request = opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;

// OTLP's JSON has ids in hexadecimal, protobuf's in base64; everything else is equal.
const inBase64 = (key, value) =>
  ['traceId', 'spanId', 'parentSpanId'].includes(key) ? Buffer.from(value, 'hex').toString('base64') : value;

// A message does not distinguish an empty list from a missing one.
const withoutEmpty = (key, value) => (Array.isArray(value) && value.length === 0 ? undefined : value);

describe("OpenTelemetry's messages", () => {
  const text = readFileSync(sample('probe.otlp.json'), 'utf8');
  const request = JSON.parse(text, inBase64);

  it('hold every field, and no other', () => {
    assert.equal(Request.verify(Request.fromObject(request)), null);
    const bytes = Request.encode(Request.fromObject(request)).finish();
    const back = Request.toObject(Request.decode(bytes), { longs: String, bytes: String, enums: Number });
    assert.deepEqual(back, JSON.parse(JSON.stringify(request, withoutEmpty)));
  });

  it('have ids of their length and steps that add up', () => {
    const spans = request.resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans));
    const lengths = new Map();
    for (const { traceId, spanId, attributes = [], name, ...span } of spans) {
      assert.equal(Buffer.from(traceId, 'base64').length, 16);
      assert.equal(Buffer.from(spanId, 'base64').length, 8);
      const length = BigInt(span.endTimeUnixNano) - BigInt(span.startTimeUnixNano);
      const isStep = attributes.some(({ key }) => key === 'thread.id');
      const [steps, whole] = lengths.get(traceId) ?? [0n, 0n];
      lengths.set(traceId, [steps + (isStep ? length : 0n), whole + (span.parentSpanId ? 0n : length)]);
    }
    assert.deepEqual([...lengths.values()].sort(), [[4000007n, 4000007n], [9000003n, 9000003n]]);
  });
});
