// Entry point: one session with the language server, one item in the status bar, three commands.

import * as vscode from 'vscode';

import { openDetails } from './details';
import { Session } from './session';
import { StatusBar } from './status_bar';

let session: Session | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const log = vscode.window.createOutputChannel('fieldcost', { log: true });
  const statusBar = new StatusBar();
  const started = new Session(context, log, statusBar);
  session = started;
  context.subscriptions.push(
    log,
    statusBar,
    vscode.commands.registerCommand('fieldcost.showDetails', () => openDetails(started)),
    vscode.commands.registerCommand('fieldcost.restartServer', () => started.restart()),
    vscode.commands.registerCommand('fieldcost.showLog', () => {
      log.show();
    }),
    vscode.workspace.onDidChangeConfiguration((change) => started.settingsChanged(change)),
    vscode.extensions.onDidChange(() => started.sendSettings()),
    vscode.window.onDidChangeActiveTextEditor(() => started.refreshStatus()),
    vscode.window.onDidChangeWindowState(() => started.refreshStatus()),
  );
  await started.start();
}

export async function deactivate(): Promise<void> {
  await session?.stop();
}
