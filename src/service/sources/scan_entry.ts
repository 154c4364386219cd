// The program of a scan worker when the service runs from its sources, as in tests; the bundle's is main.ts.
import { runScanWorker } from './scan_worker.js';

runScanWorker();
