/** The service's log. `details` must not hold transcript text: logs are shared in bug reports. */
export interface Log {
  error(message: string, details?: unknown): void;
  warn(message: string, details?: unknown): void;
  info(message: string, details?: unknown): void;
  debug(message: string, details?: unknown): void;
}
