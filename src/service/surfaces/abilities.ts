import type { ClientCapabilities } from '@agentclientprotocol/sdk';
import type { ClientAbilities } from '../sessions/client.js';
import type { AcpClientFeatures } from './acp_replay.js';

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

/** What an ACP client that announced this can be asked. Permissions are part of the baseline. */
export function abilitiesOf(announced: ClientCapabilities | undefined): ClientAbilities {
  return {
    ...NO_ABILITIES,
    permission: true,
    form: Boolean(announced?.elicitation?.form),
    url: Boolean(announced?.elicitation?.url),
    readTextFile: announced?.fs?.readTextFile === true,
    writeTextFile: announced?.fs?.writeTextFile === true,
    terminal: announced?.terminal === true,
  };
}

/** Kinds of updates and options that such a client takes beyond the baseline. */
export function featuresOf(announced: ClientCapabilities | undefined): AcpClientFeatures {
  const session = announced?.session;
  return {
    compaction: Boolean(session?.compaction),
    notices: Boolean(session?.notices),
    booleanOptions: Boolean(session?.configOptions?.boolean),
  };
}
