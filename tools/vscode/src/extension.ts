// Entry point: one session with the language server, one item in the status bar, signature help,
// three commands.

import * as vscode from 'vscode';

import { openDetails } from './details';
import { Session } from './session';
import { Signatures } from './signatures';
import { StatusBar } from './status_bar';

let session: Session | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const log = vscode.window.createOutputChannel('fieldcost', { log: true });
  const statusBar = new StatusBar();
  const started = new Session(context, log, statusBar);
  session = started;
  const signatures = new Signatures(started, () => started.languages());
  signatures.register();
  context.subscriptions.push(
    log,
    statusBar,
    signatures,
    vscode.commands.registerCommand('fieldcost.showDetails', () => openDetails(started)),
    vscode.commands.registerCommand('fieldcost.restartServer', () => started.restart()),
    vscode.commands.registerCommand('fieldcost.showLog', () => {
      log.show();
    }),
    vscode.workspace.onDidChangeConfiguration((change) => started.settingsChanged(change)),
    vscode.extensions.onDidChange(() => started.sendSettings()),
    vscode.window.onDidChangeTextEditorSelection(async ({ textEditor }) => {
      // Other servers start late, and may have registered since.
      if (await started.cursorMoved(textEditor)) signatures.register();
    }),
    vscode.window.onDidChangeActiveTextEditor(() => started.refreshStatus()),
    vscode.window.onDidChangeWindowState(() => started.refreshStatus()),
  );
  await started.start();
}

export async function deactivate(): Promise<void> {
  await session?.stop();
}
