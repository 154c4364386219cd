/** Characters of a tail. */
export const TAIL_CHARACTERS = 4000;
/** So many bytes surely hold a tail, colours and the like included. */
export const TAIL_BYTES = 32 * 1024;

const SEQUENCES =
  /\u001b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\u0007\u001b\u009c]*(?:\u0007|\u001b\\|\u009c|$)|[ -/]*[0-~])|\u009b[0-?]*[ -/]*[@-~]/g;
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;

/** What a terminal wrote as plain text: no control sequences, and of a line that was written over, what it became. */
export function plainOutput(text: string): string {
  return text
    .replace(SEQUENCES, '')
    .split('\n')
    .map((line) => line.replace(/\r+$/, ''))
    .map((line) => line.slice(line.lastIndexOf('\r') + 1))
    .join('\n')
    .replace(CONTROLS, '');
}

/** The end of an output as plain text, at most 4,000 characters. */
export function plainTail(text: string): string {
  const tail = plainOutput(text).slice(-TAIL_CHARACTERS);
  // A pair that was cut in two is no character.
  return /^[\udc00-\udfff]/.test(tail) ? tail.slice(1) : tail;
}
