// The packed extension in a real editor, with the real server and a synthetic catalogue.

import assert from 'node:assert/strict';
import { access, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';

import type { Locator } from 'playwright-core';

import { Editor, writeUserSettings } from './editor';

function given(name: string): string {
  const value = process.env[name];
  if (value === undefined || value === '') throw new Error(`${name} is not set; use run.sh`);
  return value;
}

const work = given('FIELDCOST_TEST_WORK');
const strangers = join(work, 'strangers');
const trusted = join(work, 'trusted');
const directory = join(work, 'editor');
const ranByFolder = join(work, 'ran-by-folder');

const userSettings = {
  'fieldcost.server.path': given('FIELDCOST_TEST_SERVER'),
  'fieldcost.drillDown.url': 'https://costs.example/api/{api}',
  'workbench.startupEditor': 'none',
  'editor.wordBasedSuggestions': 'off',
  'editor.minimap.enabled': false,
  'telemetry.telemetryLevel': 'off',
};

const maxAttempts = 5;
const attemptTimeoutMs = 4_000;

const source = `#include <sqlite3.h>

int Copy(sqlite3* from) {
  sqlite3_stmt* statement = 0;
  sqlite3_exec(from, "BEGIN", 0, 0, 0);
  sqlite3_step(statement);
  return 0;
}
`;

/** Creates a folder whose settings name a program as the server. */
async function makeFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const program = join(folder, 'server');
  await writeFile(program, `#!/bin/sh\n: > '${ranByFolder}'\n`, { mode: 0o755 });
  await writeFile(join(folder, 'copy.c'), source);
  await writeSettings(folder, {});
}

async function writeSettings(folder: string, settings: Record<string, unknown>): Promise<void> {
  const program = join(folder, 'server');
  const always = { 'fieldcost.server.path': program, 'fieldcost.server.arguments': ['-x'] };
  await mkdir(join(folder, '.vscode'), { recursive: true });
  await writeFile(
    join(folder, '.vscode', 'settings.json'),
    JSON.stringify({ ...always, ...settings }),
  );
}

async function completionRows(editor: Editor): Promise<Locator> {
  await editor.setCursor(7, 1);
  await editor.page.keyboard.type('  sqlite3_prep');
  const rows = editor.page.locator('.suggest-widget .monaco-list-row', {
    hasText: 'sqlite3_prepare_v2',
  });
  await rows.first().waitFor();
  return rows;
}

/**
 * Opens the details of the completion with that text. While the list is redrawn, which the page does
 * not show, the key has another effect; so it is pressed until the details appear.
 */
async function showDetails(editor: Editor, item: string, text: RegExp): Promise<void> {
  const chosen = editor.page.locator('.suggest-widget .monaco-list-row.focused');
  const details = editor.page.locator('.suggest-details', { hasText: text });
  for (let attempt = 1; attempt <= maxAttempts; ++attempt) {
    await chosen.waitFor();
    const isChosen = (await chosen.innerText()).includes(item);
    if (!isChosen) await editor.page.keyboard.press('ArrowDown');
    await editor.page.keyboard.press('Control+Space');
    try {
      await details.waitFor({ timeout: attemptTimeoutMs });
      return;
    } catch (error) {
      if (attempt === maxAttempts) throw error;
    }
  }
}

