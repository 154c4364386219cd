import { randomUUID } from 'node:crypto';
import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import * as vscode from 'vscode';
import { MAX_IMAGE_BYTES, type Attachment, type AttachResult } from '../../protocol/webview.js';
import { messageOf } from '../errors.js';
import { TRANSCRIPT_SCHEME } from '../ids.js';
import { imageType, type KeptFiles } from './kept_files.js';

const { l10n } = vscode;
/** Files that the search for a mention looks at, and shows. */
const LOOK_AT = 5_000;
const SHOWN = 20;

const link = (uri: vscode.Uri): Attachment => ({
  kind: 'link',
  id: randomUUID(),
  name: path.basename(uri.path),
  uri: uri.toString(),
});

/** Reads a whole transcript by the address of its text. */
type ReadTranscript = (uri: vscode.Uri) => Promise<string>;

/** A file or a session as an attachment: a picture and a transcript are kept, other files named by their address. */
async function attachOne(
  images: KeptFiles,
  uri: vscode.Uri,
  readTranscript: ReadTranscript,
): Promise<Attachment> {
  const name = path.basename(uri.path);
  if (uri.scheme === TRANSCRIPT_SCHEME) return images.keepText(name, await readTranscript(uri));
  if (uri.scheme !== 'file') throw new Error(l10n.t('“{0}” is not a file on this machine.', uri.toString()));
  // Looking at a network path would sign in to whatever machine it names.
  if (uri.authority !== '')
    throw new Error(l10n.t('Files on other machines are not opened: {0}', uri.fsPath));
  const stat = await fs.stat(uri.fsPath).catch(() => {
    throw new Error(l10n.t('{0} is not there any more.', uri.fsPath));
  });
  const mimeType = imageType(name);
  if (mimeType === undefined || !stat.isFile()) return link(uri);
  // One that is too large is not read: it is refused by its size.
  const data = stat.size > MAX_IMAGE_BYTES ? new Uint8Array(stat.size) : await fs.readFile(uri.fsPath);
  return images.keep(name, mimeType, data);
}

/** What became of each address: an attachment, or a sentence why not. */
export async function attachUris(
  images: KeptFiles,
  uris: readonly (vscode.Uri | string)[],
  readTranscript: ReadTranscript,
): Promise<AttachResult> {
  const result: AttachResult = { attachments: [], problems: [] };
  for (const one of uris) {
    try {
      const uri = typeof one === 'string' ? vscode.Uri.parse(one, true) : one;
      result.attachments.push(await attachOne(images, uri, readTranscript));
    } catch (error) {
      result.problems.push(messageOf(error));
    }
  }
  return result;
}

/** Asks for files; undefined when nothing was chosen. */
export async function pickFiles(
  images: KeptFiles,
  cwd: string | undefined,
  readTranscript: ReadTranscript,
): Promise<AttachResult | undefined> {
  const uris = await vscode.window.showOpenDialog({
    canSelectMany: true,
    openLabel: l10n.t('Attach'),
    title: l10n.t('Files and pictures that go along with the prompt'),
    ...(cwd === undefined || cwd === '' ? {} : { defaultUri: vscode.Uri.file(cwd) }),
  });
  return uris === undefined || uris.length === 0 ? undefined : attachUris(images, uris, readTranscript);
}

/** How well a path fits the letters: all of them in order; a hit in the name and a short path count more. */
function fit(file: string, query: string): number | undefined {
  const name = path.posix.basename(file).toLowerCase();
  const whole = file.toLowerCase();
  const wanted = query.toLowerCase();
  if (name.startsWith(wanted)) return whole.length;
  if (name.includes(wanted)) return 1_000 + whole.length;
  if (whole.includes(wanted)) return 2_000 + whole.length;
  let at = 0;
  for (const letter of whole) if (letter === wanted[at]) at += 1;
  return at === wanted.length ? 4_000 + whole.length : undefined;
}

/** Files of the session's folder, or of the workspace, whose path fits some letters; the best first. */
export async function findFiles(
  cwd: string | undefined,
  query: string,
): Promise<{ path: string; uri: string }[]> {
  const inside =
    cwd !== undefined && vscode.workspace.getWorkspaceFolder(vscode.Uri.file(cwd)) !== undefined
      ? new vscode.RelativePattern(cwd, '**/*')
      : '**/*';
  const uris = await vscode.workspace.findFiles(inside, undefined, LOOK_AT);
  const found = uris.flatMap((uri) => {
    const below = cwd === undefined ? undefined : path.relative(cwd, uri.fsPath);
    const shown =
      below === undefined || below.startsWith('..') ? vscode.workspace.asRelativePath(uri) : below;
    const file = shown.replaceAll('\\', '/');
    const rank = fit(file, query);
    return rank === undefined ? [] : [{ path: file, uri: uri.toString(), rank }];
  });
  return found
    .sort((a, b) => a.rank - b.rank || (a.path < b.path ? -1 : 1))
    .slice(0, SHOWN)
    .map(({ path: file, uri }) => ({ path: file, uri }));
}
