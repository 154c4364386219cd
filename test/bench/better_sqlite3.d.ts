// The few parts that the bench uses; the package comes without types.
declare module 'better-sqlite3' {
  interface Statement {
    all(...params: (string | number)[]): unknown[];
    get(...params: (string | number)[]): unknown;
    run(...params: (string | number)[]): unknown;
  }
  class Database {
    constructor(file: string);
    pragma(text: string): unknown;
    exec(sql: string): this;
    prepare(sql: string): Statement;
    transaction<A extends unknown[], R>(act: (...args: A) => R): (...args: A) => R;
    close(): void;
  }
  export = Database;
}
