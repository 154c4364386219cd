const folders = new Set(['.git', '.ssh', '.gnupg', '.aws', '.azure', '.kube', '.docker', '.password-store']);
const names = [
  /^\.env/u,
  /\.env$/u,
  /^[._]netrc$/u,
  /^\.(npmrc|yarnrc\.yml|pypirc|pgpass|my\.cnf|git-credentials|htpasswd|dockercfg|vault-token)$/u,
  /^id_(rsa|dsa|ecdsa|ed25519)/u,
  /^service[-_]?account.*\.json$/u,
  /\.(pem|key|p8|p12|pfx|jks|keystore|kdbx?|ppk|gpg|pgp|asc|der|tfstate|tfvars|ovpn)(\.backup)?$/u,
  /^(.*[-_.])?tokens?(\.txt)?$/u,
  // Data only: a source file may well be called secrets.ts.
  /^(.*[-_.])?(credentials?|secrets?|passwords?|passwd)(\.(json|ya?ml|toml|ini|cfg|conf|txt|xml|properties|csv|db))?$/u,
];

/**
 * Whether a file is likely to hold keys or passwords, judged by its path alone (forward slashes). Such files are never
 * searched, shown or sent, whether they are ignored or not.
 */
export function isSecret(path: string): boolean {
  const segments = path.toLowerCase().split('/');
  const name = segments.pop() ?? '';
  return segments.some((segment) => folders.has(segment)) || names.some((pattern) => pattern.test(name));
}
