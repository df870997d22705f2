// The settings, and what of them goes to the server. Pure: no editor.

/** Extensions whose language servers complete C and C++. */
export const otherServers = ['llvm-vs-code-extensions.vscode-clangd', 'ms-vscode.cpptools'];

/** Settings of the extension itself; all others are the server's and go to it as they are. */
const ownSettings = new Set(['server', 'trace', 'languages', 'statusBar']);

// The editor's own object has methods beside the settings.
function isForwarded([name, value]: [string, unknown]): boolean {
  return !ownSettings.has(name) && typeof value !== 'function';
}

/**
 * The server's settings as a plain object. Whether names are offered beside another server's is, if
 * the user has not decided it, a matter of whether there is one.
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
 * A bare name, looked up in PATH, or an absolute path. A relative path would name another program
 * in each folder, and whoever writes a folder would choose what is run.
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

/** Languages of the setting that the extension knows, without doubles. */
export function chosenLanguages(untrustedSetting: unknown, known: readonly string[]): string[] {
  if (!Array.isArray(untrustedSetting)) return [];
  return known.filter((language) => untrustedSetting.includes(language));
}

/** Whether a page may be handed to the browser: of the web, and with no password in its name. */
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
