// Manages the language server: starts and stops it, sends it the settings, queries its status.

import { homedir } from 'node:os';
import { isAbsolute } from 'node:path';

import * as vscode from 'vscode';
import {
  type Executable,
  LanguageClient,
  type LanguageClientOptions,
  RevealOutputChannelOn,
  SignatureHelpRequest,
  State,
  type StaticFeature,
  TransportKind,
} from 'vscode-languageclient/node';

import { showLocalPage } from './local_page';
import {
  chosenLanguages,
  isLocalPage,
  isWebPage,
  otherServers,
  serverPath,
  serverSettings,
  trustedLinks,
} from './settings';
import { type ServerState, parseStatus, statusChangedMethod, statusMethod } from './status';
import type { StatusBar } from './status_bar';

const cursorMovedMethod = 'fieldcost/didMoveCursor';
const refreshIntervalMs = 60_000;
const stopTimeoutMs = 2_000;
const maxRestarts = 3;

function settings(): vscode.WorkspaceConfiguration {
  return vscode.workspace.getConfiguration('fieldcost');
}

/** Languages that activate the extension, according to its manifest. */
function knownLanguages(context: vscode.ExtensionContext): string[] {
  const manifest = context.extension.packageJSON as { activationEvents?: string[] };
  const prefix = 'onLanguage:';
  return (manifest.activationEvents ?? [])
    .filter((event) => event.startsWith(prefix))
    .map((event) => event.slice(prefix.length));
}

/** Announces to the server that this client understands status notifications and our links. */
const announceAbilities: StaticFeature = {
  fillClientCapabilities: (capabilities) => {
    capabilities.experimental = { fieldcostStatus: true, fieldcostCommandLinks: true };
  },
  initialize: () => undefined,
  getState: () => ({ kind: 'static' }),
  clear: () => undefined,
};

export class Session {
  private client: LanguageClient | undefined;
  private state: ServerState = { state: 'starting' };
  private timer: NodeJS.Timeout | undefined;
  private asking = false;
  private cursor = '';

  constructor(
    private readonly context: vscode.ExtensionContext,
    private readonly log: vscode.LogOutputChannel,
    private readonly statusBar: StatusBar,
  ) {}

  /** The client if its server is running. */
  running(): LanguageClient | undefined {
    return this.client?.state === State.Running ? this.client : undefined;
  }

  async start(): Promise<void> {
    this.show({ state: 'starting' });
    const path = serverPath(settings().get('server.path'), isAbsolute);
    if (!path.ok) {
      this.fail(path.message);
      return;
    }
    const client = this.makeClient(path.command);
    this.client = client;
    client.registerFeature(announceAbilities);
    client.onNotification(statusChangedMethod, (status: unknown) => {
      this.show({ state: 'running', catalog: parseStatus(status) });
    });
    client.onDidChangeState(({ newState }) => {
      if (this.client !== client) return;
      if (newState === State.Running) void this.refreshStatus();
      if (newState === State.Stopped) this.show({ state: 'failed', message: 'It has ended.' });
    });
    try {
      await client.start();
    } catch (error) {
      if (this.client !== client) return; // stopped meanwhile, and perhaps replaced
      this.client = undefined;
      const reason = error instanceof Error ? error.message : String(error);
      this.fail(`The language server ${path.command} could not be started: ${reason}`);
      return;
    }
    if (this.client !== client) return;
    this.timer = setInterval(() => {
      if (vscode.window.state.focused) void this.refreshStatus();
    }, refreshIntervalMs);
  }

  async stop(): Promise<void> {
    clearInterval(this.timer);
    const client = this.client;
    this.client = undefined;
    try {
      // Stopping a client that never started throws an error.
      await client?.dispose(stopTimeoutMs);
    } catch (error) {
      this.log.debug(String(error));
    }
  }

  async restart(): Promise<void> {
    await this.stop();
    await this.start();
  }

  async settingsChanged(change: vscode.ConfigurationChangeEvent): Promise<void> {
    if (!change.affectsConfiguration('fieldcost')) return;
    const needsRestart = ['fieldcost.server', 'fieldcost.languages'];
    if (needsRestart.some((section) => change.affectsConfiguration(section))) {
      await this.restart();
      return;
    }
    this.show(this.state);
    await this.sendSettings();
  }

  /** Sends the server its settings; also needed after another extension was added or removed. */
  async sendSettings(): Promise<void> {
    await this.running()?.sendNotification('workspace/didChangeConfiguration', {
      settings: { fieldcost: this.forwarded() },
    });
  }

