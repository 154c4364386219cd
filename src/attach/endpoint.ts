import fs from 'node:fs/promises';
import { Endpoint } from '../protocol/hello.js';
import { systemCode } from './errors.js';
import { endpointFiles } from './paths.js';

async function read(file: string): Promise<Endpoint | undefined> {
  let text: string;
  try {
    text = await fs.readFile(file, 'utf8');
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw error;
  }
  try {
    return Endpoint.safeParse(JSON.parse(text)).data;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/**
 * How the owner of a store is reached. Undefined when nobody has said so, or when what is written there cannot be
 * read: a service that starts replaces the file.
 */
export async function readEndpoint(storeDir: string): Promise<Endpoint | undefined> {
  const { inStore, besideSocket } = endpointFiles(storeDir);
  return (await read(inStore)) ?? (await read(besideSocket));
}
