// The program of a scan worker when the service runs from its sources, as in tests; the bundle's is main.ts.
// A worker thread does not inherit tsx from its parent.
require('tsx/cjs/api').register();
require('./scan_worker.ts').runScanWorker();
