import fs from 'node:fs/promises';
import { Endpoint } from '../protocol/hello.js';
import { systemCode } from './errors.js';
import { endpointFile } from './paths.js';

/**
 * How the owner of a store is reached. Undefined when nobody has said so, or when what is written there cannot be
 * read: a service that starts replaces the file.
 */
export async function readEndpoint(storeDir: string): Promise<Endpoint | undefined> {
  let text: string;
  try {
    text = await fs.readFile(endpointFile(storeDir), 'utf8');
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