void describe('the packed extension in an editor', { timeout: 150_000 }, () => {
  let editor: Editor;

  before(async () => {
    await makeFolder(strangers);
    await makeFolder(trusted);
    await writeSettings(strangers, { 'fieldcost.completion.besideOtherServers': false });
    editor = await Editor.start({
      code: given('FIELDCOST_TEST_CODE'),
      chromium: given('FIELDCOST_TEST_CHROMIUM'),
      vsix: [given('FIELDCOST_TEST_VSIX'), given('FIELDCOST_TEST_OTHER_VSIX')],
      directory,
      settings: userSettings,
      environment: { FIELDCOST_HOME: join(work, 'profile') },
    });
    await editor.open(strangers, 'copy.c', false);
  });

  after(async () => {
    if (process.env['FIELDCOST_TEST_PICTURE'] !== undefined) {
      await editor.page.screenshot({ path: process.env['FIELDCOST_TEST_PICTURE'] });
    }
    await editor.stop();
  });

  void it('tells in the status bar how fresh the catalogue is, and that it is made up', async () => {
    const item = editor.statusBar().filter({ hasText: /SYNTHETIC: \d+ min/ });
    await item.waitFor();
    await item.hover();
    await editor.page.getByText(/Costs published .* ago/).first().waitFor();
  });

  void it('shows the cost where the pointer rests on a name, beside another server', async () => {
    await editor.word('sqlite3_step').hover();
    const hover = editor.page.locator('.monaco-hover:visible', { hasText: 'libsqlite3.so.0' });
    await hover.waitFor();
    const shown = await hover.innerText();
    assert.match(shown, /1\.\d\sµs/);
    assert.match(shown, /synthetic/i);
    assert.match(shown, /declared in sqlite3\.h/);
  });

  void it('hints in the text at expensive calls only', async () => {
    const dear = editor.lines().filter({ hasText: 'sqlite3_exec' });
    await dear.filter({ hasText: /\d\sms/ }).waitFor();
    const cheap = await editor.lines().filter({ hasText: 'sqlite3_step' }).innerText();
    assert.doesNotMatch(cheap, /µs/);
  });

  void it('hints at each call on the line of the cursor', async () => {
    await editor.setCursor(6, 3);
    const line = editor.lines().filter({ hasText: 'sqlite3_step' });
    await line.filter({ hasText: /1\.\d\sµs/ }).waitFor();
    await editor.setCursor(5, 3);
    await line.filter({ hasNotText: /µs/ }).waitFor();
  });

  void it("adds the cost to another server's description of a signature", async () => {
    await editor.setCursor(6, 16);
    await editor.run('Trigger Parameter Hints');
    const help = editor.page.locator('.parameter-hints-widget', { hasText: /1\.\d\sµs/ });
    await help.waitFor();
    const shown = await help.innerText();
    assert.match(shown, /int sqlite3_step\(sqlite3_stmt \*\)/);
    assert.match(shown, /Evaluates a statement\./);
    assert.doesNotMatch(shown, /sqlite3_step\(…\)/);
    await editor.page.keyboard.press('Escape');
  });

  void it('shows the cost beside a completed name, and details on demand', async () => {
    const rows = await completionRows(editor);
    const row = rows.filter({ hasText: 'libsqlite3.so.0' });
    await row.waitFor();
    assert.equal(await rows.count(), 2);
    assert.match(await row.innerText(), /\d+\sµs/);
    await showDetails(editor, 'libsqlite3.so.0', /p99/i);
    await editor.page.keyboard.press('Escape');
    await editor.page.keyboard.press('Escape');
  });

  void it('offers the page with the details, which opens only when the user says so', async () => {
    await editor.setCursor(6, 8);
    await editor.run('fieldcost: Open Details');
    const question = editor.page.locator('.monaco-dialog-box', { hasText: 'costs.example' });
    await question.waitFor();
    assert.match(await question.innerText(), /libsqlite3\.so\.0.*sqlite3_step/);
    await question.getByRole('button', { name: 'Cancel' }).click();
    await question.waitFor({ state: 'hidden' });
  });

  void it('opens a local page from the hover, without a server', async () => {
    await writeUserSettings(directory, { ...userSettings, 'fieldcost.drillDown.url': '' });
    await editor.word('sqlite3_step').hover();
    const link = editor.page.locator('.monaco-hover:visible a', { hasText: 'Details' });
    await link.click();
    await editor.page.locator('.tab', { hasText: 'libsqlite3.so.0!sqlite3_step' }).waitFor();
    await editor.page.keyboard.press('Control+w');
    await writeUserSettings(directory, userSettings);
  });

  void it('follows a changed setting at once', async () => {
    const line = editor.lines().filter({ hasText: 'sqlite3_exec' });
    await line.filter({ hasText: /\d\sms/ }).waitFor();
    await writeSettings(strangers, { 'fieldcost.inlayHints.enabled': false });
    await line.filter({ hasNotText: /\d\sms/ }).waitFor();
  });

  void it('lists no name twice where another server completes', async () => {
    await editor.open(trusted, 'copy.c', true);
    await editor.statusBar().filter({ hasText: /SYNTHETIC/ }).waitFor();
    const rows = await completionRows(editor);
    assert.equal(await rows.count(), 1);
  });

  void it('says that there is no server, and goes on when there is one again', async () => {
    const wrong = { ...userSettings, 'fieldcost.server.path': join(work, 'nothing') };
    await writeUserSettings(directory, wrong);
    await editor.statusBar().filter({ hasText: 'no server' }).waitFor();
    await editor.page.getByText(/could not be started/).first().waitFor();
    await writeUserSettings(directory, userSettings);
    await editor.statusBar().filter({ hasText: /SYNTHETIC/ }).waitFor();
  });

  void it('runs no program that a folder names, trusted or not', async () => {
    await assert.rejects(access(ranByFolder), { code: 'ENOENT' });
  });

  void it('asks no other machine for anything', () => {
    assert.deepEqual(editor.foreignHosts, []);
  });
});
