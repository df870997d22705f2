// The part of @vscode/spdlog that VS Code 1.89 uses: a log is a file to which lines are appended.
'use strict';

const { appendFileSync, mkdirSync } = require('node:fs');
const { dirname } = require('node:path');

class Logger {
  constructor(file) {
    this.file = file;
    mkdirSync(dirname(file), { recursive: true });
    this.write();
  }

  write(...messages) {
    appendFileSync(this.file, messages.map((message) => `${message}\n`).join(''));
  }

  getLevel() {
    return 0;
  }

  setLevel() {}
  setPattern() {}
  clearFormatters() {}
  flush() {}
  drop() {}
}
for (const level of ['trace', 'debug', 'info', 'warn', 'error', 'critical']) {
  Logger.prototype[level] = Logger.prototype.write;
}

const create = (_name, file) => Promise.resolve(new Logger(file));
module.exports = {
  version: 0,
  Logger,
  createRotatingLogger: create,
  createAsyncRotatingLogger: create,
  setLevel() {},
  setFlushOn() {},
  shutdown() {},
};
