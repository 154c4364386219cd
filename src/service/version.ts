import { version } from '../../package.json';

/** Version of this service, semver. */
export const VERSION: string = version;
