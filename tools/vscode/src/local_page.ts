// Shows a page that the server has written on its machine. The page is shown in a tab, because a
// browser may run on another machine. Nothing in it can run or be fetched.

import * as vscode from 'vscode';

const maxPageBytes = 16 * 1024 * 1024;

function titleOf(page: vscode.Uri): string {
  const [library, file] = page.path.split('/').slice(-2);
  return `${library ?? ''}!${(file ?? '').replace(/\.html$/, '')}`;
}

export async function showLocalPage(page: vscode.Uri): Promise<boolean> {
  const { size } = await vscode.workspace.fs.stat(page);
  if (size > maxPageBytes) throw new Error(`${page.fsPath} is too large`);
  const bytes = await vscode.workspace.fs.readFile(page);
  const panel = vscode.window.createWebviewPanel(
    'fieldcost.details',
    titleOf(page),
    vscode.ViewColumn.Beside,
    { enableScripts: false, enableCommandUris: false, localResourceRoots: [] },
  );
  panel.webview.html = new TextDecoder().decode(bytes);
  return true;
}
