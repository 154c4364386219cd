export function runScanWorker(): void {}
