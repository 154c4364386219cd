import type { ClientAbilities } from '../sessions/client.js';

/** What a peer can do that announced nothing. */
export const NO_ABILITIES: ClientAbilities = {
  permission: false,
  form: false,
  url: false,
  readTextFile: false,
  writeTextFile: false,
  terminal: false,
  model: false,
};
