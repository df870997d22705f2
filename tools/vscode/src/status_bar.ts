// The item in the status bar.

import * as vscode from 'vscode';

import { type ServerState, describeStatus } from './status';

const priority = 1;

export class StatusBar implements vscode.Disposable {
  private readonly item = vscode.window.createStatusBarItem(
    'fieldcost.status',
    vscode.StatusBarAlignment.Right,
    priority,
  );

  constructor() {
    this.item.name = 'fieldcost';
    this.item.command = 'fieldcost.showLog';
  }

  show(state: ServerState): void {
    if (!vscode.workspace.getConfiguration('fieldcost').get<boolean>('statusBar.enabled', true)) {
      this.item.hide();
      return;
    }
    const status = describeStatus(state, new Date());
    this.item.text = status.label;
    this.item.tooltip = status.tooltip;
    this.item.accessibilityInformation = { label: status.spoken };
    this.item.backgroundColor = status.attention
      ? new vscode.ThemeColor('statusBarItem.warningBackground')
      : undefined;
    this.item.show();
  }

  dispose(): void {
    this.item.dispose();
  }
}
