// mocha's spec report, with the counts written to SESSION_DECK_TEST_RESULTS, and an end to runs that do not end.
const fs = require('node:fs');
const mocha = require('mocha');

const { Spec } = (mocha.default ?? mocha).reporters;
const GRACE_MS = 15_000;

module.exports = class DeckReporter extends Spec {
  constructor(runner, options) {
    super(runner, options);
    runner.once('end', () => {
      const { passes, failures } = this.stats;
      const file = process.env.SESSION_DECK_TEST_RESULTS;
      if (file) fs.writeFileSync(file, JSON.stringify({ passes, failures }));
      // Fires only when something keeps the process alive.
      setTimeout(() => {
        const kept = [...new Set(process.getActiveResourcesInfo())].join(', ');
        console.error(`The tests are over but left something open: ${kept}`);
        process.exit(1);
      }, GRACE_MS).unref();
    });
  }
};