  /** Requests the catalogue's status from the server, if one is running. */
  async refreshStatus(): Promise<void> {
    const client = this.running();
    if (client === undefined || this.asking) return;
    this.asking = true;
    try {
      const answer: unknown = await client.sendRequest(statusMethod, {});
      this.show({ state: 'running', catalog: parseStatus(answer) });
    } catch (error) {
      this.log.debug(`${statusMethod}: ${String(error)}`);
      if (this.running() === client) this.show({ state: 'running', catalog: undefined });
    } finally {
      this.asking = false;
    }
  }

  /** The server's description of the call around a position; undefined if it knows none. */
  async signatureAt(
    document: vscode.TextDocument,
    position: vscode.Position,
    token: vscode.CancellationToken,
  ): Promise<vscode.SignatureHelp | undefined> {
    const client = this.running();
    if (client === undefined) return undefined;
    const { code2ProtocolConverter: toServer, protocol2CodeConverter: fromServer } = client;
    const params = toServer.asTextDocumentPositionParams(document, position);
    try {
      const answer = await client.sendRequest(SignatureHelpRequest.type, params, token);
      return await fromServer.asSignatureHelp(answer, token);
    } catch (error) {
      this.log.debug(`${SignatureHelpRequest.method}: ${String(error)}`);
      return undefined;
    }
  }

  /** Reports the current line to the server, which hints at each call there. */
  async cursorMoved(editor: vscode.TextEditor): Promise<boolean> {
    const client = this.running();
    const { document, selection } = editor;
    const place = `${document.uri.toString()}#${String(selection.active.line)}`;
    if (client === undefined || place === this.cursor) return false;
    if (!this.languages().includes(document.languageId)) return false;
    this.cursor = place;
    await client.sendNotification(
      cursorMovedMethod,
      client.code2ProtocolConverter.asTextDocumentPositionParams(document, selection.active),
    );
    return true;
  }

  languages(): string[] {
    return chosenLanguages(settings().get('languages'), knownLanguages(this.context));
  }

  private makeClient(command: string): LanguageClient {
    const server: Executable = {
      command,
      args: settings().get<string[]>('server.arguments', []),
      transport: TransportKind.stdio,
      // Not the workspace, so that no file in it is found by mistake.
      options: { cwd: homedir() },
    };
    const options: LanguageClientOptions = {
      documentSelector: this.languages().map((language) => ({ language })),
      initializationOptions: this.forwarded(),
      outputChannel: this.log,
      revealOutputChannelOn: RevealOutputChannelOn.Never,
      connectionOptions: { maxRestartCount: maxRestarts },
      markdown: { isTrusted: trustedLinks, supportHtml: false },
      diagnosticCollectionName: 'fieldcost',
      middleware: {
        provideSignatureHelp: () => undefined, // see signatures.ts
        workspace: {
          // The server requests its settings at startup and when they have changed.
          configuration: ({ items }) =>
            items.map(({ section }) => (section === 'fieldcost' ? this.forwarded() : null)),
        },
        window: {
          showDocument: async (document) => {
            const success = document.external === true && (await this.openPage(document.uri));
            return { success };
          },
        },
      },
    };
    return new LanguageClient('fieldcost', 'fieldcost', server, options);
  }

  private async openPage(untrustedUri: string): Promise<boolean> {
    if (isWebPage(untrustedUri)) return vscode.env.openExternal(vscode.Uri.parse(untrustedUri));
    try {
      if (isLocalPage(untrustedUri)) return await showLocalPage(vscode.Uri.parse(untrustedUri));
      this.log.warn('the server named a page that is neither on the web nor local: not opened');
    } catch (error) {
      this.log.error(`the local page could not be shown: ${String(error)}`);
    }
    return false;
  }

  private forwarded(): Record<string, unknown> {
    const hasOther = otherServers.some((id) => vscode.extensions.getExtension(id) !== undefined);
    return serverSettings(settings(), hasOther);
  }

  private show(state: ServerState): void {
    this.state = state;
    this.statusBar.show(state);
  }

  private fail(message: string): void {
    this.show({ state: 'failed', message });
    this.log.error(message);
    const openSettings = 'Open settings';
    void vscode.window.showErrorMessage(message, openSettings).then((choice) => {
      if (choice !== openSettings) return;
      void vscode.commands.executeCommand('workbench.action.openSettings', 'fieldcost.server.path');
    });
  }
}
