// Reads databases with a native SQLite, not ours. usage: store_readback.cjs FILE...; one line of JSON for each.
let Sqlite;
try {
  Sqlite = require('better-sqlite3');
  new Sqlite(':memory:').close();
} catch (error) {
  console.error(`better-sqlite3 does not load: ${error.message}`);
  process.exit(3);
}
for (const file of process.argv.slice(2)) {
  let answer;
  try {
    const database = new Sqlite(file);
    const [{ integrity_check: check }] = database.pragma('integrity_check(1)');
    const ordinals = database.prepare('SELECT ordinal FROM entry ORDER BY ordinal').pluck().all();
    answer = { check, ordinals };
    database.close();
  } catch (error) {
    answer = { check: error.message, ordinals: [] };
  }
  console.log(JSON.stringify(answer));
}
