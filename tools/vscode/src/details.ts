// The command "open details": runs the server's own code action for the API at the cursor. The
// server responds with window/showDocument, which opens the drill-down page in the browser.

import * as vscode from 'vscode';
import { type CodeAction, type Command, ExecuteCommandRequest } from 'vscode-languageclient/node';

import type { Session } from './session';

const nothingHere = 'fieldcost knows no API at the cursor.';

type Action = Command | CodeAction;

/** The command of our server's action; undefined if there is none. */
export function detailsCommand(actions: readonly Action[] | null): Command | undefined {
  for (const action of actions ?? []) {
    const command = typeof action.command === 'string' ? (action as Command) : action.command;
    if (command?.command === 'fieldcost.openDetails') return command;
  }
  return undefined;
}

export async function openDetails(session: Session): Promise<void> {
  const client = session.running();
  const editor = vscode.window.activeTextEditor;
  if (client === undefined || editor === undefined) {
    void vscode.window.showInformationMessage(
      client === undefined ? 'The language server of fieldcost is not running.' : nothingHere,
    );
    return;
  }
  const actions = await client.sendRequest<Action[] | null>('textDocument/codeAction', {
    textDocument: client.code2ProtocolConverter.asTextDocumentIdentifier(editor.document),
    range: client.code2ProtocolConverter.asRange(editor.selection),
    context: { diagnostics: [] },
  });
  const command = detailsCommand(actions);
  if (command === undefined) {
    void vscode.window.showInformationMessage(nothingHere);
    return;
  }
  await client.sendRequest(ExecuteCommandRequest.method, {
    command: command.command,
    arguments: command.arguments ?? [],
  });
}
