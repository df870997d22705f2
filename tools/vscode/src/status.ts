// Parses the response to `fieldcost/status` (tools/lsp/SETTINGS.md) and formats it for the status
// bar. Pure functions, independent of editor and clock.

export const statusMethod = 'fieldcost/status';
/** The same content, sent by the server when `sync` has replaced the catalogue. */
export const statusChangedMethod = 'fieldcost/didChangeStatus';

/** The state of the local catalogue, as reported by the server. */
export interface Freshness {
  readonly published: Date | undefined;
  readonly lastSync: Date | undefined;
  readonly fragmentsTotal: number;
  readonly fragmentsCurrent: number;
  readonly synthetic: boolean;
  /** The snapshot has expired: `fieldcost sync` is due. */
  readonly expired: boolean;
}

export type CatalogStatus =
  | { readonly ready: true; readonly freshness: Freshness }
  | { readonly ready: false; readonly problem: string };

/** The state of the language server. */
export type ServerState =
  | { readonly state: 'starting' }
  | { readonly state: 'failed'; readonly message: string }
  | { readonly state: 'running'; readonly catalog: CatalogStatus | undefined };

export interface StatusText {
  /** Shown in the status bar; `$(name)` is an icon. */
  readonly label: string;
  readonly tooltip: string;
  /** For screen readers: the label without icons. */
  readonly spoken: string;
  readonly attention: boolean;
}

const maxMessageLength = 500;
const minuteMs = 60_000;

function isRecord(untrusted: unknown): untrusted is Record<string, unknown> {
  return typeof untrusted === 'object' && untrusted !== null;
}

function count(untrusted: unknown): number {
  return typeof untrusted === 'number' && Number.isSafeInteger(untrusted) && untrusted >= 0
    ? untrusted
    : 0;
}

/** Parses the server's format, "2026-11-20 12:00 UTC"; undefined for anything else ("never"). */
export function parseTime(untrusted: unknown): Date | undefined {
  if (typeof untrusted !== 'string') return undefined;
  const parts = /^(\d{4}-\d{2}-\d{2}) (\d{2}:\d{2}) UTC$/.exec(untrusted);
  if (!parts) return undefined;
  const time = new Date(`${parts[1] ?? ''}T${parts[2] ?? ''}:00Z`);
  return Number.isNaN(time.getTime()) ? undefined : time;
}

/** Undefined if it is not a response to the request. */
export function parseStatus(untrusted: unknown): CatalogStatus | undefined {
  if (!isRecord(untrusted)) return undefined;
  const { catalog, problem } = untrusted;
  if (catalog === false) {
    return { ready: false, problem: oneLine(typeof problem === 'string' ? problem : '') };
  }
  if (catalog !== true) return undefined;
  return {
    ready: true,
    freshness: {
      published: parseTime(untrusted['published']),
      lastSync: parseTime(untrusted['lastSync']),
      fragmentsTotal: count(untrusted['fragmentsTotal']),
      fragmentsCurrent: count(untrusted['fragmentsCurrent']),
      synthetic: untrusted['synthetic'] === true,
      expired: untrusted['expired'] === true,
    },
  };
}

/** One bounded line without control characters or icons. */
export function oneLine(untrusted: string): string {
  return untrusted
    .slice(0, maxMessageLength)
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
    .replace(/\$\(/g, '(')
    .trim();
}

/** "5 hours"; the units are those of `fieldcost top`. */
export function describeAge(time: Date, now: Date): string {
  const minutes = Math.floor((now.getTime() - time.getTime()) / minuteMs);
  const of = (number: number, unit: string): string =>
    `${String(number)} ${unit}${number === 1 ? '' : 's'}`;
  if (minutes < 1) return 'less than a minute';
  if (minutes < 60) return of(minutes, 'minute');
  if (minutes < 48 * 60) return of(Math.floor(minutes / 60), 'hour');
  return of(Math.floor(minutes / (24 * 60)), 'day');
}

function shortAge(time: Date, now: Date): string {
  const minutes = Math.max(0, Math.floor((now.getTime() - time.getTime()) / minuteMs));
  if (minutes < 60) return `${String(minutes)} min`;
  if (minutes < 48 * 60) return `${String(Math.floor(minutes / 60))} h`;
  return `${String(Math.floor(minutes / (24 * 60)))} d`;
}

function text(icon: string, words: string, tooltip: string, attention: boolean): StatusText {
  return { label: `$(${icon}) ${words}`, tooltip, spoken: words, attention };
}

function describeFreshness(freshness: Freshness, now: Date): StatusText {
  const { published, lastSync, fragmentsCurrent, fragmentsTotal } = freshness;
  const made = freshness.synthetic ? ' SYNTHETIC' : '';
  const lines = freshness.synthetic ? ['SYNTHETIC: made-up data.'] : [];
  if (published === undefined) {
    lines.push('The catalogue is empty. Run: fieldcost sync');
    return text('warning', `fieldcost${made}: empty`, lines.join('\n'), true);
  }
  const advice = freshness.expired ? ': expired. Run: fieldcost sync' : '.';
  lines.push(`Costs published ${describeAge(published, now)} ago${advice}`);
  lines.push(
    lastSync === undefined ? 'Never synced.' : `Last sync ${describeAge(lastSync, now)} ago.`,
  );
  lines.push(`${String(fragmentsCurrent)} of ${String(fragmentsTotal)} fragments current.`);
  const words = `fieldcost${made}: ${shortAge(published, now)}`;
  const icon = freshness.expired ? 'warning' : 'graph';
  return text(icon, words, lines.join('\n'), freshness.expired);
}

export function describeStatus(server: ServerState, now: Date): StatusText {
  if (server.state === 'starting') {
    return text('sync~spin', 'fieldcost', 'The language server is starting.', false);
  }
  if (server.state === 'failed') {
    return text('error', 'fieldcost: no server', server.message, true);
  }
  const catalog = server.catalog;
  if (catalog === undefined) {
    return text('graph', 'fieldcost', 'The server does not say how fresh its data is.', false);
  }
  if (catalog.ready) return describeFreshness(catalog.freshness, now);
  const advice = 'Run: fieldcost sync';
  const tooltip = [catalog.problem || 'There is no catalogue.', advice].join('\n');
  return text('warning', 'fieldcost: no catalogue', tooltip, true);
}
