import fs from 'node:fs';
import path from 'node:path';

const BYTES = 16 * 1024 * 1024;
/** So much must be free to take the room: what is kept may not be what fills the disk. */
const FREE_BYTES = 8 * BYTES;

/** Room that is kept for the day when the disk is full: freed, it lets deletes run. */
export class Ballast {
  private readonly file: string;

  constructor(folder: string) {
    this.file = path.join(folder, 'ballast');
  }

  /** Takes the room if it is not taken; a disk that is nearly full goes without. */
  fill(): void {
    if (fs.existsSync(this.file)) return;
    const disk = fs.statfsSync(path.dirname(this.file));
    if (disk.bavail * disk.bsize < FREE_BYTES) return;
    try {
      fs.writeFileSync(this.file, Buffer.alloc(BYTES, 1), { mode: 0o600 });
    } catch (error) {
      fs.rmSync(this.file, { force: true });
      if (!(
        error instanceof Error &&
        'code' in error &&
        (error.code === 'ENOSPC' || error.code === 'EDQUOT')
      ))
        throw error;
    }
  }

  /** True when there was something to free. */
  drop(): boolean {
    if (!fs.existsSync(this.file)) return false;
    fs.rmSync(this.file, { force: true });
    return true;
  }
}
