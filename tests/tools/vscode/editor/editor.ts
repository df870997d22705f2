// A real editor for tests: the server of VS Code, from the npm package code-server, and its page in
// headless Chromium. Everything is on loopback, and stop() ends all processes started here.

import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { type WriteStream, createWriteStream } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { type Browser, type Locator, type Page, chromium } from 'playwright-core';

const startTimeoutMs = 30_000;
const pageTimeoutMs = 15_000;
const installTimeoutMs = 30_000;

export interface EditorOptions {
  /** lib/vscode of the package code-server. */
  readonly code: string;
  readonly chromium: string;
  /** Extensions to install. */
  readonly vsix: readonly string[];
  /** Created and filled by the editor. */
  readonly directory: string;
  /** The user's settings. */
  readonly settings: Readonly<Record<string, unknown>>;
  readonly environment: Readonly<Record<string, string>>;
}

function serverArguments(directory: string): string[] {
  return ['out/server-main.js', '--server-data-dir', directory, '--telemetry-level', 'off'];
}

export class Editor {
  /** Hosts other than this machine that the page contacted. */
  readonly foreignHosts: string[] = [];

  private constructor(
    private readonly server: ChildProcess,
    private readonly browser: Browser,
    readonly page: Page,
    private readonly port: string,
    log: WriteStream,
  ) {
    page.setDefaultTimeout(pageTimeoutMs);
    page.on('console', (message) => log.write(`page: ${message.text()}\n`));
    page.on('request', (request) => {
      const url = new URL(request.url());
      const isForeign = /^(https?|wss?):$/.test(url.protocol) && url.hostname !== '127.0.0.1';
      if (isForeign) this.foreignHosts.push(url.hostname);
    });
  }

  static async start(options: EditorOptions): Promise<Editor> {
    const { code, directory } = options;
    await writeUserSettings(directory, options.settings);
    await promisify(execFile)(
      process.execPath,
      [
        ...serverArguments(directory),
        ...options.vsix.flatMap((vsix) => ['--install-extension', vsix]),
      ],
      { cwd: code, timeout: installTimeoutMs },
    );
    const server = spawn(
      process.execPath,
      [
        ...serverArguments(directory),
        '--host', '127.0.0.1',
        '--port', '0',
        '--without-connection-token',
        '--accept-server-license-terms',
      ],
      {
        cwd: code,
        // No extension gallery, so that the editor itself contacts no other machine.
        env: { ...process.env, EXTENSIONS_GALLERY: '{}', ...options.environment },
        stdio: ['ignore', 'pipe', 'pipe'],
        // A process group, because the server starts an extension host, and that the language
        // server.
        detached: true,
      },
    );
    try {
      const log = createWriteStream(join(directory, 'editor.log'));
      server.stdout.pipe(log, { end: false });
      server.stderr.pipe(log, { end: false });
      const port = await listeningPort(server);
      const browser = await chromium.launch({
        executablePath: options.chromium,
        args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking'],
      });
      const page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
      return new Editor(server, browser, page, port, log);
    } catch (error) {
      endGroup(server);
      throw error;
    }
  }

  /** Opens a folder and one of its files; answers whether the folder is trusted. */
  async open(folder: string, file: string, trusted: boolean): Promise<void> {
    const uri = `vscode-remote://127.0.0.1:${this.port}${join(folder, file)}`;
    const query = new URLSearchParams({ folder, payload: JSON.stringify([['openFile', uri]]) });
    await this.page.goto(`http://127.0.0.1:${this.port}/?${query.toString()}`);
    const answer = trusted ? 'Yes, I trust the authors' : "No, I don't trust the authors";
    await this.page.getByRole('button', { name: answer }).click();
    await this.lines().first().waitFor();
  }

  lines(): Locator {
    return this.page.locator('.editor-instance .view-line');
  }

  /** A piece of text as coloured by the editor: the whole word. */
  word(word: string): Locator {
    return this.lines().locator('span > span').filter({ hasText: word }).last();
  }

  statusBar(): Locator {
    return this.page.locator('.statusbar-item', { hasText: 'fieldcost' });
  }

  private quickInput(): Locator {
    return this.page.locator('.quick-input-widget input[type=text]');
  }

  async run(command: string): Promise<void> {
    await this.page.keyboard.press('F1');
    const input = this.quickInput();
    await input.waitFor();
    await input.fill(`>${command}`);
    await this.page.locator('.quick-input-list .monaco-list-row').first().waitFor();
    await this.page.keyboard.press('Enter');
  }

  async setCursor(line: number, column: number): Promise<void> {
    await this.lines().first().click();
    await this.page.keyboard.press('Control+g');
    const input = this.quickInput();
    await input.waitFor();
    await input.fill(`:${String(line)}:${String(column)}`);
    await this.page.keyboard.press('Enter');
    await input.waitFor({ state: 'hidden' });
  }

  async stop(): Promise<void> {
    await this.browser.close();
    const hasEnded = this.server.exitCode !== null;
    const ended = new Promise((resolve) => this.server.once('exit', resolve));
    endGroup(this.server);
    if (!hasEnded) await ended;
  }
}

/** Writes the user's settings; a running editor follows them. */
export async function writeUserSettings(
  directory: string,
  settings: Readonly<Record<string, unknown>>,
): Promise<void> {
  for (const kind of ['User', 'Machine']) {
    const folder = join(directory, 'data', kind);
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'settings.json'), JSON.stringify(settings));
  }
}

function endGroup(leader: ChildProcess): void {
  if (leader.pid === undefined) return;
  try {
    process.kill(-leader.pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

async function listeningPort(server: ChildProcess): Promise<string> {
  let output = '';
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      reject(new Error(`the editor's server does not listen: ${output}`));
    }, startTimeoutMs);
    const read = (data: Buffer): void => {
      output += data.toString();
      const port = /agent listening on (\d+)/.exec(output)?.[1];
      if (port === undefined) return;
      clearTimeout(timer);
      resolve(port);
    };
    server.stdout?.on('data', read);
    server.stderr?.on('data', read);
    server.once('exit', () => {
      clearTimeout(timer);
      reject(new Error(`the editor's server has ended: ${output}`));
    });
  });
}
