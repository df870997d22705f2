'use strict';

const vscode = require('vscode');

exports.activate = () => {
  vscode.languages.registerHoverProvider('c', {
    provideHover: () => new vscode.Hover('declared in sqlite3.h'),
  });
  vscode.languages.registerSignatureHelpProvider(
    'c',
    {
      provideSignatureHelp: () => {
        const help = new vscode.SignatureHelp();
        help.signatures = [
          new vscode.SignatureInformation('int sqlite3_step(sqlite3_stmt *)', 'Evaluates a statement.'),
        ];
        help.activeSignature = 0;
        help.activeParameter = 0;
        return help;
      },
    },
    '(',
  );
  vscode.languages.registerCompletionItemProvider('c', {
    provideCompletionItems: () => [
      new vscode.CompletionItem('sqlite3_prepare_v2', vscode.CompletionItemKind.Function),
    ],
  });
};
