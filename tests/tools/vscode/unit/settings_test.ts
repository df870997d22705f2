import assert from 'node:assert/strict';
import { isAbsolute } from 'node:path';
import { describe, it } from 'node:test';

import {
  chosenLanguages,
  isLocalPage,
  isWebPage,
  serverPath,
  serverSettings,
} from '../../../../tools/vscode/src/settings';

void describe('settings', () => {
  void it('go to the server, except those of the extension itself', () => {
    const section = {
      hover: { enabled: false },
      inlayHints: { calls: { minMicroseconds: 5 } },
      server: { path: '/bin/secret' },
      trace: { server: 'off' },
      languages: ['c'],
      statusBar: { enabled: true },
      get: () => undefined,
      has: () => false,
    };
    assert.deepEqual(serverSettings(section, false), {
      hover: { enabled: false },
      inlayHints: { calls: { minMicroseconds: 5 } },
      completion: { besideOtherServers: false },
    });
  });

  void it('offer no name twice where another server completes, unless the user decides', () => {
    const beside = (decided: boolean | null, installed: boolean): unknown =>
      serverSettings({ completion: { maxItems: 9, besideOtherServers: decided } }, installed)[
        'completion'
      ];
    assert.deepEqual(beside(null, true), { maxItems: 9, besideOtherServers: true });
    assert.deepEqual(beside(null, false), { maxItems: 9, besideOtherServers: false });
    assert.deepEqual(beside(false, true), { maxItems: 9, besideOtherServers: false });
    assert.deepEqual(beside(true, false), { maxItems: 9, besideOtherServers: true });
  });

  void it('name the server by name or absolute path only', () => {
    const command = (setting: unknown): string | undefined => {
      const path = serverPath(setting, isAbsolute);
      return path.ok ? path.command : undefined;
    };
    assert.equal(command('fieldcost-lsp'), 'fieldcost-lsp');
    assert.equal(command(' /opt/a b/fieldcost-lsp '), '/opt/a b/fieldcost-lsp');
    for (const wrong of ['', '  ', './fieldcost-lsp', 'bin/x', '..\\x', '~/x', 5, null, ['x']]) {
      assert.equal(command(wrong), undefined);
    }
  });

  void it('choose among the known languages', () => {
    assert.deepEqual(chosenLanguages(['cpp', 'c', 'cpp', 'cobol', 1], ['c', 'cpp', 'python']), [
      'c', 'cpp',
    ]);
    assert.deepEqual(chosenLanguages('c', ['c']), []);
  });
});

void describe('drill-down page', () => {
  void it('is of the web', () => {
    assert.ok(isWebPage('https://costs.example/api/libz.so.1%21deflate'));
    assert.ok(isWebPage('http://localhost:8080/api/x'));
  });

  void it('is no file, no program and no password', () => {
    const wrong = [
      'file:///etc/passwd', 'javascript:alert(1)', 'vscode://x/y', 'command:workbench.action.quit',
      'data:text/html,x', 'https://user:secret@costs.example/', 'costs.example', '',
    ];
    for (const page of wrong) assert.equal(isWebPage(page), false, page);
  });

  void it('may be an HTML file of the server, which is never given to another program', () => {
    assert.ok(isLocalPage('file:///home/a%20b/.cache/fieldcost/pages/libz.so.1/deflate.html'));
    const wrong = [
      'file:///etc/passwd', 'file://other/a.html', 'file:///a.html?b', 'file:///a.html#b',
      'https://costs.example/a.html', 'javascript:a.html', 'vscode-remote://h/a.html', '',
    ];
    for (const page of wrong) assert.equal(isLocalPage(page), false, page);
  });
});
