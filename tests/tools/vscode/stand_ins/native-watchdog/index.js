'use strict';

module.exports = {
  start() {},
  exit(status) {
    process.exit(status);
  },
};
