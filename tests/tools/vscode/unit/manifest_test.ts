import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import serverSettings from '../../../../tools/lsp/SETTINGS.md';
import readme from '../../../../tools/vscode/README.md';
import manifest from '../../../../tools/vscode/package.json';

interface Setting {
  readonly default?: unknown;
  readonly scope?: string;
  readonly markdownDescription?: string;
}

const settings = new Map<string, Setting>(
  manifest.contributes.configuration.flatMap((group) => Object.entries(group.properties)),
);

void describe('manifest', () => {
  void it('describes every setting and gives its default', () => {
    for (const [name, setting] of settings) {
      assert.ok((setting.markdownDescription ?? '').length > 10, name);
      assert.notEqual(setting.default, undefined, name);
    }
  });

  void it('has every setting of the server, with its default but for two', () => {
    // These depend on other extensions and on how VS Code requests completions: see the README.
    const ownDefaults = ['completion.besideOtherServers', 'completion.minPrefix'];
    const rows = [...serverSettings.matchAll(/^\| `([a-zA-Z.]+)` \| `([^`]+)` \|/gm)];
    assert.ok(rows.length > 10);
    for (const [, name = '', value = ''] of rows) {
      const setting = settings.get(`fieldcost.${name}`);
      assert.ok(setting, name);
      if (ownDefaults.includes(name)) continue;
      assert.deepEqual(setting.default, JSON.parse(value), name);
    }
  });

  void it('is in the README', () => {
    for (const name of settings.keys()) {
      const parts = name.split('.').slice(1);
      const inTable = readme.includes(`\`${parts.join('.')}\``);
      const inRowOfOthers = readme.includes(`\`.${parts.at(-1) ?? ''}\``);
      assert.ok(inTable || inRowOfOthers, name);
    }
  });

  void it('takes what is run from no folder', () => {
    const ofTheUser = ['fieldcost.server.path', 'fieldcost.server.arguments'];
    for (const name of ofTheUser) assert.equal(settings.get(name)?.scope, 'machine', name);
    const { untrustedWorkspaces } = manifest.capabilities;
    assert.equal(untrustedWorkspaces.supported, 'limited');
    for (const name of ofTheUser) {
      assert.ok(untrustedWorkspaces.restrictedConfigurations.includes(name), name);
    }
  });

  void it('offers the languages that it is activated for', () => {
    assert.deepEqual(
      settings.get('fieldcost.languages')?.default,
      manifest.activationEvents.map((event) => event.replace('onLanguage:', '')),
    );
  });

  void it('names each command of its menus', () => {
    const commands = manifest.contributes.commands.map(({ command }) => command);
    for (const item of manifest.contributes.menus['editor/context']) {
      assert.ok(commands.includes(item.command));
    }
  });
});
