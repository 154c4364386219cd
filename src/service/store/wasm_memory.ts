/** The memory of a WebAssembly instance; views are made anew when it has grown. */
export class WasmMemory {
  private bytesView = new Uint8Array(0);
  private dataView = new DataView(new ArrayBuffer(0));

  constructor(private readonly memory: WebAssembly.Memory) {}

  get bytes(): Uint8Array {
    if (this.bytesView.buffer !== this.memory.buffer) this.bytesView = new Uint8Array(this.memory.buffer);
    return this.bytesView;
  }

  get data(): DataView {
    if (this.dataView.buffer !== this.memory.buffer) this.dataView = new DataView(this.memory.buffer);
    return this.dataView;
  }

  /** A zero-terminated UTF-8 string. */
  string(pointer: number): string {
    const end = this.bytes.indexOf(0, pointer);
    return Buffer.from(this.bytes.subarray(pointer, end < 0 ? undefined : end)).toString('utf8');
  }
}
