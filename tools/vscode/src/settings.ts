// Interprets the settings and selects those for the server. Pure functions, independent of the
// editor.

/** Extensions whose language servers complete C and C++. */
export const otherServers = ['llvm-vs-code-extensions.vscode-clangd', 'ms-vscode.cpptools'];

/** Settings of the extension itself; all others are passed to the server unchanged. */
const ownSettings = new Set(['server', 'trace', 'languages', 'statusBar']);

// The editor's object also has methods.
function isForwarded([name, value]: [string, unknown]): boolean {
  return !ownSettings.has(name) && typeof value !== 'function';
}

/**
 * The server's settings as a plain object. Unless the user has set `besideOtherServers`, it is
 * whether another server is installed.
 */
export function serverSettings(
  section: Readonly<Record<string, unknown>>,
  otherServerInstalled: boolean,
): Record<string, unknown> {
  const settings = Object.fromEntries(Object.entries(section).filter(isForwarded));
  const completion = (settings['completion'] ?? {}) as Record<string, unknown>;
  const besideOtherServers = completion['besideOtherServers'] ?? otherServerInstalled;
  return { ...settings, completion: { ...completion, besideOtherServers } };
}

export type ServerPath =
  | { readonly ok: true; readonly command: string }
  | { readonly ok: false; readonly message: string };

/**
 * Accepts a bare name, looked up in PATH, or an absolute path. A relative path would depend on the
 * folder, so the author of a folder could choose which program is run.
 */
export function serverPath(
  untrustedSetting: unknown,
  isAbsolute: (path: string) => boolean,
): ServerPath {
  if (typeof untrustedSetting !== 'string' || untrustedSetting.trim() === '') {
    return { ok: false, message: 'fieldcost.server.path is empty' };
  }
  const command = untrustedSetting.trim();
  if (isAbsolute(command) || !/[/\\]/.test(command)) return { ok: true, command };
  return { ok: false, message: 'fieldcost.server.path must be a name or an absolute path' };
}

/** The known languages that the setting contains, without duplicates. */
export function chosenLanguages(untrustedSetting: unknown, known: readonly string[]): string[] {
  if (!Array.isArray(untrustedSetting)) return [];
  return known.filter((language) => untrustedSetting.includes(language));
}

/** Whether the browser may open a page: an http(s) URL without user name and password. */
export function isWebPage(untrustedUri: string): boolean {
  let page: URL;
  try {
    page = new URL(untrustedUri);
  } catch {
    return false;
  }
  const isWeb = page.protocol === 'https:' || page.protocol === 'http:';
  return isWeb && page.username === '' && page.password === '';
}

/** The only command that a link in the server's texts may run: it opens the details of an API. */
export const trustedLinks = { enabledCommands: ['fieldcost.openDetails'] };

/** Whether the page is an HTML file on the machine where the server runs. */
export function isLocalPage(untrustedUri: string): boolean {
  let page: URL;
  try {
    page = new URL(untrustedUri);
  } catch {
    return false;
  }
  const isPlain = page.host === '' && page.search === '' && page.hash === '';
  return page.protocol === 'file:' && isPlain && page.pathname.endsWith('.html');
}
