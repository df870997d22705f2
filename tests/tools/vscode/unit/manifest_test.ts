import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

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
