// Signature help: the cost of a call as documentation of its signature. The editor shows only the
// first provider's answer, and asks the provider that was registered last first. So where another
// server describes C and C++, its answer is requested and the cost added to it; nothing is hidden
// and nothing is shown twice.

import * as vscode from 'vscode';

import type { Session } from './session';
import { trustedLinks } from './settings';

const triggerCharacters = ['(', ','];

/** Plain text as Markdown. Unlike appendText(), it keeps its spaces, so that lines can wrap. */
function escaped(text: string): string {
  return text.replace(/[\\`*_{}[\]()#+\-!~<>|&]/g, '\\$&').replace(/\n/g, '\n\n');
}

/** Documentation that ends with the cost of the call. */
function documentWith(
  documentation: string | vscode.MarkdownString | undefined,
  cost: string | vscode.MarkdownString,
): vscode.MarkdownString {
  const text = new vscode.MarkdownString();
  text.isTrusted = trustedLinks;
  for (const part of [documentation, cost]) {
    const value = typeof part === 'string' ? part : part?.value;
    if (value === undefined || value === '') continue;
    if (text.value !== '') text.appendMarkdown('\n\n---\n\n');
    text.appendMarkdown(typeof part === 'string' ? escaped(part) : value);
  }
  return text;
}

export class Signatures implements vscode.SignatureHelpProvider, vscode.Disposable {
  private registration: vscode.Disposable | undefined;
  private readonly asking = new Set<string>();

  constructor(
    private readonly session: Session,
    private readonly languages: () => readonly string[],
  ) {}

  /** Makes this provider the first that the editor asks. */
  register(): void {
    this.dispose();
    this.registration = vscode.languages.registerSignatureHelpProvider(
      this.languages().map((language) => ({ language })),
      this,
      ...triggerCharacters,
    );
  }

  dispose(): void {
    this.registration?.dispose();
  }

  async provideSignatureHelp(
    document: vscode.TextDocument,
    position: vscode.Position,
    token: vscode.CancellationToken,
  ): Promise<vscode.SignatureHelp | undefined> {
    const place = `${document.uri.toString()}#${String(document.offsetAt(position))}`;
    if (this.asking.has(place)) return undefined; // our own request to the other providers
    const cost = await this.session.signatureAt(document, position, token);
    const described = cost?.signatures[0]?.documentation;
    if (cost === undefined || described === undefined) return undefined;
    this.asking.add(place);
    try {
      const others = await vscode.commands.executeCommand<vscode.SignatureHelp | undefined>(
        'vscode.executeSignatureHelpProvider',
        document.uri,
        position,
      );
      if (others === undefined || others.signatures.length === 0) return cost;
      for (const signature of others.signatures) {
        signature.documentation = documentWith(signature.documentation, described);
      }
      return others;
    } finally {
      this.asking.delete(place);
    }
  }
}
