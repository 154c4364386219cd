import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import * as z from 'zod';

const Manifest = z.object({
  contributes: z.object({ commands: z.array(z.object({ command: z.string() })) }),
});

describe('the extension', () => {
  it('is there and activates', async () => {
    const extension = vscode.extensions.getExtension('session-deck.session-deck');
    assert.ok(extension, 'the extension is not loaded');
    await extension.activate();
    assert.equal(extension.isActive, true);
  });

  it('registers every command that it contributes', async () => {
    const extension = vscode.extensions.getExtension('session-deck.session-deck');
    await extension?.activate();
    const manifest = Manifest.parse(extension?.packageJSON);
    const contributed = manifest.contributes.commands.map(({ command }) => command);
    const known = new Set(await vscode.commands.getCommands(true));
    assert.ok(contributed.length > 0);
    assert.deepEqual(
      contributed.filter((command) => !known.has(command)),
      [],
    );
  });
});
